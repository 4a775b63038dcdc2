import { scriptFile } from "../board/decode.js";

// Single examples come in separate files, one per task and language, and one more per system, for public labels only.
/** @type {Map<string, CellExamples>} */
const examplesByCell = new Map();
/** @type {Map<string, ReturnType<typeof openStatistics>>} */
const statisticsByPath = new Map();
globalThis.isoglossExamples = (cell, packed) => examplesByCell.set(cell, openExamples(packed));
globalThis.isoglossStatistics = (path, packed) => statisticsByPath.set(path, openStatistics(packed));

/** @param {PackedNumbers} options */
function unpackedNumbers([width, text]) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  if (width === 1) return bytes;
  const numbers = new Uint32Array(bytes.length / width);
  for (let at = 0; at < bytes.length; at++) numbers[Math.floor(at / width)] += bytes[at] * 256 ** (at % width);
  return numbers;
}

/** @param {number} length */
const countUp = (length) => Uint32Array.from({ length }, (_, at) => at);

/** @param {PackedExamples} packed @returns {CellExamples} */
function openExamples(packed) {
  const rows = packed.rows ? unpackedNumbers(packed.rows) : countUp(packed.ids.length);
  const sourceOf = packed.sources ? unpackedNumbers(packed.sources) : countUp(packed.ids.length);
  return {
    ...packed,
    rows,
    rowSources: Uint32Array.from(rows, (example) => sourceOf[example]),
    sourceCount: Array.from(sourceOf).reduce((most, source) => Math.max(most, source), -1) + 1,
    counted: packed.counted ? unpackedNumbers(packed.counted) : null,
    attributes: packed.attributes.map(({ column: [values, numbers], ...attribute }) => {
      const places = numbers ? unpackedNumbers(numbers) : new Uint8Array(packed.ids.length);
      const ofRows = attribute.of_examples ? Uint32Array.from(rows, (example) => places[example]) : places;
      return { ...attribute, column: { values, places: ofRows } };
    }),
  };
}

// Constant columns come without places; the examples give their length.
/** @param {StatisticsOf<PackedColumn>} packed */
const openStatistics = (packed) => ({
  ...packed,
  metrics: packed.metrics.map((metric) => ({
    ...metric,
    columns: metric.columns.map(([values, places]) => ({ values, places: places && unpackedNumbers(places) })),
  })),
});

/** @param {{ values: any[], places: Uint8Array | Uint32Array | null }} options @param {number} length */
const filledColumn = ({ values, places }, length) =>
  places ? Float64Array.from(places, (place) => values[place]) : new Float64Array(length).fill(values[0]);

// Load the examples of a cell; null if the site lacks them.
/** @param {string} task @param {string} language @returns {Promise<CellExamples | null>} */
export async function cellExamples(task, language) {
  await scriptFile(`examples/${encodeURIComponent(task)}/${encodeURIComponent(language)}.js`);
  return examplesByCell.get(`${task}/${language}`) ?? null;
}

// The last cell, kept while edges move.
/** @type {{ key: string, cell: Promise<LiveCell | null> }} */
let lastStatistics = { key: "", cell: Promise.resolve(null) };

// Load the per-example results of systems on a cell; null if any is missing.
/** @param {string} task @param {string} language @param {System[]} systems @returns {Promise<LiveCell | null>} */
export function cellStatistics(task, language, systems) {
  const key = JSON.stringify([task, language, ...systems.map(({ id }) => id)]);
  if (lastStatistics.key !== key) lastStatistics = { key, cell: openCell(task, language, systems) };
  return lastStatistics.cell;
}

/** @param {string} task @param {string} language @param {System[]} systems @returns {Promise<LiveCell | null>} */
async function openCell(task, language, systems) {
  const [examples] = await Promise.all([
    cellExamples(task, language),
    ...systems.map(({ id }) =>
      scriptFile(`examples/${encodeURIComponent(task)}/${encodeURIComponent(language)}/${encodeURIComponent(id)}.js`),
    ),
  ]);
  const statistics = systems.flatMap(({ id }) => statisticsByPath.get(`${task}/${language}/${id}`) ?? []);
  if (!examples || statistics.length < systems.length) return null;
  return {
    examples,
    systems: statistics.map(({ metrics, answers }) => ({
      answers,
      metrics: metrics.map((metric) => ({
        ...metric,
        columns: metric.columns.map((column) => filledColumn(column, examples.rows.length)),
      })),
    })),
  };
}
