import { attributeTitle } from "./attribute_title.js";
import { cutRows, valueCounts } from "./buckets.js";
import { cellExamples } from "./cell_examples.js";
import { edgeEditor } from "./edge_editor.js";
import { exampleItem, exampleSection, listedText, showExamples } from "./example_list.js";
import { chosenCut, cutEdges, listedExamples } from "./live_buckets.js";
import { summaryOf, unevenText } from "./unevenness.js";
import { barChart, sharedScale } from "../charts/bars.js";
import { languageName, taskName } from "../board/decode.js";
import { manyControl } from "../page/controls.js";
import { countText, element, listed, plural, scoreText } from "../page/dom.js";

// Languages shown by default; each needs a file.
const DEFAULT_LANGUAGES = 6;
const MOST_VALUE_ROWS = 12;

// The examples of a task by language: the attributes that they have, a choice of languages, and the charts of an attribute.
/** @param {Board} board @param {URLSearchParams} params @param {string} task @param {{ attribute: string }[]} order */
export async function histogramPanel(board, params, task, order) {
  const all = board.examples?.[task] ?? [];
  const loaded = await chosenCells(task, all, params);
  const names = new Map(
    loaded.flatMap(({ examples }) => examples.attributes.map(({ name, title }) => [name, title])),
  );
  const known = new Set(order.map(({ attribute }) => attribute));
  return {
    attributes: [...names].filter(([name]) => !known.has(name)).map(([attribute, title]) => ({ attribute, title })),
    control: all.length > 1 ? languagesControl(board, all, params) : null,
    /** @param {string} name @param {boolean} told @returns {Child[]} */
    nodes: (name, told) =>
      names.has(name)
        ? [histograms(board, params, { task, name, cells: loaded, all, told })]
        : told
          ? [element("p", { class: "soft" }, `This board has no single examples of ${taskName(board, task)}.`)]
          : [],
  };
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

// The values in the order of their frequency in all languages, so that the charts have the same rows; rare ones share one.
/** @param {{ column: ValueColumn, counts: Float64Array }} part @param {Float64Array} counts of all languages */
function valueBuckets({ column, counts: own }, counts) {
  const order = column.values
    .map((_, place) => place)
    .filter((place) => counts[place] > 0)
    .sort((a, b) => counts[b] - counts[a] || a - b);
  const named = order.slice(0, MOST_VALUE_ROWS);
  const codeOf = column.values.map((_, place) => (named.includes(place) ? named.indexOf(place) : named.length));
  const buckets = named.map((place) => ({ name: column.values[place] || "none", edges: "", n: own[place] }));
  const rest = order.slice(MOST_VALUE_ROWS).reduce((sum, place) => sum + own[place], 0);
  if (order.length > MOST_VALUE_ROWS) buckets.push({ name: "rest", edges: "", n: rest });
  return { buckets, codes: Uint16Array.from(column.places, (place) => codeOf[place]) };
}

// A chart per language with the same edges and one axis; languages with a constant attribute are listed.
/**
 * @param {Board} board
 * @param {URLSearchParams} params
 * @param {{ task: string, name: string, cells: BiasCell[], all: string[], told: boolean }} chosen
 */
function histograms(board, params, { task, name, cells: loaded, all, told }) {
  /** @param {BiasCell} options */
  const attributeOf = ({ examples }) => examples.attributes.find((item) => item.name === name);
  const cells = loaded.flatMap((cell) => {
    const attribute = attributeOf(cell);
    return attribute ? [{ ...cell, attribute }] : [];
  });
  const constant = loaded.filter((cell) => !attributeOf(cell)).map(({ code }) => languageName(board, code));
  const { column, counts, parts } = joined(cells);
  const [{ attribute }] = cells;
  const cut = attribute.discrete ? null : chosenCut(params, name);
  const edges = attribute.discrete ? null : cutEdges(column, counts, cut);
  const figures = parts.map((part) => {
    const { buckets, codes } = edges
      ? cutRows(part.column, part.counts, edges, cut?.rule !== "at")
      : valueBuckets(part, counts);
    return { name: languageName(board, part.code), code: part.code, examples: part.examples, buckets, codes };
  });
  const summaries = parts.map((part) => ({
    name: languageName(board, part.code),
    ...summaryOf({ ...attribute, column: part.column }, part.counts),
  }));
  return element(
    "div",
    { "data-key": `${task}-${name}` },
    element("h2", {}, `${taskName(board, task)}: ${attribute.title}, ${cells.length} of ${plural(all.length, "language")}`),
    told ? null : element("p", { class: "headline" }, unevenText(attribute.title, summaries)),
    constant.length ? element("p", { class: "soft" }, `Constant in ${listed(constant)}.`) : null,
    edges
      ? element(
          "figure",
          {},
          element("figcaption", {}, "Edges for all languages"),
          edgeEditor({ name, cut, column, counts, edges }),
        )
      : null,
    element("p", { class: "soft" }, "Percentage of examples, on one axis. Select a row to show its examples."),
    element(
      "div",
      { class: "charts" },
      shareFigures(figures, (cell, at, bucket) => listExamples(board, task, attributeTitle(attribute.title), cell, at, bucket)),
    ),
    exampleSection(),
  );
}

/** @param {{ n: number }[]} buckets */
function bucketShares(buckets) {
  const total = buckets.reduce((sum, { n }) => sum + n, 0);
  return buckets.map(({ n }) => (100 * n) / (total || 1));
}

// A chart of bucket sizes per language on one axis; `list` shows the examples of a row.
/**
 * @template {{ name: string, buckets: { name: string, edges: string, n: number }[] }} T
 * @param {T[]} cells
 * @param {((cell: T, at: number, bucket: any) => void) | null} list
 */
export function shareFigures(cells, list) {
  const charts = cells.map((cell) => ({ cell, records: shareRecords(cell.buckets, list !== null) }));
  const alike = charts.flatMap(({ records }) => records);
  const scale = sharedScale(alike);
  return charts.map(({ cell, records }) =>
    element(
      "figure",
      {},
      element("figcaption", {}, cell.name),
      barChart({
        records,
        alike,
        scale,
        shares: true,
        description: cell.name,
        click: list && ((/** @type {any} */ { at, bucket }) => list(cell, at, bucket)),
      }),
    ),
  );
}

/** @param {{ name: string, edges: string, n: number }[]} buckets @param {boolean} lists @returns {BarRecord[]} */
function shareRecords(buckets, lists) {
  const total = buckets.reduce((sum, { n }) => sum + n, 0);
  const shares = bucketShares(buckets);
  return buckets.map((bucket, at) => ({
    bucket,
    at,
    label: bucket.edges ? `${bucket.name} ${bucket.edges}` : bucket.name,
    value: shares[at],
    n: bucket.n,
    lines: [
      `${bucket.name}${bucket.edges ? ` ${bucket.edges}` : ""}: ${scoreText(shares[at])} % of ${countText(total)}`,
      plural(bucket.n, "example"),
      lists ? "Select to show examples" : "No examples: this board has no texts of this task",
    ],
  }));
}

/**
 * @param {Board} board
 * @param {string} task
 * @param {string} name
 * @param {{ code: string, examples: CellExamples, codes: Uint16Array }} cell
 * @param {number} at
 * @param {BucketBar} bucket
 */
function listExamples(board, task, name, { code, examples, codes }, at, bucket) {
  const { shown, total } = listedExamples({ examples }, [], codes, at);
  const items = shown.map(({ example }) => {
    const text = examples.texts[example];
    return exampleItem(examples.ids[example], text ? [...Object.entries(text.inputs), ["gold", text.gold]] : [], code);
  });
  const title = `${taskName(board, task)}, ${languageName(board, code)}. ${name}: ${bucket.name} ${bucket.edges}`.trim();
  showExamples(title, listedText(items.length, total, "examples with texts first"), items);
}
