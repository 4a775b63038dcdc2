import { listBuilt, listLive } from "./bucket_examples.js";
import { edgeEditor } from "./edge_editor.js";
import { barChart } from "../charts/bars.js";
import { element, missing, plural, scoreText, signedText } from "../page/dom.js";

// A chart of an attribute's buckets, with movable edges if the board has single examples.
/** @param {AnalysisContext} about @param {BucketSet} set @param {Interval} scale @param {{ live: LiveCell, metrics: Metric[] } | null} own */
export function bucketFigure(about, set, scale, own) {
  const { mode, board } = about;
  const { source, edges, counts, built } = set;
  const title = `${set.attribute}: ${set.title}`;
  const lower = own?.metrics[0].lower_is_better ?? board.task.get(about.task)?.lower_is_better ?? false;
  const live = source && own ? own : null;
  /** @param {{ bucket: BucketBar }} record */
  const click = ({ bucket }) => {
    if (live) listLive(about, live.live, live.metrics, set, bucket);
    else if (built) listBuilt(about, built, bucket);
  };
  return element(
    "figure",
    { "data-key": set.attribute },
    element("figcaption", {}, title),
    barChart({
      records: set.bars.map((bucket) => bucketRecord(mode, bucket, live !== null)),
      signed: mode === "pairwise",
      lower,
      scale,
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
      `${bucket.name}${bucket.edges ? ` (${bucket.edges})` : ""}: ${text}`,
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
