import { CUT_RULES, cutRows, edgesByRule, valueCounts } from "./buckets.js";
import { bucketEstimates, exampleScores, pairedDifference, scoreInterval } from "./estimates.js";

const MOST_LISTED = 10;
export const MOST_BUCKETS = 12;
const scaled = (interval) => (interval ? interval.map((end) => 100 * end) : [null, null]);

// How an attribute is cut, as the address has it: `aLen~equal~6` by a rule, `aLen~at~2,5,13` at edges.
export function chosenCut(params, name) {
  const text = params.getAll("cut").find((each) => each.startsWith(`${name}~`));
  const [rule, detail] = text?.slice(name.length + 1).split("~") ?? [];
  if (rule === "at") return { rule, edges: parsedEdges(detail ?? "") };
  const buckets = Math.round(Number(detail));
  const known = CUT_RULES.some(([id]) => id === rule);
  return known && buckets >= 2 && buckets <= MOST_BUCKETS ? { rule, buckets } : null;
}

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

// All cuts of the address with that of one attribute changed; null takes it away.
export const changedCuts = (params, name, cut) => [
  ...params.getAll("cut").filter((each) => !each.startsWith(`${name}~`)),
  ...(cut ? [`${name}~${cut.rule}~${cut.rule === "at" ? cut.edges.join(",") : cut.buckets}`] : []),
];

// An attribute of some examples with its edges, and its rows in buckets. `usual` edges are those that others chose.
export function cutAttribute(examples, attribute, cut, usual = null) {
  const counts = valueCounts(attribute.column, examples.counted);
  const edges = attribute.discrete ? null : cutEdges(attribute.column, counts, cut, usual);
  return { counts, edges, ...cutRows(attribute.column, counts, edges, cut?.rule !== "at") };
}

export const cutEdges = (column, counts, cut, usual = null) =>
  cut?.rule === "at"
    ? cut.edges
    : cut
      ? edgesByRule(column, counts, cut.rule, cut.buckets)
      : (usual ?? edgesByRule(column, counts));

// Scores of one system in the buckets, or of two and their difference, 0..100.
export function scoredBuckets({ examples }, metrics, { buckets, codes }) {
  const [own, other] = metrics.map((metric) =>
    bucketEstimates(metric, codes, buckets.length, examples.rowSources, examples.sourceCount),
  );
  return buckets.map((bucket, at) => {
    if (!other) {
      const [low, high] = scaled(scoreInterval(own[at]));
      return { ...bucket, at, value: 100 * own[at].value, low, high };
    }
    const { value, interval } = pairedDifference(own[at], other[at]);
    const [low, high] = scaled(interval);
    return { ...bucket, at, own: 100 * own[at].value, other: 100 * other[at].value, value: 100 * value, low, high };
  });
}

// The examples of a bucket: of one system the worst first, of two those on which they differ most. Among equals those
// come first whose texts are here.
export function listedExamples({ examples }, metrics, codes, bucket) {
  const scores = metrics.map((metric) => exampleScores(metric, examples.rows, examples.ids.length));
  const inside = new Set();
  codes.forEach((code, row) => {
    if (code === bucket) inside.add(examples.rows[row]);
  });
  const weight = (example) => {
    if (scores.length === 2) return -Math.abs(scores[0][example] - scores[1][example]);
    return scores.length ? (metrics[0].lower_is_better ? -1 : 1) * scores[0][example] : 0;
  };
  return {
    total: inside.size,
    shown: [...inside]
      .sort((a, b) => weight(a) - weight(b) || !examples.texts[a] - !examples.texts[b] || a - b)
      .slice(0, MOST_LISTED)
      .map((example) => ({ example, scores: scores.map((each) => 100 * each[example]) })),
  };
}
