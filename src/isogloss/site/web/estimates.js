// Jackknife estimates, as in metrics/estimate.py: leave out one source of examples at a time. The method is deterministic,
// so the page and the package give the same intervals.
const NEGLIGIBLE = 1e-12;
const ENOUGH_SOURCES = 20;
const LEVEL = 0.95;
const NORMAL_QUANTILE = 1.959963984540054;

/** @param {number} a @param {number} b */
const quotient = (a, b) => (b > 0 ? a / b : 0);
/** @type {Record<string, (sums: ArrayLike<number> & Iterable<number>, n: number) => number>} */
const SCORE_OF_SUMS = {
  mean: ([score], n) => quotient(score, n),
  ratio: ([correct, total]) => quotient(correct, total),
  precision: ([correct, predicted]) => quotient(correct, predicted),
  recall: ([correct, , gold]) => quotient(correct, gold),
  f1: ([correct, predicted, gold]) => quotient(2 * correct, predicted + gold),
};

// The score of each example, 0 to 1; an example without gold or predicted items counts as correct.
/** @param {Metric} options @param {Uint8Array | Uint32Array} rows @param {number} count */
export function exampleScores({ value, columns }, rows, count) {
  const sums = columns.map(() => new Float64Array(count));
  const sizes = new Float64Array(count);
  rows.forEach((example, row) => {
    sizes[example] += 1;
    columns.forEach((column, at) => {
      sums[at][example] += column[row];
    });
  });
  return Float64Array.from(sizes, (size, example) => {
    const own = sums.map((sum) => sum[example]);
    const empty = value === "f1" ? own[1] + own[2] === 0 : size === 0;
    return empty ? 1 : SCORE_OF_SUMS[value](own, size);
  });
}

// Estimate the score of each bucket; `bucketOf` and `sourceOf` hold the bucket and source of each row.
/**
 * @param {Metric} options
 * @param {ArrayLike<number>} bucketOf
 * @param {number} buckets
 * @param {ArrayLike<number>} sourceOf
 * @param {number} sources
 */
export function bucketEstimates({ value, columns }, bucketOf, buckets, sourceOf, sources) {
  const width = columns.length;
  const score = SCORE_OF_SUMS[value];
  const totals = Array.from({ length: buckets }, () => new Float64Array(width));
  const bySource = Array.from({ length: buckets }, () => new Float64Array(width * sources));
  const counts = Array.from({ length: buckets }, () => new Float64Array(sources));
  const sizes = new Float64Array(buckets);
  for (let row = 0; row < bucketOf.length; row++) {
    const [bucket, source] = [bucketOf[row], sourceOf[row]];
    sizes[bucket] += 1;
    counts[bucket][source] += 1;
    for (let at = 0; at < width; at++) {
      totals[bucket][at] += columns[at][row];
      bySource[bucket][source * width + at] += columns[at][row];
    }
  }
  return totals.map((total, bucket) => {
    const without = new Float64Array(sources);
    const left = new Float64Array(width);
    let [count, sum] = [0, 0];
    for (let source = 0; source < sources; source++) {
      if (!counts[bucket][source]) continue;
      for (let at = 0; at < width; at++) left[at] = total[at] - bySource[bucket][source * width + at];
      without[source] = score(left, sizes[bucket] - counts[bucket][source]);
      sum += without[source];
      count += 1;
    }
    const errors = new Float64Array(sources);
    if (count > 1)
      for (let source = 0; source < sources; source++)
        if (counts[bucket][source]) errors[source] = (sum / count - without[source]) * Math.sqrt((count - 1) / count);
    return estimateOf(score(total, sizes[bucket]), sizes[bucket], errors, count);
  });
}

/** @param {Float64Array} numbers */
const squares = (numbers) => numbers.reduce((sum, number) => sum + number * number, 0);

/** @param {number} value @param {number} n @param {Float64Array} errors @param {number} count @returns {Estimate} */
function estimateOf(value, n, errors, count) {
  const variance = squares(errors);
  const middle = (value * count + 1) / (count + 2);
  const independent =
    variance < NEGLIGIBLE ** 2
      ? count
      : Math.min(Math.max(count, (middle * (1 - middle)) / variance), Math.max(n, count));
  return {
    value,
    n,
    errors,
    count,
    variance,
    centre: (value * independent + 1) / (independent + 2),
    unseen: count > 1 ? 1 / ((count + 2) * (independent + 2)) : 1,
  };
}

// Wilson interval with Student's quantile and the effective sample size; null for too few sources.
/** @param {Estimate} options @returns {Interval | null} */
export function scoreInterval({ value, centre, unseen, variance, count }) {
  if (count < ENOUGH_SOURCES) return null;
  const spread = value * (1 - value);
  const effective =
    variance < NEGLIGIBLE ** 2 || spread < NEGLIGIBLE ? count : spread / (variance + unseen * centre * (1 - centre));
  const share = Math.min(1, Math.max(0, value));
  const square = studentQuantile(count - 1) ** 2;
  const middle = share + square / (2 * effective);
  const margin = Math.sqrt(square * ((share * (1 - share)) / effective + square / (4 * effective * effective)));
  const scale = 1 + square / effective;
  return [
    Math.max(0, Math.min(share, (middle - margin) / scale)),
    Math.min(1, Math.max(share, (middle + margin) / scale)),
  ];
}

// The difference between two systems on the same examples; its interval is null for too few sources.
/** @param {Estimate} a @param {Estimate} b @returns {{ value: number, interval: Interval | null }} */
export function pairedDifference(a, b) {
  const variance = squares(a.errors.map((error, source) => error - b.errors[source]));
  const value = a.value - b.value;
  const error = Math.sqrt(variance + Math.max(a.unseen, b.unseen));
  if (a.count < ENOUGH_SOURCES || error < NEGLIGIBLE) return { value, interval: null };
  const margin = studentQuantile(a.count - 1) * error;
  const centre = a.centre - b.centre;
  return {
    value,
    interval: [Math.min(value, Math.max(-1, centre - margin)), Math.max(value, Math.min(1, centre + margin))],
  };
}

/** @type {Map<number, number>} */
const quantiles = new Map();

// The 97.5 % quantile of Student's t, by Newton's method from the normal quantile.
/** @param {number} freedom @returns {number} */
function studentQuantile(freedom) {
  if (!quantiles.has(freedom)) {
    let [t, step] = [NORMAL_QUANTILE, 1];
    const peak = logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - Math.log(freedom * Math.PI) / 2;
    while (step > 1e-11 * (1 + t)) {
      const density = Math.exp(peak - ((freedom + 1) / 2) * Math.log1p((t * t) / freedom));
      step = (betaShare(freedom / (freedom + t * t), freedom / 2, 0.5) / 2 - (1 - LEVEL) / 2) / density;
      t += step;
    }
    quantiles.set(freedom, t);
  }
  return quantiles.get(freedom) ?? NORMAL_QUANTILE;
}

// The regularised incomplete beta function: continued fraction DLMF 8.17.22 by Lentz's method.
/** @param {number} x @param {number} a @param {number} b @returns {number} */
function betaShare(x, a, b) {
  if (x <= 0 || x >= 1) return x >= 1 ? 1 : 0;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  let [value, inverse, ratio] = [1, 1, Infinity];
  for (let step = 1; step < 400; step++) {
    const half = Math.floor(step / 2);
    const weight = step % 2 ? -(a + half) * (a + b + half) : half * (b - half);
    const term = (weight * x) / ((a + step - 1) * (a + step));
    inverse = 1 / (1 + term * inverse);
    ratio = 1 + term / ratio;
    value *= ratio * inverse;
    if (Math.abs(ratio * inverse - 1) < 1e-15) break;
  }
  return (Math.exp(front) * value) / a;
}

// Stirling's series, after shifting small arguments up.
/** @param {number} x */
function logGamma(x) {
  let [at, product] = [x, 1];
  while (at < 12) {
    product *= at;
    at += 1;
  }
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / at;
  return (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series - Math.log(product);
}
