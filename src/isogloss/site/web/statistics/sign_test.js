// The sign test, as in metrics/significance.py: P(|sum of ± values| >= |sum of values|) over all choices of signs.
import { logGamma, normalTail } from "./distributions.js";
import { NEGLIGIBLE } from "./estimates.js";

const SMALLEST_P = 1e-300;
// Up to this many values, enumerate all signed sums (of each half).
const ENUMERATED = 28;
// Up to this sum, count whole numbers exactly; up to this many values, round them to whole numbers with that sum.
const COUNTED = 20_000;
const ROUNDED = 300;
const BISECTIONS = 200;

/** @param {ArrayLike<number>} values @param {(value: number) => number} [of] */
function total(values, of = (value) => value) {
  // Neumaier's compensated sum, so that the order does not matter.
  let [sum, lost] = [0, 0];
  for (let at = 0; at < values.length; at++) {
    const value = of(values[at]);
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
  }
  return sum + lost;
}

/** @param {ArrayLike<number>} values @returns {number} */
export function signTest(values) {
  const largest = Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest < SMALLEST_P) return 1;
  const shares = Array.from(values)
    .filter((value) => Math.abs(value) > NEGLIGIBLE * largest)
    .map((value) => value / largest);
  const observed = Math.abs(total(shares));
  if (observed < NEGLIGIBLE) return 1;
  let whole = wholeNumbers(shares);
  if (!whole && shares.length > ENUMERATED && shares.length <= ROUNDED) {
    const scale = Math.floor(COUNTED / shares.length);
    whole = shares.map((value) => roundedHalfEven(value * scale));
  }
  const sizes = shares.map(Math.abs).sort((a, b) => a - b);
  const p = whole
    ? countedTail(
        whole.filter((value) => value !== 0).map(Math.abs),
        Math.abs(total(whole)),
      )
    : sizes.length <= ENUMERATED
      ? enumeratedTail(sizes, observed)
      : 2 * saddlepointTail(sizes, observed);
  return Math.min(1, Math.max(p, SMALLEST_P));
}

/** @param {number} value */
function roundedHalfEven(value) {
  const nearest = Math.round(value);
  return Math.abs(value % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}

// The values as multiples of a common measure, or null if there is none or it is too small.
/** @param {number[]} values @returns {number[] | null} */
function wholeNumbers(values) {
  const smallest = values.reduce((least, value) => Math.min(least, Math.abs(value)), Infinity);
  for (let divisor = 1; divisor < 7; divisor++) {
    const multiples = values.map((value) => value * (divisor / smallest));
    const whole = multiples.map(roundedHalfEven);
    if (total(whole, Math.abs) > COUNTED) return null;
    if (multiples.every((multiple, at) => Math.abs(multiple - whole[at]) < 1e-6)) return whole;
  }
  return null;
}

// P(|sum| >= observed) for whole numbers by convolving the distributions of equal sizes.
/** @param {number[]} sizes @param {number} observed */
function countedTail(sizes, observed) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const size of sizes) counts.set(size, (counts.get(size) ?? 0) + 1);
  let shares = Float64Array.of(1);
  for (const [size, count] of [...counts].sort(([a], [b]) => a - b)) {
    const longer = new Float64Array(shares.length + size * count);
    for (let plus = 0; plus <= count; plus++) {
      const ways = logGamma(count + 1) - logGamma(plus + 1) - logGamma(count - plus + 1);
      const share = Math.exp(ways - count * Math.LN2);
      for (let at = 0; at < shares.length; at++) longer[size * plus + at] += share * shares[at];
    }
    shares = longer;
  }
  const all = total(sizes);
  return shares.reduce((sum, share, at) => (Math.abs(2 * at - all) >= observed ? sum + share : sum), 0);
}

// P(|sum| >= observed) over all choices of signs, combining the sums of both halves.
/** @param {number[]} sizes @param {number} observed */
function enumeratedTail(sizes, observed) {
  const one = signedSums(sizes.filter((_, at) => at % 2 === 0));
  const other = signedSums(sizes.filter((_, at) => at % 2 === 1)).sort();
  const beyond = one.reduce((sum, value) => sum + other.length - firstFrom(other, observed - value - 1e-9), 0);
  return (2 * beyond) / (one.length * other.length);
}

/** @param {number[]} sizes @returns {Float64Array} */
const signedSums = (sizes) =>
  sizes.reduce(
    (sums, size) => Float64Array.of(...sums.map((sum) => sum - size), ...sums.map((sum) => sum + size)),
    Float64Array.of(0),
  );

// The first place of a value not below `least` in ascending values.
/** @param {Float64Array} values @param {number} least */
function firstFrom(values, least) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

// P(sum >= observed) by Lugannani and Rice (1980); the cumulant generating function is sum log cosh.
/** @param {number[]} sizes @param {number} observed */
function saddlepointTail(sizes, observed) {
  if (observed >= total(sizes) * (1 - 1e-9)) return 0.5 ** sizes.length;
  const point = saddlepoint(sizes, observed);
  const generating = total(sizes, (size) => point * size + Math.log1p(Math.exp(-2 * point * size)) - Math.LN2);
  const curvature = total(sizes, (size) => size * size * (1 - Math.tanh(point * size) ** 2));
  const signedRoot = Math.sqrt(Math.max(2 * (point * observed - generating), 0));
  const scaledPoint = point * Math.sqrt(curvature);
  if (signedRoot < 1e-3) return normalTail(observed / Math.sqrt(total(sizes, (size) => size * size)));
  const density = Math.exp(-(signedRoot ** 2) / 2) / Math.sqrt(2 * Math.PI);
  return normalTail(signedRoot) + density * (1 / scaledPoint - 1 / signedRoot);
}

// Solve sum of size * tanh(point * size) = observed.
/** @param {number[]} sizes @param {number} observed */
function saddlepoint(sizes, observed) {
  /** @param {number} point */
  const tilted = (point) => total(sizes, (size) => size * Math.tanh(point * size));
  let [low, high] = [0, 1];
  while (tilted(high) < observed && high < 1e9) [low, high] = [high, 2 * high];
  for (let step = 0; step < BISECTIONS && high - low >= 1e-13 * high; step++) {
    const middle = (low + high) / 2;
    if (tilted(middle) < observed) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
