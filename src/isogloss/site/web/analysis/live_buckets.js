import { CUT_RULES, cutRows, edgesByRule, valueCounts } from "./buckets.js";
import { bucketEstimates, exampleScores, scoreInterval } from "../statistics/estimates.js";
import { exchangedBuckets } from "../statistics/exchange.js";

const MOST_LISTED = 10;
export const MOST_BUCKETS = 12;
/** @param {Interval | null} interval */
const scaled = (interval) => (interval ? interval.map((end) => 100 * end) : [null, null]);

// The bucketing in the address: `aLen~equal~6` by a rule, `aLen~at~2,5,13` at edges.
/** @param {URLSearchParams} params @param {string} name @returns {Cut | null} */
export function chosenCut(params, name) {
  const text = params.getAll("cut").find((item) => item.startsWith(`${name}~`));
  const [rule, detail] = text?.slice(name.length + 1).split("~") ?? [];
  if (rule === "at") return { rule, edges: parsedEdges(detail ?? "") };
  const buckets = Math.round(Number(detail));
  const isRule = CUT_RULES.some(([id]) => id === rule);
  return isRule && buckets >= 2 && buckets <= MOST_BUCKETS ? { rule, buckets } : null;
}

/** @param {string} text */
export const parsedEdges = (text) =>
  [
    ...new Set(
      text
        .split(/[,;\s:]+/)
        .filter((part) => part !== "")
        .map(Number),
    ),
  ]
    .filter(Number.isFinite)
    .sort((a, b) => a - b)
    .slice(0, MOST_BUCKETS - 1);

// The cuts in the address with one attribute's cut changed, or removed if null.
/** @param {URLSearchParams} params @param {string} name @param {Cut | null} cut */
export const changedCuts = (params, name, cut) => [
  ...params.getAll("cut").filter((item) => !item.startsWith(`${name}~`)),
  ...(cut ? [`${name}~${cut.rule}~${cut.rule === "at" ? cut.edges?.join(",") : cut.buckets}`] : []),
];

// Cut an attribute into buckets; `usual` edges replace the default rule.
/**
 * @param {CellExamples} examples
 * @param {ExampleAttribute} attribute
 * @param {Cut | null} cut
 * @param {Maybe<number[]>} [usual]
 */
export function cutAttribute(examples, attribute, cut, usual = null) {
  const counts = valueCounts(attribute.column, examples.counted);
  const edges = attribute.discrete ? null : cutEdges(attribute.column, counts, cut, usual);
  return { counts, edges, ...cutRows(attribute.column, counts, edges, cut?.rule !== "at") };
}

/** @param {ValueColumn} column @param {Float64Array} counts @param {Cut | null} cut @param {Maybe<number[]>} [usual] */
export const cutEdges = (column, counts, cut, usual = null) =>
  cut?.rule === "at"
    ? (cut.edges ?? [])
    : cut
      ? edgesByRule(column, counts, cut.rule, cut.buckets)
      : (usual ?? edgesByRule(column, counts));

// Score one system in each bucket, or two and their difference, 0 to 100.
/** @param {LiveCell} options @param {Metric[]} metrics @param {CutBuckets} options2 @returns {BucketBar[]} */
export function scoredBuckets({ examples }, metrics, { buckets, codes }) {
  const { rowSources, sourceCount } = examples;
  const [own, other] = metrics.map((metric) =>
    bucketEstimates(metric, codes, buckets.length, rowSources, sourceCount),
  );
  const differences = other
    ? exchangedBuckets(metrics[0], metrics[1], codes, buckets.length, rowSources, sourceCount)
    : [];
  return buckets.map((bucket, at) => {
    if (!other) {
      const [low, high] = scaled(scoreInterval(own[at]));
      return { ...bucket, at, value: 100 * own[at].value, low, high };
    }
    const { value, interval, p } = differences[at];
    const [low, high] = scaled(interval);
    return { ...bucket, at, own: 100 * own[at].value, other: 100 * other[at].value, value: 100 * value, low, high, p };
  });
}

// The examples of a bucket: worst first, or largest difference first for several systems; then examples with texts.
/**
 * @param {{ examples: CellExamples }} options
 * @param {Metric[]} metrics
 * @param {Uint16Array} codes
 * @param {number} bucket
 */
export function listedExamples({ examples }, metrics, codes, bucket) {
  const scores = metrics.map((metric) => exampleScores(metric, examples.rows, examples.ids.length));
  const inside = new Set();
  codes.forEach((code, row) => {
    if (code === bucket) inside.add(examples.rows[row]);
  });
  /** @param {number} example */
  const weight = (example) => {
    const own = scores.map((score) => score[example]);
    if (own.length > 1) return Math.min(...own) - Math.max(...own);
    return scores.length ? (metrics[0].lower_is_better ? -1 : 1) * scores[0][example] : 0;
  };
  return {
    total: inside.size,
    shown: [...inside]
      .sort((a, b) => weight(a) - weight(b) || Number(!examples.texts[a]) - Number(!examples.texts[b]) || a - b)
      .slice(0, MOST_LISTED)
      .map((example) => ({ example, scores: scores.map((own) => 100 * own[example]) })),
  };
}
