import { metricTitle, metricsOf } from "./decode.js";
import { NOT_DISCLOSED } from "./describe.js";
import { missing, scriptName } from "../page/dom.js";
import { groupedBy } from "./ranking.js";
import { FULL, segmentOf } from "./segments.js";

/** @param {any} value */
const yesOrNo = (value) =>
  value === null || value === undefined ? NOT_DISCLOSED : value === false || value === "" || value === "none" ? "no" : "yes";

// The system filters: parameter, label, and a system's value.
/** @type {{ key: string, label: string, says: (system: System) => string, options?: undefined }[]} */
export const SYSTEM_FILTERS = [
  { key: "year", label: "Year", says: (system) => String(system.year ?? NOT_DISCLOSED) },
  { key: "kind", label: "Kind", says: (system) => system.kind },
  { key: "regime", label: "Regime", says: (system) => system.regime ?? NOT_DISCLOSED },
  { key: "open", label: "Open weights", says: (system) => yesOrNo(system.open_weights) },
  { key: "parallel", label: "Parallel data", says: (system) => yesOrNo(system.parallel_data) },
  { key: "translated", label: "Translated data", says: (system) => yesOrNo(system.translated_data) },
  { key: "origin", label: "Scores", says: (system) => (system.reported ? "reported" : "scored here") },
  {
    key: "contamination",
    label: "Contamination",
    says: (system) => (system.contamination ? "flagged" : "none declared"),
  },
];

// The cell filters, which select tasks and languages.
/** @type {{ key: string, label: string, options: (board: Board) => Option[] }[]} */
export const CELL_FILTERS = [
  { key: "task", label: "Task", options: (board) => board.tasks.map((task) => [task.id, task.name]) },
  { key: "metric", label: "Metric", options: (board) => metricNames(board).map((name) => [name, metricTitle(name)]) },
  {
    key: "language",
    label: "Language",
    options: (board) => board.languages.map(({ code, name }) => [code, `${name} (${code})`]),
  },
  { key: "family", label: "Family", options: (board) => counted(board.languages, "family") },
  { key: "script", label: "Script", options: (board) => counted(board.languages, "script", scriptName) },
];
export const FILTER_KEYS = [...SYSTEM_FILTERS, ...CELL_FILTERS]
  .map(({ key }) => key)
  .concat("q", "pmin", "pmax");

/** @param {Board} board */
const metricNames = (board) => [...new Set(board.tasks.flatMap(metricsOf))].sort();
/**
 * @param {Language[]} items
 * @param {'family' | 'script'} key
 * @param {(name: string) => string} [title]
 * @returns {Option[]}
 */
const counted = (items, key, title = (name) => name) =>
  [...groupedBy(items, (item) => item[key])]
    .map(([name, group]) => [name, `${title(name)} (${group.length})`])
    .sort(([, a], [, b]) => a.localeCompare(b));

/** @param {Board} board @param {{ says: (system: System) => string }} filter @returns {Option[]} */
export function systemOptions(board, filter) {
  const groups = [...groupedBy(board.systems, filter.says)];
  return groups
    .sort(([a], [b]) => Number(a === NOT_DISCLOSED) - Number(b === NOT_DISCLOSED) || a.localeCompare(b))
    .map(([name, group]) => [name, `${name} (${group.length})`]);
}

// The selected tasks of the chosen segment, each with its selected languages.
/** @param {Board} board @param {URLSearchParams} params @returns {CellColumn[]} */
export function chosenColumns(board, params) {
  const segment = segmentOf(board, params.get("segment"));
  /** @param {string} key */
  const wanted = (key) => new Set(params.getAll(key));
  const [tasks, metrics, languages, families, scripts] = CELL_FILTERS.map(({ key }) => wanted(key));
  /** @param {Set<string>} set @param {any} value */
  const fits = (set, value) => !set.size || set.has(value);
  const codes = new Set(
    board.languages
      .filter(({ code, family, script }) => fits(languages, code) && fits(families, family) && fits(scripts, script))
      .map(({ code }) => code),
  );
  return board.tasks
    .filter(({ id }) => segment.tasks.includes(id))
    .filter((task) => fits(tasks, task.id) && (!metrics.size || metricsOf(task).some((name) => metrics.has(name))))
    .map((task) => {
      const selected = task.languages.filter((code) => codes.has(code));
      return {
        task,
        codes: selected,
        places: selected.map((code) => task.languages.indexOf(code)),
        ...shownScores(board, task, selected, metrics),
      };
    })
    .filter((column) => column.codes.length);
}

// A task in all its languages and its main metric is `whole`: it has a published average. A task that averages several
// metrics shows one of them if only that one is selected, or if some languages are selected that papers report in one metric.
/** @param {Board} board @param {Task} task @param {string[]} selected @param {Set<string>} metrics */
function shownScores(board, task, selected, metrics) {
  const chosen = metricsOf(task).filter((name) => metrics.has(name));
  const single =
    chosen.length === 1 && metricsOf(task).length > 1 ? board.single.get(`${task.id}:${chosen[0]}`) : undefined;
  if (single) return { whole: false, scores: single, metric: chosen[0] };
  const whole = selected.length === task.languages.length;
  return whole ? { whole, scores: task.scores, metric: "" } : { whole, scores: task.cells, metric: task.cellMetric };
}

/** @param {Board} board @param {URLSearchParams} params */
export function keptSystems(board, params) {
  const sets = SYSTEM_FILTERS.map((filter) => ({ filter, set: new Set(params.getAll(filter.key)) })).filter(
    ({ set }) => set.size,
  );
  const words = (params.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const [least, most] = ["pmin", "pmax"].map((key) => (params.get(key) ? 1e6 * Number(params.get(key)) : null));
  return board.systems.filter((system) => {
    if (least !== null && !((system.parameters ?? NaN) >= least)) return false;
    if (most !== null && (missing(system.parameters) || system.parameters > most)) return false;
    if (!sets.every(({ filter, set }) => set.has(filter.says(system)))) return false;
    const text = words.length
      ? `${system.name} ${system.paper ?? ""} ${system.regime} ${system.kind}`.toLowerCase()
      : "";
    return words.every((word) => text.includes(word));
  });
}

// Return true if a filter selects cells.
/** @param {URLSearchParams} params */
export const filteredCells = (params) => CELL_FILTERS.some(({ key }) => params.has(key));

// Return true if the ranking is not that of the full benchmark.
/** @param {Board} board @param {URLSearchParams} params */
export const narrowedCells = (board, params) =>
  filteredCells(params) || segmentOf(board, params.get("segment")).id !== FULL;
