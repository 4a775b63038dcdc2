// Claims about the buckets of an attribute - a trend, a difference, the best and the worst - as in explain/claims.py, and
// their false discovery rates, as in metrics/discovery.py.
import { studentTail } from "./distributions.js";
import { ENOUGH_SOURCES, squares } from "./estimates.js";
import { holm } from "./ordering.js";

// Number of ordered buckets from which a trend is more than a difference.
const TREND_BUCKETS = 3;

// A sum of estimates times factors, source by source, with the p-value of no difference from zero.
/** @param {Estimate[]} estimates @param {number[]} factors */
export function weightedSum(estimates, factors) {
  const used = estimates.map((part, at) => ({ part, factor: factors[at] })).filter(({ factor }) => factor !== 0);
  const sources = used.length ? used[0].part.errors.length : 0;
  const errors = new Float64Array(sources);
  let count = 0;
  for (let source = 0; source < sources; source++) {
    for (const { part, factor } of used) errors[source] += factor * part.errors[source];
    if (used.some(({ part }) => part.present[source])) count += 1;
  }
  /** @param {(part: Estimate, factor: number) => number} of */
  const total = (of) => used.reduce((sum, { part, factor }) => sum + of(part, factor), 0);
  const error = Math.sqrt(squares(errors) + total((part, factor) => factor ** 2 * part.unseen));
  const centre = total((part, factor) => factor * part.centre);
  return {
    value: total((part, factor) => factor * part.value),
    p: error ? Math.min(1, 2 * studentTail(Math.abs(centre) / error, Math.max(1, count - 1))) : 1,
  };
}

// The p-values of every two scores, corrected over all pairs; 1 on the diagonal.
/** @param {Estimate[]} estimates */
function pairTests(estimates) {
  const pairs = estimates.flatMap((_, one) => estimates.slice(one + 1).map((other) => [one, estimates.indexOf(other)]));
  const tests = holm(pairs.map(([one, other]) => weightedSum([estimates[one], estimates[other]], [1, -1]).p));
  const table = estimates.map(() => estimates.map(() => 1));
  pairs.forEach(([one, other], at) => {
    table[one][other] = table[other][one] = tests[at];
  });
  return table;
}

// The slope of the scores on the numbers of ordered buckets, weighted by size; null for too few buckets.
/** @param {Estimate[]} estimates @param {number[]} ordered positions of the buckets in their order, -1 for others */
function slope(estimates, ordered) {
  const among = ordered.flatMap((position, at) =>
    position >= 0 && estimates[at].count >= ENOUGH_SOURCES ? [{ position, estimate: estimates[at] }] : [],
  );
  if (among.length < TREND_BUCKETS) return null;
  const total = among.reduce((sum, { estimate }) => sum + estimate.n, 0);
  const mean = among.reduce((sum, { position, estimate }) => sum + position * estimate.n, 0) / total;
  const spread = among.reduce((sum, { position, estimate }) => sum + estimate.n * (position - mean) ** 2, 0);
  return weightedSum(
    among.map(({ estimate }) => estimate),
    among.map(({ position, estimate }) => (estimate.n * (position - mean)) / spread),
  );
}

// The claims about an attribute, corrected within it; none for fewer than two buckets with an interval. A trend gets half
// of the error probability.
/** @param {Estimate[]} estimates @param {number[]} ordered @param {boolean} lower @returns {BucketClaim[]} */
export function bucketClaims(estimates, ordered, lower) {
  const tested = estimates.map((_, at) => at).filter((at) => estimates[at].count >= ENOUGH_SOURCES);
  if (tested.length < 2) return [];
  const line = slope(estimates, ordered);
  const own = tested.map((at) => estimates[at]);
  const table = pairTests(own).map((row) => row.map((p) => (line ? Math.min(1, 2 * p) : p)));
  let pair = [0, 1];
  table.forEach((row, one) =>
    row.forEach((p, other) => {
      if (other > one && p < table[pair[0]][pair[1]]) pair = [one, other];
    }),
  );
  const [low, high] = [...pair].sort((a, b) => own[a].value - own[b].value);
  const goodness = own.map(({ value }) => (lower ? -value : value));
  /** @param {"best" | "worst"} kind @param {number} end @returns {BucketClaim} */
  const named = (kind, end) => {
    const p = Math.max(...table[end].filter((_, at) => at !== end));
    const rivals = tested.filter((_, at) => at !== end && table[end][at] >= Math.min(0.05, p));
    return { kind, p, points: 0, buckets: [tested[end], ...rivals] };
  };
  return [
    ...(line
      ? [{ kind: "trend", p: Math.min(1, 2 * line.p), points: 100 * line.value, buckets: /** @type {number[]} */ ([]) }]
      : []),
    {
      kind: "spread",
      p: table[pair[0]][pair[1]],
      points: 100 * (own[high].value - own[low].value),
      buckets: [tested[high], tested[low]],
    },
    named("best", goodness.indexOf(Math.max(...goodness))),
    named("worst", goodness.indexOf(Math.min(...goodness))),
  ];
}

// The q of every p-value of some families: below 5 %, the expected share of families with a false statement among those
// with any statement is below 5 % (Benjamini and Bogomolov 2014).
/** @param {number[][]} families @returns {number[][]} */
export function familyRates(families) {
  const smallest = families.map((family) => Math.min(...family)).sort((a, b) => a - b);
  const m = smallest.length;
  const above = smallest.map((p, at) => (m * p) / (at + 1));
  for (let at = m - 2; at >= 0; at--) above[at] = Math.min(above[at], above[at + 1]);
  /** @param {number} p */
  const rate = (p) => {
    const passing = smallest.filter((one) => one <= p).length;
    return Math.min(1, (m * p) / passing, above[passing] ?? Infinity);
  };
  return families.map((family) => family.map(rate));
}
