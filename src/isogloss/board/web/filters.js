import { metricTitle, metricsOf } from "./decode.js";
import { missing, scriptName } from "./dom.js";
import { groupedBy } from "./ranking.js";

const UNKNOWN = "not disclosed";
const answered = (value) =>
  value === null || value === undefined ? UNKNOWN : value === false || value === "" || value === "none" ? "no" : "yes";

// Every filter of systems: the parameter of the address, its label, and what a system says to it.
export const SYSTEM_FILTERS = [
  { key: "year", label: "Year", says: (system) => String(system.year ?? UNKNOWN) },
  { key: "kind", label: "Kind", says: (system) => system.kind },
  { key: "regime", label: "Regime", says: (system) => system.regime ?? UNKNOWN },
  { key: "open", label: "Open weights", says: (system) => answered(system.open_weights) },
  { key: "parallel", label: "Parallel data", says: (system) => answered(system.parallel_data) },
  { key: "translated", label: "Translated data", says: (system) => answered(system.translated_data) },
  { key: "origin", label: "Figures", says: (system) => (system.reported ? "reported" : "scored here") },
  {
    key: "contamination",
    label: "Contamination",
    says: (system) => (system.contamination ? "flagged" : "none declared"),
  },
];

// Filters of columns: they choose the cells that figures are made from.
export const CELL_FILTERS = [
  { key: "task", label: "Task", options: (board) => board.tasks.map((task) => [task.id, task.name]) },
  { key: "metric", label: "Metric", options: (board) => metricNames(board).map((name) => [name, metricTitle(name)]) },
  {
    key: "language",
    label: "Language",
    options: (board) => board.languages.map((each) => [each.code, `${each.name} (${each.code})`]),
  },
  { key: "family", label: "Family", options: (board) => counted(board.languages, "family") },
  { key: "script", label: "Script", options: (board) => counted(board.languages, "script", scriptName) },
];
export const FILTER_KEYS = [...SYSTEM_FILTERS, ...CELL_FILTERS]
  .map(({ key }) => key)
  .concat("q", "pmin", "pmax", "complete");

const metricNames = (board) => [...new Set(board.tasks.flatMap(metricsOf))].sort();
const counted = (items, key, title = (name) => name) =>
  [...groupedBy(items, (item) => item[key])]
    .map(([name, group]) => [name, `${title(name)} (${group.length})`])
    .sort(([, a], [, b]) => a.localeCompare(b));

export function systemOptions(board, filter) {
  const groups = [...groupedBy(board.systems, filter.says)];
  return groups
    .sort(([a], [b]) => (a === UNKNOWN) - (b === UNKNOWN) || a.localeCompare(b))
    .map(([name, group]) => [name, `${name} (${group.length})`]);
}

// The columns that the cell filters leave: tasks, with the languages of each, and whether these are all it has.
export function chosenColumns(board, params) {
  const wanted = (key) => new Set(params.getAll(key));
  const [tasks, metrics, languages, families, scripts] = CELL_FILTERS.map(({ key }) => wanted(key));
  const fits = (set, value) => !set.size || set.has(value);
  const codes = new Set(
    board.languages
      .filter((each) => fits(languages, each.code) && fits(families, each.family) && fits(scripts, each.script))
      .map((each) => each.code),
  );
  return board.tasks
    .filter((task) => fits(tasks, task.id) && (!metrics.size || metricsOf(task).some((name) => metrics.has(name))))
    .map((task) => {
      const kept = task.languages.filter((code) => codes.has(code));
      return {
        task,
        codes: kept,
        places: kept.map((code) => task.place.get(code)),
        ...shownScores(board, task, kept, metrics),
      };
    })
    .filter((column) => column.codes.length);
}

// All languages of a task in its own metric have the board's average (`whole`). A task that averages several metrics shows
// one of them, if only that one is chosen, or if some languages are, which papers print in that one alone.
function shownScores(board, task, kept, metrics) {
  const chosen = metricsOf(task).filter((name) => metrics.has(name));
  const single =
    chosen.length === 1 && metricsOf(task).length > 1 ? board.single.get(`${task.id}:${chosen[0]}`) : undefined;
  if (single) return { whole: false, scores: single, metric: chosen[0] };
  const whole = kept.length === task.languages.length;
  return whole ? { whole, scores: task.scores, metric: "" } : { whole, scores: task.cells, metric: task.cellMetric };
}

export function keptSystems(board, params) {
  const sets = SYSTEM_FILTERS.map((filter) => [filter, new Set(params.getAll(filter.key))]).filter(
    ([, set]) => set.size,
  );
  const words = (params.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const [least, most] = ["pmin", "pmax"].map((key) => (params.get(key) ? 1e6 * Number(params.get(key)) : null));
  return board.systems.filter((system) => {
    if (least !== null && !(system.parameters >= least)) return false;
    if (most !== null && (missing(system.parameters) || system.parameters > most)) return false;
    if (!sets.every(([filter, set]) => set.has(filter.says(system)))) return false;
    const text = words.length
      ? `${system.name} ${system.paper ?? ""} ${system.regime} ${system.kind}`.toLowerCase()
      : "";
    return words.every((word) => text.includes(word));
  });
}

// Whether any filter makes this a board of fewer systems, or of fewer cells.
export const narrowedCells = (params) => CELL_FILTERS.some(({ key }) => params.has(key));
