import { builtCharts } from "./analyses.js";
import { barChart } from "../charts/bars.js";
import { cutRows, valueCounts } from "./buckets.js";
import { cellExamples } from "./cell_examples.js";
import { chosenOf, chosenSelect, manyControl } from "../page/controls.js";
import { languageName, systemDetail, taskName, taskTitle } from "../board/decode.js";
import { countText, element, link, listed, plural, scoreText } from "../page/dom.js";
import { edgeEditor } from "./edge_editor.js";
import { exampleItem, exampleSection, listedText, showExamples } from "./example_list.js";
import { chosenCut, cutEdges, listedExamples } from "./live_buckets.js";
import { biasPanel } from "./page_bias.js";

// Languages shown by default; each needs a file.
const DEFAULT_LANGUAGES = 6;

// Dataset bias: the distribution of examples, from single examples and from distributions computed by isogloss explain, or
// the bucket sizes of an analysed system.
/** @param {Board} board @param {URLSearchParams} params @returns {Promise<Child[]>} */
export async function biasPanels(board, params) {
  const distributions = board.has_bias ? await biasPanel(board, params) : [];
  const histograms = Object.keys(board.examples ?? {}).length ? await histogramPanel(board, params) : [];
  const nodes = [...histograms, ...distributions];
  return nodes.length ? nodes : explainedShares(board, params);
}

/** @param {Board} board @param {URLSearchParams} params @returns {Promise<Child[]>} */
async function histogramPanel(board, params) {
  const tasks = Object.keys(board.examples ?? {}).map((id) => ({ task: id }));
  const task = chosenOf(params, "task", tasks);
  const all = board.examples?.[task.chosen] ?? [];
  const cells = await chosenCells(task.chosen, all, params);
  if (!cells.length) return [];
  const attribute = chosenOf(
    params,
    "attribute",
    cells.flatMap(({ examples }) => examples.attributes.map(({ name }) => ({ attribute: name }))),
  );
  const controls = element(
    "div",
    { class: "controls roomy" },
    chosenSelect("task", "Task", task, (id) => taskTitle(board, id)),
    chosenSelect("attribute", "Attribute", attribute),
    languagesControl(board, all, params),
  );
  return [controls, sharedHistograms(board, params, { task: task.chosen, name: attribute.chosen, cells, all })];
}

// The examples of a task in the languages of the address, or in the first ones.
/** @param {string} task @param {string[]} all @param {URLSearchParams} params @returns {Promise<BiasCell[]>} */
async function chosenCells(task, all, params) {
  const selected = params.getAll("language").filter((code) => all.includes(code));
  const codes = selected.length ? selected : all.slice(0, DEFAULT_LANGUAGES);
  const cells = await Promise.all(codes.map(async (code) => ({ code, examples: await cellExamples(task, code) })));
  return cells.flatMap(({ code, examples }) => (examples ? [{ code, examples }] : []));
}

/** @param {Board} board @param {string[]} all @param {URLSearchParams} params */
const languagesControl = (board, all, params) =>
  manyControl(
    params,
    "language",
    "Languages",
    all.map((code) => [code, languageName(board, code)]),
    all.length > DEFAULT_LANGUAGES ? `first ${DEFAULT_LANGUAGES}` : "all",
  );

// Join the values of all languages, so that they share edges.
/** @param {(BiasCell & { attribute: ExampleAttribute })[]} cells */
function joined(cells) {
  const values = [...new Set(cells.flatMap(({ attribute }) => attribute.column.values))].sort((a, b) =>
    a === null ? 1 : b === null ? -1 : a < b ? -1 : 1,
  );
  const at = new Map(values.map((value, place) => [value, place]));
  const parts = cells.map(({ code, examples, attribute: { column } }) => {
    const own = column.values.map((value) => at.get(value));
    const part = { values, places: Uint32Array.from(column.places, (place) => own[place] ?? 0) };
    return { code, examples, column: part, counts: valueCounts(part, examples.counted) };
  });
  const counts = new Float64Array(values.length);
  for (const part of parts) part.counts.forEach((count, place) => (counts[place] += count));
  return { column: { values, places: Uint32Array.from(values.keys()) }, counts, parts };
}

// A chart per language with the same edges; languages with a constant attribute are listed.
/**
 * @param {Board} board
 * @param {URLSearchParams} params
 * @param {{ task: string, name: string, cells: BiasCell[], all: string[] }} options2
 */
function sharedHistograms(board, params, { task, name, cells: loadedCells, all }) {
  /** @param {BiasCell} options */
  const attributeOf = ({ examples }) => examples.attributes.find((item) => item.name === name);
  const cells = loadedCells.flatMap((cell) => {
    const attribute = attributeOf(cell);
    return attribute ? [{ ...cell, attribute }] : [];
  });
  const constant = loadedCells.filter((cell) => !attributeOf(cell)).map(({ code }) => languageName(board, code));
  const { column, counts, parts } = joined(cells);
  const [{ attribute }] = cells;
  const cut = attribute.discrete ? null : chosenCut(params, name);
  const edges = attribute.discrete ? null : cutEdges(column, counts, cut);
  const cutCells = parts.map((part) => ({
    ...part,
    ...cutRows(part.column, part.counts, edges, cut?.rule !== "at"),
  }));
  /** @param {any} cell @param {number} at @param {BucketBar} bucket */
  const list = (cell, at, bucket) => listExamples(board, task, name, cell, at, bucket);
  return element(
    "div",
    { "data-key": `${task}-${name}` },
    element("h2", {}, `${attribute.title}, ${cells.length} of ${plural(all.length, "language")}`),
    constant.length ? element("p", { class: "soft" }, `Constant in ${listed(constant)}.`) : null,
    edges
      ? element(
          "figure",
          {},
          element("figcaption", {}, "Edges for all languages"),
          edgeEditor({ name, cut, column, counts, edges }),
        )
      : null,
    element("div", { class: "charts" }, shareFigures(board, cutCells, list)),
    element("p", { class: "soft" }, "Percentage of examples. Select a bar to list its examples."),
    exampleSection(),
  );
}

// Charts on one scale; `list` shows the examples of a bar.
/** @param {Board} board @param {any[]} cells @param {any} list */
function shareFigures(board, cells, list) {
  const most = Math.max(...cells.flatMap(({ buckets }) => bucketShares(buckets)));
  return cells.map((cell) =>
    shareFigure(languageName(board, cell.code), cell.buckets, {
      most,
      click: (/** @type {any} */ { at, bucket }) => list(cell, at, bucket),
    }),
  );
}

/** @param {{ name: string, edges: string, n: number }[]} buckets */
function bucketShares(buckets) {
  const total = buckets.reduce((sum, { n }) => sum + n, 0);
  return buckets.map(({ n }) => (100 * n) / (total || 1));
}

/**
 * @param {string} title
 * @param {{ name: string, edges: string, n: number }[]} buckets
 * @param {{ click?: any, most?: number }} [options2]
 */
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

/**
 * @param {Board} board
 * @param {string} task
 * @param {string} name
 * @param {{ code: string, examples: CellExamples, codes: Uint16Array }} options3
 * @param {number} at
 * @param {BucketBar} bucket
 */
function listExamples(board, task, name, { code, examples, codes }, at, bucket) {
  const { shown, total } = listedExamples({ examples }, [], codes, at);
  const items = shown.map(({ example }) => {
    const text = examples.texts[example];
    return exampleItem(examples.ids[example], text ? [...Object.entries(text.inputs), ["gold", text.gold]] : [], code);
  });
  const title = `${taskName(board, task)}, ${languageName(board, code)}, ${name} ${bucket.name}`;
  showExamples(title, listedText(items.length, total, "examples with texts first"), items);
}

// Without either, show the bucket sizes of a selected system's analyses.
/** @param {Board} board @param {URLSearchParams} params */
async function explainedShares(board, params) {
  const id = params.get("system");
  const charts = id ? builtCharts("single", [], [await systemDetail(id)]) : [];
  if (!charts.length)
    return [
      element(
        "p",
        { class: "headline" },
        "Select a system with analyses on the leaderboard. ",
        link("#/", "Back to the leaderboard"),
      ),
    ];
  const task = chosenOf(params, "task", charts);
  const taskCharts = charts.filter((chart) => chart.task === task.chosen);
  const attribute = chosenOf(params, "attribute", taskCharts);
  const [{ metric }] = taskCharts;
  const shown = taskCharts.filter((chart) => chart.attribute === attribute.chosen && chart.metric === metric);
  return [
    element(
      "div",
      { class: "controls roomy" },
      chosenSelect("task", "Task", task, (name) => taskTitle(board, name)),
      chosenSelect("attribute", "Attribute", attribute),
    ),
    element(
      "div",
      { class: "charts" },
      shown.map((chart) => shareFigure(languageName(board, chart.language), chart.bars)),
    ),
  ];
}
