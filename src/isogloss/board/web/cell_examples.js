import { scriptFile } from "./decode.js";

// Single examples come in files of their own, one for each task and language, and one more for each system: only where
// anyone can have the labels.
const knownExamples = new Map();
const knownStatistics = new Map();
globalThis.isoglossExamples = (cell, found) => knownExamples.set(cell, openExamples(found));
globalThis.isoglossStatistics = (place, found) => knownStatistics.set(place, openStatistics(found));

function unpackedNumbers([width, text]) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  if (width === 1) return bytes;
  const numbers = new Uint32Array(bytes.length / width);
  for (let at = 0; at < bytes.length; at++) numbers[Math.floor(at / width)] += bytes[at] * 256 ** (at % width);
  return numbers;
}

const countUp = (length) => Uint32Array.from({ length }, (_, at) => at);

function openExamples(found) {
  const rows = found.rows ? unpackedNumbers(found.rows) : countUp(found.ids.length);
  const sourceOf = found.sources ? unpackedNumbers(found.sources) : countUp(found.ids.length);
  return {
    ...found,
    rows,
    rowSources: Uint32Array.from(rows, (example) => sourceOf[example]),
    sourceCount: sourceOf.reduce((most, source) => Math.max(most, source), -1) + 1,
    counted: found.counted ? unpackedNumbers(found.counted) : null,
    attributes: found.attributes.map(({ column: [values, packed], ...attribute }) => {
      const places = unpackedNumbers(packed);
      const ofRows = attribute.of_examples ? Uint32Array.from(rows, (example) => places[example]) : places;
      return { ...attribute, column: { values, places: ofRows } };
    }),
  };
}

// Columns with one value everywhere come without places: how long they are the examples tell.
const openStatistics = (found) => ({
  ...found,
  metrics: found.metrics.map((metric) => ({
    ...metric,
    columns: metric.columns.map(([values, places]) => ({ values, places: places && unpackedNumbers(places) })),
  })),
});

const filledColumn = ({ values, places }, length) =>
  places ? Float64Array.from(places, (place) => values[place]) : new Float64Array(length).fill(values[0]);

// What the examples of a cell are like; null where the site does not tell.
export async function cellExamples(task, language) {
  await scriptFile(`examples/${encodeURIComponent(task)}/${encodeURIComponent(language)}.js`);
  return knownExamples.get(`${task}/${language}`) ?? null;
}

// How systems did on the examples of a cell; null where the site does not tell it of each of them.
export async function cellStatistics(task, language, systems) {
  const [examples] = await Promise.all([
    cellExamples(task, language),
    ...systems.map(({ id }) =>
      scriptFile(`examples/${encodeURIComponent(task)}/${encodeURIComponent(language)}/${encodeURIComponent(id)}.js`),
    ),
  ]);
  const found = systems.map(({ id }) => knownStatistics.get(`${task}/${language}/${id}`));
  if (!examples || found.some((each) => !each)) return null;
  return {
    examples,
    systems: found.map(({ metrics, answers }) => ({
      answers,
      metrics: metrics.map((metric) => ({
        ...metric,
        columns: metric.columns.map((column) => filledColumn(column, examples.rows.length)),
      })),
    })),
  };
}
