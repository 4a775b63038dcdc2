import { barChart } from "./bars.js";
import { languageName, taskName } from "./decode.js";
import { element, missing, plural, scoreText, signedText } from "./dom.js";
import { edgeEditor } from "./edge_editor.js";
import { exampleItem, listedText, scoredName, showExamples } from "./example_list.js";
import { chosenCut, cutAttribute, listedExamples, scoredBuckets } from "./live_buckets.js";

const WORST_FIRST = "the worst first";
const MOST_APART = "those on which the two differ most first";

// A chart of buckets as it was built: its edges stay.
export function builtFigure(about, chart) {
  const { board, mode, systems, details, examples } = about;
  const lower = board.task.get(chart.task)?.lower_is_better ?? false;
  const click = ({ bucket }) => listBuilt(about, chart, bucket, systems, details, examples);
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
    sync: () => {},
  };
}

// A chart of single examples, whose edges can be moved.
export function liveFigure(about, live, metrics, attribute, built) {
  const { mode } = about;
  const chart = element("div", { class: "live" });
  const said = element("p", { class: "insight" });
  const editor = attribute.discrete ? null : edgeEditor(attribute);
  const title = `${attribute.name}: ${attribute.title}`;
  let [bars, shownFor] = [[], null];
  const sync = (params) => {
    const cut = attribute.discrete ? null : chosenCut(params, attribute.name);
    const key = JSON.stringify(cut);
    if (key === shownFor) return;
    shownFor = key;
    const made = cutAttribute(live.examples, attribute, cut, built?.edges);
    bars = scoredBuckets(live, metrics, made);
    const same = !cut && built?.bars.length === bars.length && bars.every(({ n }, at) => n === built.bars[at].n);
    // What was built has names of its own where it was cut otherwise, and knows where the order of two systems turns.
    if (same)
      bars = bars.map((bar, at) => {
        const { name, edges, flips } = built.bars[at];
        return { ...bar, name, edges, flips };
      });
    const click = ({ bucket }) => listLive(about, live, metrics, attribute, made.codes, bucket);
    chart.replaceChildren(bucketChart(mode, bars, metrics[0].lower_is_better, title, click));
    said.textContent = same && mode === "single" ? (built.insight ?? "") : "";
    editor?.sync({ cut, column: attribute.column, counts: made.counts, edges: made.edges });
  };
  return {
    node: element("figure", {}, element("figcaption", {}, title), chart, editor?.node, said),
    attribute: attribute.name,
    bars: () => bars,
    sync,
  };
}

const bucketChart = (mode, bars, lower, description, click) =>
  barChart({
    records: bars.map((bucket) => bucketRecord(mode, bucket)),
    signed: mode === "pairwise",
    marked: mode === "single",
    lower,
    description,
    click,
  });

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
      bucket.flips ? "here the order of the two turns" : "",
    ],
  };
}

const heading = ({ board, task, language }, attribute, { name, edges }) =>
  `${taskName(board, task)}, ${languageName(board, language)}, ${attribute} ${name}${edges ? ` (${edges})` : ""}`;

function listLive(about, live, metrics, attribute, codes, bucket) {
  const { systems, language, examples: place } = about;
  const { examples } = live;
  const { shown, total } = listedExamples(live, metrics, codes, bucket.at);
  const items = shown.map(({ example, scores }) => {
    const text = examples.texts[example];
    const names = systems.map(({ fullName }, at) => scoredName(fullName, scores[at]));
    const pairs = text
      ? [
          ...Object.entries(text.inputs),
          ["gold", text.gold],
          ...names.map((name, at) => [name, live.systems[at].answers[example] ?? ""]),
        ]
      : [[names.join(", "), "(the text is not on this board)"]];
    return exampleItem(examples.ids[example], pairs, text ? language : "en");
  });
  const order = systems.length === 2 ? MOST_APART : WORST_FIRST;
  showExamples(place, heading(about, attribute.name, bucket), listedText(items.length, total, order), items);
}

function listBuilt(about, chart, bucket, systems, details, place) {
  const cell = `${chart.task}/${chart.language}`;
  const known = details.map((detail) => detail?.analyses?.examples?.[cell] ?? {});
  const items = (bucket.ids ?? []).map((id) => {
    const example = known.map((cases) => cases[id]).find(Boolean);
    const answers = systems.map((system, at) => [system.fullName, known[at]?.[id]]).filter(([, said]) => said);
    const pairs = example
      ? [
          ...Object.entries(example.inputs),
          ["gold", example.gold],
          ...answers.map(([name, { answer, score }]) => [scoredName(name, score), answer]),
        ]
      : [];
    return exampleItem(id, pairs, chart.language);
  });
  showExamples(place, heading(about, chart.attribute, bucket), listedText(items.length, bucket.n, WORST_FIRST), items);
}
