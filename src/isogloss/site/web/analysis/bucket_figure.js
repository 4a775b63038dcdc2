import { listBuilt, listLive } from "./bucket_examples.js";
import { attributeCaption } from "./attribute_title.js";
import { edgeEditor } from "./edge_editor.js";
import { barChart, dotScale, sharedScale } from "../charts/bars.js";
import { element, missing, plural, scoreText, signedText } from "../page/dom.js";

// Charts of the buckets of all attributes on one axis.
/** @param {AnalysisContext} about @param {BucketSet[]} sets @param {{ live: LiveCell, metrics: Metric[] } | null} own */
export function bucketFigures(about, sets, own) {
  const isPair = about.mode === "pairwise";
  const records = sets.map((set) => set.bars.map((bar) => bucketRecord(about.mode, bar, Boolean(set.source && own))));
  const alike = records.flat();
  const scale = isPair ? sharedScale(alike, true) : dotScale(alike);
  return sets.map((set, at) => bucketFigure(about, set, { records: records[at], alike, scale }, own));
}

// A chart of an attribute's buckets, with movable edges if the board has single examples.
/**
 * @param {AnalysisContext} about
 * @param {BucketSet} set
 * @param {{ records: BarRecord[], alike: BarRecord[], scale: Interval }} drawing
 * @param {{ live: LiveCell, metrics: Metric[] } | null} own
 */
function bucketFigure(about, set, drawing, own) {
  const { mode, board } = about;
  const { source, edges, counts, built } = set;
  const title = `${set.attribute}: ${set.title}`;
  const lower = own?.metrics[0].lower_is_better ?? board.task.get(about.task)?.lower_is_better ?? false;
  const live = source && own ? own : null;
  const { codes } = set;
  /** @param {{ bucket: BucketBar }} record */
  const click = ({ bucket }) => {
    if (live && codes) listLive(about, live.live, live.metrics, set.title, codes, bucket);
    else if (built) listBuilt(about, built, bucket);
  };
  return element(
    "figure",
    { "data-key": set.attribute },
    element("figcaption", {}, attributeCaption(set)),
    barChart({
      ...drawing,
      signed: mode === "pairwise",
      lower,
      description: title,
      click,
    }),
    element("p", { class: "insight" }, set.insight),
    live && edges && counts && source
      ? edgeEditor({ name: set.attribute, cut: set.cut ?? null, column: source.column, counts, edges })
      : null,
  );
}

/** @param {string} mode @param {BucketBar} bucket @param {boolean} live @returns {BarRecord} */
function bucketRecord(mode, bucket, live) {
  const { value, low, high, n, mark } = bucket;
  const isPair = mode === "pairwise";
  const text = isPair
    ? `${signedText(value)} (${scoreText(bucket.own)} and ${scoreText(bucket.other)})`
    : scoreText(value);
  const interval = isPair ? `${signedText(low)} to ${signedText(high)}` : `${scoreText(low)}–${scoreText(high)}`;
  const quoted = bucket.ids?.length ?? 0;
  return {
    bucket,
    label: bucket.edges ? `${bucket.name} ${bucket.edges}` : bucket.name,
    value,
    n,
    low,
    high,
    mark,
    sure: isPair ? (bucket.sure ?? false) : true,
    lists: live || quoted > 0,
    lines: [
      `${bucket.name}${bucket.edges ? ` ${bucket.edges}` : ""}: ${text}`,
      missing(low) ? "no interval: too few independent examples" : `95 % interval ${interval}`,
      isPair && !missing(low) ? (bucket.sure ? "significant" : "not significant") : "",
      mark ? `significantly ${mark === "top" ? "better" : "worse"} than every other bucket` : "",
      plural(n, "example"),
      bucket.flips ? "the ranking flips here" : "",
      live
        ? "Select to show examples"
        : quoted
          ? `Select to show ${plural(quoted, "example")}`
          : "No examples: they are shown only where labels are public and isogloss explain quotes them",
    ],
  };
}
