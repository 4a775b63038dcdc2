// What the tests of an attribute's buckets say, as in explain/claims.py.
import { missing, scoreText, signedText } from "../page/dom.js";
import { ALPHA } from "../statistics/distributions.js";

// Number of buckets named where the best or the worst is uncertain.
const NAMED = 3;
const STEADY = 1e-12;

/** @param {number} q */
const rateText = (q) => (q >= 0.001 ? `q = ${q.toFixed(3)}` : "q < 0.001");
/** @param {BucketBar} bar */
const nameText = ({ name, edges }) => (edges ? `${name} ${edges}` : name);
/** @param {BucketBar} bar */
const scoredText = (bar) => `${nameText(bar)} (${scoreText(bar.value)})`;

// A significant claim of a kind.
/** @param {BucketClaim[]} claims @param {string} kind */
const held = (claims, kind) => claims.find((claim) => claim.kind === kind && (claim.q ?? 1) < ALPHA);

// The buckets that are significantly better or worse than every other; -1 for none.
/** @param {BucketClaim[]} claims */
export const ends = (claims) => ({
  best: held(claims, "best")?.buckets[0] ?? -1,
  worst: held(claims, "worst")?.buckets[0] ?? -1,
});

// Without a claim that holds: nothing was tested, or nothing is significant.
/** @param {BucketBar[]} bars */
export const noClaimText = (bars) =>
  bars.filter(({ low }) => !missing(low)).length < 2
    ? "Not tested: fewer than two buckets have enough independent examples."
    : "No significant differences between buckets.";

// The significant claims about an attribute as a sentence.
/** @param {{ title: string, metric: string, bars: BucketBar[], claims: BucketClaim[], ordered: number[] }} facet */
export function insightText({ title, metric, bars, claims, ordered }) {
  const parts = [
    differenceText(bars, claims),
    uncertainText(bars, claims, "best"),
    uncertainText(bars, claims, "worst"),
  ].filter(Boolean);
  const trend = held(claims, "trend");
  if (!trend) return parts.length ? `${title}: ${parts.join("; ")}.` : noClaimText(bars);
  const values = bars.filter((_, at) => ordered[at] >= 0 && bars[at].low !== null).map(({ value }) => value);
  const steady = values.every((value, at) => !at || (value - values[at - 1]) * trend.points > -STEADY);
  const verb = trend.points > 0 ? "rises" : "falls";
  const slope = `trend ${signedText(trend.points)} points per bucket${steady ? "" : ", not at every step"}, ${rateText(trend.q ?? 1)}`;
  return `${[`${metric} ${verb} with ${title} (${slope})`, ...parts].join("; ")}.`;
}

// The best and the worst bucket if they are certain, otherwise two buckets that differ.
/** @param {BucketBar[]} bars @param {BucketClaim[]} claims */
function differenceText(bars, claims) {
  const spread = held(claims, "spread");
  if (!spread) return "";
  const known = ["best", "worst"].flatMap((kind) => held(claims, kind) ?? []);
  if (!known.length) {
    const [high, low] = spread.buckets.map((at) => bars[at]);
    return `${scoredText(high)} is ${scoreText(spread.points)} points above ${scoredText(low)} (${rateText(spread.q ?? 1)})`;
  }
  const named = known.map(({ kind, buckets }) => `${kind} at ${scoredText(bars[buckets[0]])}`).join(", ");
  const rate = rateText(Math.max(...known.map(({ q }) => q ?? 1)));
  if (known.length === 1) return `${named} (${rate})`;
  const [one, other] = known.map(({ buckets }) => bars[buckets[0]].value);
  return `${named}, a difference of ${scoreText(Math.abs(one - other))} points (${rate})`;
}

// The buckets that may be the best or the worst, if a difference is certain but the bucket is not.
/** @param {BucketBar[]} bars @param {BucketClaim[]} claims @param {string} kind */
function uncertainText(bars, claims, kind) {
  const claim = claims.find((one) => one.kind === kind);
  if (!claim || (claim.q ?? 1) < ALPHA || !held(claims, "spread")) return "";
  const names = claim.buckets.map((at) => bars[at].name);
  const others = names.length - NAMED;
  const shown = others < 2 ? names : [...names.slice(0, NAMED), `${others} others`];
  return `${kind} uncertain: ${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

// The buckets in which two systems differ significantly.
/** @param {BucketBar[]} bars */
export function contrastText(bars) {
  const tested = bars.filter(({ low }) => !missing(low));
  if (!tested.length) return "Not tested: no bucket has enough independent examples.";
  const sure = tested.filter((bar) => bar.sure);
  const flips = bars.filter((bar) => bar.flips).map(({ name }) => name);
  const turned = flips.length ? ` The ranking flips at ${flips.join(", ")}.` : "";
  if (!sure.length) return `No bucket differs significantly.${turned}`;
  const named = sure.map((bar) => `${nameText(bar)} ${signedText(bar.value)}`).join("; ");
  return `Significant in ${sure.length} of ${bars.length} buckets: ${named}.${turned}`;
}
