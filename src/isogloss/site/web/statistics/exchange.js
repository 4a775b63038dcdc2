// Differences of two systems on the same examples, tested by exchanging their answers, as in metrics/exchange.py.
import { ALPHA, NORMAL_QUANTILE } from "./distributions.js";
import { ENOUGH_SOURCES, NEGLIGIBLE, SCORE_OF_SUMS, squares, WEIGHT_OF_SUMS } from "./estimates.js";
import { signTest } from "./sign_test.js";

// As in metrics/exchange.py.
const DESIGN_EFFECT = 2;

// The difference in each bucket, first minus second; `bucketOf` and `sourceOf` hold the bucket and source of each row.
/**
 * @param {Metric} first
 * @param {Metric} second
 * @param {ArrayLike<number>} bucketOf
 * @param {number} buckets
 * @param {ArrayLike<number>} sourceOf
 * @param {number} sources
 */
export function exchangedBuckets(first, second, bucketOf, buckets, sourceOf, sources) {
  /** @type {number[][]} */
  const rows = Array.from({ length: buckets }, () => []);
  for (let row = 0; row < bucketOf.length; row++) rows[bucketOf[row]].push(row);
  return rows.map((inside) => exchanged(first, second, inside, sourceOf, sources));
}

/**
 * @param {Metric} first
 * @param {Metric} second
 * @param {number[]} rows
 * @param {ArrayLike<number>} sourceOf
 * @param {number} sources
 * @returns {Exchange}
 */
function exchanged(first, second, rows, sourceOf, sources) {
  const [score, weight] = [SCORE_OF_SUMS[first.value], WEIGHT_OF_SUMS[first.value]];
  const width = first.columns.length;
  const sums = [first, second].map(({ columns }) =>
    columns.map((column) => rows.reduce((sum, row) => sum + column[row], 0)),
  );
  const middle = sums[0].map((sum, at) => (sum + sums[1][at]) / 2);
  // The change of the difference when some rows are swapped.
  /** @param {ArrayLike<number>} moves */
  const swapped = (moves) =>
    score(
      middle.map((sum, at) => sum + moves[at]),
      rows.length,
    ) -
    score(
      middle.map((sum, at) => sum - moves[at]),
      rows.length,
    );
  const moves = new Float64Array(width * sources);
  const weights = new Float64Array(sources);
  const byRow = Float64Array.from(rows, (row) => {
    const own = first.columns.map((column, at) => (column[row] - second.columns[at][row]) / 2);
    own.forEach((move, at) => (moves[sourceOf[row] * width + at] += move));
    return swapped(own);
  });
  let weighted = 0;
  for (const row of rows) {
    const mean = first.columns.map((column, at) => (column[row] + second.columns[at][row]) / 2);
    const own = weight(mean, 1);
    weights[sourceOf[row]] += own;
    if (own) weighted += 1;
  }
  const all = weights.reduce((sum, one) => sum + one, 0);
  const values = Float64Array.from({ length: sources }, (_, source) =>
    swapped(moves.subarray(source * width, (source + 1) * width)),
  );
  const count = weights.reduce((sum, one) => sum + Number(one !== 0), 0);
  const value = score(sums[0], rows.length) - score(sums[1], rows.length);
  const p = signTest(values);
  const shares = all > 0 ? weights.map((one) => one / all) : weights;
  const spread = squares(values.map((one, at) => one - value * shares[at]));
  const interval =
    count < ENOUGH_SOURCES
      ? null
      : shiftsThatFit(value, values, shares, furtherVariance(values, byRow, spread, count, weighted), p);
  return { value, p, count, interval };
}

// The variance of two further examples, one in favour of each system, as large as the observed differences; with these
// at least that of two further examples of DESIGN_EFFECT answers that differ by 1.
/** @param {Float64Array} bySource @param {Float64Array} byRow @param {number} spread @param {number} sources @param {number} rows */
function furtherVariance(bySource, byRow, spread, sources, rows) {
  const [together, alone] = [squares(bySource), squares(byRow)];
  const least = Math.max(0, 2 / (Math.max(sources, rows / DESIGN_EFFECT) + 2) ** 2 - spread);
  if (alone < NEGLIGIBLE ** 2) return least;
  const independent =
    together > NEGLIGIBLE ** 2 ? Math.max(sources, rows * Math.min(1, alone / together)) : Math.max(rows, sources);
  const differing = byRow.reduce((sum, one) => sum + Number(one !== 0), 0);
  return Math.max(least, (2 * Math.min(1, (rows ** 2 * alone) / differing)) / (independent + 2) ** 2);
}

// The 95 % interval: all shifts for which the contributions, less their share of it, look like random signs.
/** @param {number} value @param {Float64Array} values @param {Float64Array} weights @param {number} further @param {number} p @returns {Interval | null} */
function shiftsThatFit(value, values, weights, further, p) {
  if (squares(values.map((one, at) => one - value * weights[at])) + further < NEGLIGIBLE ** 2) return null;
  const square = NORMAL_QUANTILE ** 2;
  const a = 1 - square * squares(weights);
  const b = value - square * values.reduce((sum, one, at) => sum + one * weights[at], 0);
  const c = value ** 2 - square * (squares(values) + further);
  const margin = Math.sqrt(Math.max(0, b * b - a * c));
  let [low, high] = a <= 0 ? [-1, 1] : [Math.max(-1, (b - margin) / a), Math.min(1, (b + margin) / a)];
  [low, high] = [Math.min(low, value), Math.max(high, value)];
  // If the exact test disagrees about 0, it decides.
  const holdsZero = low <= 0 && high >= 0;
  if (p < ALPHA && holdsZero) return value > 0 ? [NEGLIGIBLE, high] : [low, -NEGLIGIBLE];
  return p >= ALPHA && !holdsZero ? [Math.min(low, 0), Math.max(high, 0)] : [low, high];
}
