import { barChart } from "../charts/bars.js";
import { languageName, taskName } from "../board/decode.js";
import { element, missing, plural, scoreText, signedText } from "../page/dom.js";
import { edgeEditor } from "./edge_editor.js";
import { exampleItem, listedText, scoredName, showExamples } from "./example_list.js";
import { chosenCut, cutAttribute, listedExamples, scoredBuckets } from "./live_buckets.js";
import { memoized } from "../board/ranking.js";

const WORST_FIRST = "worst first";
const MOST_APART = "largest differences first";

// A chart of buckets with fixed edges, as isogloss explain built it.
/** @param {AnalysisContext} about @param {Chart} chart @returns {BucketFigure} */
export function builtFigure(about, chart) {
  const { board, mode } = about;
  const lower = board.task.get(chart.task)?.lower_is_better ?? false;
  /** @param {any} options */
  const click = ({ bucket }) => listBuilt(about, chart, bucket);
  return {
    node: element(
      "figure",
      {},
      element("figcaption", {}, `${chart.attribute}: ${chart.title}`),
      bucketChart(mode, chart.bars, lower, chart.title, click),
      chart.insight && mode === "single" ? element("p", { class: "insight" }, chart.insight) : null,
    ),
    attribute: chart.attribute,
    bars: () => chart.bars,
  };
}

// Buckets of an attribute, computed once per cut.
const cutBuckets = memoized(
  (
    /** @type {ExampleAttribute} */ attribute,
    /** @type {LiveCell} */ live,
    /** @type {string} */ metric,
    /** @type {string} */ cutJson,
  ) => {
    const [cut, edges] = JSON.parse(cutJson);
    const metrics = live.systems.map((system) => system.metrics.filter(({ name }) => name === metric)[0]);
    const buckets = cutAttribute(live.examples, attribute, cut, edges);
    return { ...buckets, bars: scoredBuckets(live, metrics, buckets) };
  },
);

// A chart of single examples with movable edges.
/**
 * @param {AnalysisContext} about
 * @param {LiveCell} live
 * @param {Metric[]} metrics
 * @param {ExampleAttribute} attribute
 * @param {Chart | null} built
 * @returns {BucketFigure}
 */
export function liveFigure(about, live, metrics, attribute, built) {
  const { mode, params } = about;
  const title = `${attribute.name}: ${attribute.title}`;
  const cut = attribute.discrete ? null : chosenCut(params, attribute.name);
  const {
    codes,
    counts,
    edges,
    bars: scored,
  } = cutBuckets(attribute, live, metrics[0].name, JSON.stringify([cut, built?.edges ?? null]));
  const isSame = !cut && built?.bars.length === scored.length && scored.every(({ n }, at) => n === built.bars[at].n);
  // Built charts have their own bucket names, and mark where the ranking flips.
  const bars = isSame
    ? scored.map((bar, at) => {
        const { name, edges: range, flips } = built.bars[at];
        return { ...bar, name, edges: range, flips };
      })
    : scored;
  /** @param {any} options */
  const click = ({ bucket }) => listLive(about, live, metrics, attribute, codes, bucket);
  const insight = isSame && mode === "single" ? built.insight : "";
  return {
    node: element(
      "figure",
      { "data-key": attribute.name },
      element("figcaption", {}, title),
      element("div", { class: "live" }, bucketChart(mode, bars, metrics[0].lower_is_better, title, click)),
      edges ? edgeEditor({ name: attribute.name, cut, column: attribute.column, counts, edges }) : null,
      insight ? element("p", { class: "insight" }, insight) : null,
    ),
    attribute: attribute.name,
    bars: () => bars,
  };
}

/**
 * @param {string} mode
 * @param {BucketBar[]} bars
 * @param {boolean} lower
 * @param {string} description
 * @param {((record: any) => void) | null | undefined} click
 */
const bucketChart = (mode, bars, lower, description, click) =>
  barChart({
    records: bars.map((bucket) => bucketRecord(mode, bucket)),
    signed: mode === "pairwise",
    marked: mode === "single",
    lower,
    description,
    click,
  });

/** @param {string} mode @param {BucketBar} bucket */
function bucketRecord(mode, bucket) {
  const { value, low, high, n } = bucket;
  const text =
    mode === "pairwise"
      ? `${signedText(value)} (${scoreText(bucket.own)} and ${scoreText(bucket.other)})`
      : scoreText(value);
  const ends =
    mode === "pairwise" ? `${signedText(low)} to ${signedText(high)}` : `${scoreText(low)}–${scoreText(high)}`;
  return {
    bucket,
    label: bucket.edges || bucket.name,
    name: bucket.name,
    value,
    n,
    low,
    high,
    lines: [
      `${bucket.name}${bucket.edges ? ` (${bucket.edges})` : ""}: ${text}`,
      missing(low) ? "no interval: too few independent examples" : `95 % interval ${ends}`,
      plural(n, "example"),
      bucket.flips ? "the ranking flips here" : "",
    ],
  };
}

/** @param {AnalysisContext} options @param {string} attribute @param {BucketBar} options2 */
const heading = ({ board, task, language }, attribute, { name, edges }) =>
  `${taskName(board, task)}, ${languageName(board, language)}, ${attribute} ${name}${edges ? ` (${edges})` : ""}`;

/**
 * @param {AnalysisContext} about
 * @param {LiveCell} live
 * @param {Metric[]} metrics
 * @param {ExampleAttribute} attribute
 * @param {Uint16Array} codes
 * @param {BucketBar} bucket
 */
function listLive(about, live, metrics, attribute, codes, bucket) {
  const { systems, language } = about;
  const { examples } = live;
  const { shown, total } = listedExamples(live, metrics, codes, bucket.at ?? 0);
  const items = shown.map(({ example, scores }) => {
    const text = examples.texts[example];
    const names = systems.map(({ fullName }, at) => scoredName(fullName, scores[at]));
    const pairs = text
      ? [
          ...Object.entries(text.inputs),
          ["gold", text.gold],
          ...names.map((name, at) => [name, live.systems[at].answers[example] ?? ""]),
        ]
      : [[names.join(", "), "(text not available)"]];
    return exampleItem(examples.ids[example], pairs, text ? language : "en");
  });
  const order = systems.length === 2 ? MOST_APART : WORST_FIRST;
  showExamples(heading(about, attribute.name, bucket), listedText(items.length, total, order), items);
}

/** @param {AnalysisContext} about @param {Chart} chart @param {BucketBar} bucket */
function listBuilt(about, chart, bucket) {
  const { systems, details } = about;
  const cell = `${chart.task}/${chart.language}`;
  const bySystem = details.map((detail) => detail?.analyses?.examples?.[cell] ?? {});
  const items = (bucket.ids ?? []).map((id) => {
    const example = bySystem.map((examples) => examples[id]).find(Boolean);
    const answers = systems.flatMap(({ fullName }, at) => {
      const own = bySystem[at]?.[id];
      return own ? [[scoredName(fullName, own.score), own.answer]] : [];
    });
    const pairs = example ? [...Object.entries(example.inputs), ["gold", example.gold], ...answers] : [];
    return exampleItem(id, pairs, chart.language);
  });
  showExamples(heading(about, chart.attribute, bucket), listedText(items.length, bucket.n, WORST_FIRST), items);
}
