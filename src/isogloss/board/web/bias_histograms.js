import { builtCharts } from "./analyses.js";
import { barChart } from "./bars.js";
import { cutRows, valueCounts } from "./buckets.js";
import { cellExamples } from "./cell_examples.js";
import { chosenOf, chosenSelect, manyControl } from "./controls.js";
import { languageName, systemDetail, taskName, taskTitle } from "./decode.js";
import { countText, element, link, listed, plural, scoreText } from "./dom.js";
import { edgeEditor } from "./edge_editor.js";
import { exampleItem, listedText, showExamples } from "./example_list.js";
import { chosenCut, cutEdges, listedExamples } from "./live_buckets.js";
import { biasPanel } from "./page_bias.js";

// So many languages stand side by side unless others are chosen: each is a file.
const SIDE_BY_SIDE = 6;

// What examples are like, whatever systems answer: a survey of the data, single examples, or the buckets of a system.
export async function biasPanels(board, params) {
  const survey = board.has_bias ? await biasPanel(board, params) : [];
  const histograms = Object.keys(board.examples ?? {}).length ? await histogramPanel(board, params) : null;
  if (histograms) return { ...histograms, nodes: [...histograms.nodes, ...survey] };
  return survey.length ? { nodes: survey, figures: [] } : explainedShares(board, params);
}

async function histogramPanel(board, params) {
  const tasks = Object.keys(board.examples).map((id) => ({ task: id }));
  const task = chosenOf(params, "task", tasks);
  const all = board.examples[task.chosen] ?? [];
  const cells = await chosenCells(task.chosen, all, params);
  if (!cells.length) return null;
  const attribute = chosenOf(
    params,
    "attribute",
    cells.flatMap(({ examples }) => examples.attributes.map(({ name }) => ({ attribute: name }))),
  );
  const figure = sharedHistograms(board, task.chosen, attribute.chosen, cells, all.length);
  const controls = element(
    "div",
    { class: "controls roomy" },
    chosenSelect("task", "Task", task, (id) => taskTitle(board, id)),
    chosenSelect("attribute", "Attribute", attribute),
    languagesControl(board, all, params),
  );
  return { figures: [figure], nodes: [controls, figure.node] };
}

// The examples of a task in the languages that the address names, or in the first ones.
async function chosenCells(task, all, params) {
  const asked = params.getAll("language").filter((code) => all.includes(code));
  const codes = asked.length ? asked : all.slice(0, SIDE_BY_SIDE);
  const cells = await Promise.all(codes.map(async (code) => ({ code, examples: await cellExamples(task, code) })));
  return cells.filter(({ examples }) => examples);
}

function languagesControl(board, all, params) {
  const control = manyControl(
    "language",
    "Languages",
    all.map((code) => [code, languageName(board, code)]),
    { none: all.length > SIDE_BY_SIDE ? `the first ${SIDE_BY_SIDE}` : "all" },
  );
  control.sync(params);
  return control.node;
}

// All languages together, so that one edge is the same in each of them: the values of all, and where those of one are.
function joined(cells) {
  const values = [...new Set(cells.flatMap(({ attribute }) => attribute.column.values))].sort((a, b) =>
    a === null ? 1 : b === null ? -1 : a < b ? -1 : 1,
  );
  const at = new Map(values.map((value, place) => [value, place]));
  const parts = cells.map(({ code, examples, attribute: { column } }) => {
    const own = column.values.map((value) => at.get(value));
    const part = { values, places: Uint32Array.from(column.places, (place) => own[place]) };
    return { code, examples, column: part, counts: valueCounts(part, examples.counted) };
  });
  const counts = new Float64Array(values.length);
  for (const part of parts) part.counts.forEach((count, place) => (counts[place] += count));
  return { column: { values, places: Uint32Array.from(values.keys()) }, counts, parts };
}

// A chart for each language, cut at the same edges; those in which the attribute never differs are named.
function sharedHistograms(board, task, name, given, known) {
  const ofName = ({ examples }) => examples.attributes.find((each) => each.name === name);
  const cells = given.filter(ofName).map((cell) => ({ ...cell, attribute: ofName(cell) }));
  const constant = given.filter((cell) => !ofName(cell)).map(({ code }) => languageName(board, code));
  const all = joined(cells);
  const [{ attribute }] = cells;
  const editor = attribute.discrete ? null : edgeEditor(attribute);
  const charts = element("div", { class: "charts" });
  const examples = element("div", { class: "examples", tabindex: "-1", "aria-live": "polite" });
  let [bars, shownFor] = [[], null];
  const sync = (params) => {
    const cut = attribute.discrete ? null : chosenCut(params, name);
    const key = JSON.stringify(cut);
    if (key === shownFor) return;
    shownFor = key;
    const edges = attribute.discrete ? null : cutEdges(all.column, all.counts, cut);
    const cutCells = all.parts.map((part) => ({
      ...part,
      ...cutRows(part.column, part.counts, edges, cut?.rule !== "at"),
    }));
    bars = cutCells.flatMap(({ buckets }) => buckets);
    const list = (cell, at, bucket) => listExamples(board, task, name, cell, at, bucket, examples);
    charts.replaceChildren(...shareFigures(board, cutCells, list));
    editor?.sync({ cut, column: all.column, counts: all.counts, edges });
  };
  const node = element(
    "div",
    {},
    element("h2", {}, `${attribute.title}, ${cells.length} of ${plural(known, "language")}`),
    constant.length ? element("p", { class: "soft" }, `The same in all examples of ${listed(constant)}.`) : null,
    editor ? element("figure", {}, element("figcaption", {}, "The same edges in all languages"), editor.node) : null,
    charts,
    element("p", { class: "soft" }, "Shares of the examples, in per cent. Choose a bar for its examples."),
    examples,
  );
  return { node, attribute: name, bars: () => bars, sync };
}

// Charts side by side on one scale; `list` shows the examples of a bar.
function shareFigures(board, cells, list) {
  const most = Math.max(...cells.flatMap(({ buckets }) => bucketShares(buckets)));
  return cells.map((cell) =>
    shareFigure(languageName(board, cell.code), cell.buckets, {
      most,
      click: ({ at, bucket }) => list(cell, at, bucket),
    }),
  );
}

function bucketShares(buckets) {
  const total = buckets.reduce((sum, { n }) => sum + n, 0);
  return buckets.map(({ n }) => (100 * n) / (total || 1));
}

function shareFigure(title, buckets, { click = null, most = 0 } = {}) {
  const total = buckets.reduce((sum, { n }) => sum + n, 0);
  const shares = bucketShares(buckets);
  const records = buckets.map((bucket, at) => {
    const share = shares[at];
    return {
      bucket,
      at,
      label: bucket.edges || bucket.name,
      name: bucket.name,
      value: share,
      n: bucket.n,
      lines: [
        `${bucket.name}${bucket.edges ? ` (${bucket.edges})` : ""}: ${scoreText(share)} % of ${countText(total)}`,
        plural(bucket.n, "example"),
      ],
    };
  });
  return element(
    "figure",
    {},
    element("figcaption", {}, title),
    barChart({ records, description: title, most, click }),
  );
}

function listExamples(board, task, name, { code, examples, codes }, at, bucket, place) {
  const { shown, total } = listedExamples({ examples }, [], codes, at);
  const items = shown.map(({ example }) => {
    const text = examples.texts[example];
    return exampleItem(examples.ids[example], text ? [...Object.entries(text.inputs), ["gold", text.gold]] : [], code);
  });
  const of = `${taskName(board, task)}, ${languageName(board, code)}, ${name} ${bucket.name}`;
  showExamples(place, of, listedText(items.length, total, "those with texts first"), items);
}

// Without either, the sizes of the buckets in which a ticked system was explained.
async function explainedShares(board, params) {
  const id = params.get("system");
  const charts = id ? builtCharts("single", [], [await systemDetail(id)]) : [];
  if (!charts.length)
    return {
      figures: [],
      nodes: [
        element(
          "p",
          { class: "headline" },
          "Tick a system with analyses on the leaderboard. ",
          link("#/", "To the leaderboard"),
        ),
      ],
    };
  const task = chosenOf(params, "task", charts);
  const ofTask = charts.filter((chart) => chart.task === task.chosen);
  const attribute = chosenOf(params, "attribute", ofTask);
  const [{ metric }] = ofTask;
  const shown = ofTask.filter((chart) => chart.attribute === attribute.chosen && chart.metric === metric);
  return {
    figures: [],
    nodes: [
      element(
        "div",
        { class: "controls roomy" },
        chosenSelect("task", "Task", task),
        chosenSelect("attribute", "Attribute", attribute),
      ),
      element(
        "div",
        { class: "charts" },
        shown.map((chart) => shareFigure(languageName(board, chart.language), chart.bars)),
      ),
    ],
  };
}
