// Jackknife estimates, as in metrics/estimate.py: leave out one source of examples at a time. The method is deterministic,
// so the page and the package give the same intervals.
import { studentQuantile } from "./distributions.js";

export const NEGLIGIBLE = 1e-12;
export const ENOUGH_SOURCES = 20;

/** @param {number} a @param {number} b */
const quotient = (a, b) => (b > 0 ? a / b : 0);
/** @type {Record<string, (sums: ArrayLike<number> & Iterable<number>, n: number) => number>} */
export const SCORE_OF_SUMS = {
  mean: ([score], n) => quotient(score, n),
  ratio: ([correct, total]) => quotient(correct, total),
  precision: ([correct, predicted]) => quotient(correct, predicted),
  recall: ([correct, , gold]) => quotient(correct, gold),
  f1: ([correct, predicted, gold]) => quotient(2 * correct, predicted + gold),
};
// The weight of sums in a score, 0 if they cannot change it: a sentence without entities says nothing about F1.
/** @type {Record<string, (sums: ArrayLike<number> & Iterable<number>, n: number) => number>} */
export const WEIGHT_OF_SUMS = {
  mean: (_, n) => n,
  ratio: ([, total]) => total,
  precision: ([, predicted]) => predicted,
  recall: ([, , gold]) => gold,
  f1: ([, predicted, gold]) => predicted + gold,
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
  const [score, weight] = [SCORE_OF_SUMS[value], WEIGHT_OF_SUMS[value]];
  const totals = Array.from({ length: buckets }, () => new Float64Array(width));
  const bySource = Array.from({ length: buckets }, () => new Float64Array(width * sources));
  const counts = Array.from({ length: buckets }, () => new Float64Array(sources));
  const sizes = new Float64Array(buckets);
  const weighted = new Float64Array(buckets);
  const one = new Float64Array(width);
  for (let row = 0; row < bucketOf.length; row++) {
    const [bucket, source] = [bucketOf[row], sourceOf[row]];
    sizes[bucket] += 1;
    counts[bucket][source] += 1;
    for (let at = 0; at < width; at++) {
      one[at] = columns[at][row];
      totals[bucket][at] += one[at];
      bySource[bucket][source * width + at] += one[at];
    }
    if (weight(one, 1) > 0) weighted[bucket] += 1;
  }
  return totals.map((total, bucket) => {
    const without = new Float64Array(sources);
    const left = new Float64Array(width);
    /** @param {number} source */
    const isPresent = (source) =>
      weight(bySource[bucket].subarray(source * width, (source + 1) * width), counts[bucket][source]) > 0;
    let [count, sum] = [0, 0];
    for (let source = 0; source < sources; source++) {
      if (!isPresent(source)) continue;
      for (let at = 0; at < width; at++) left[at] = total[at] - bySource[bucket][source * width + at];
      without[source] = score(left, sizes[bucket] - counts[bucket][source]);
      sum += without[source];
      count += 1;
    }
    const errors = new Float64Array(sources);
    const present = Uint8Array.from({ length: sources }, (_, source) => Number(isPresent(source)));
    if (count > 1)
      for (let source = 0; source < sources; source++)
        if (present[source]) errors[source] = (sum / count - without[source]) * Math.sqrt((count - 1) / count);
    return { ...estimateOf(score(total, sizes[bucket]), weighted[bucket], errors, count), present };
  });
}

/** @param {Float64Array} numbers */
export const squares = (numbers) => numbers.reduce((sum, number) => sum + number * number, 0);

// `n` is the number of rows with a weight.
/** @param {number} value @param {number} n @param {Float64Array} errors @param {number} count */
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
