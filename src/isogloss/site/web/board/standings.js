import { CELL_FILTERS, chosenColumns, filteredCells, keptSystems, narrowedCells } from "./filters.js";
import {
  BY_LANGUAGE,
  RANKINGS,
  columnScores,
  groupedBy,
  memoized,
  overallFigure,
  partialMean,
  ranksOf,
  weightedMean,
} from "./ranking.js";
import { segmentOf } from "./segments.js";
import { NO_ORDER, testedOrder, withUntested } from "./tested_order.js";

// Larger rankings are tested after the table is drawn.
const QUICKLY_TESTED = 60;

/** @param {Board} board @param {URLSearchParams} params */
const chosenRanking = (board, params) => params.get("ranking") ?? board.rule.name;

export const MOST_WEIGHT = 5;

// The reader's weights, `w=xnli:2` in the address; the default is 1.
/** @param {URLSearchParams} params @returns {Record<string, number>} */
export const chosenWeights = (params) =>
  Object.fromEntries(
    params.getAll("w").map((item) => {
      const [id, weight] = item.split(":");
      return [id, Math.min(MOST_WEIGHT, Math.max(0, Number(weight) || 0))];
    }),
  );

// With one category, these rankings are its average; with one task, the task.
/** @param {string} ranking */
const isTaskMean = (ranking) => ["category", "flat"].includes(ranking);

// The score columns: overall, then each category with several tasks, followed by its tasks. A part with one category has no
// second average, and one with one task has none, unless the ranking is not a mean over tasks.
/** @param {Board} board @param {CellColumn[]} columns @param {string} ranking @returns {ScoreColumn[]} */
function scoreColumns(board, columns, ranking) {
  const part = columns.length < board.tasks.length;
  const groups = groupedBy(columns, ({ task }) => task.category);
  const [single] = groups.keys();
  const isAverage = part && groups.size === 1 && isTaskMean(ranking);
  /** @type {any[]} */
  const shown = [{ id: "overall", title: isAverage ? "Average" : "Overall", kind: "overall" }];
  if (isAverage) Object.assign(shown[0], { group: single });
  for (const [name, group] of groups) {
    if (group.length > 1 && !isAverage)
      shown.push({ id: name, title: "Avg", kind: "category", category: name, parts: group });
    for (const own of group)
      shown.push({ id: own.task.id, title: own.task.name, kind: "task", category: name, part: own });
  }
  return part && columns.length === 1 && isTaskMean(ranking) ? shown.slice(1) : shown;
}

/** @param {number} value @param {Partial<Figure>} [extra] @returns {Figure} */
const figureOf = (value, extra = {}) => ({ value, low: NaN, high: NaN, partial: false, n: 0, of: 0, ...extra });

// The published average with its interval, for a column with all its cells selected.
/** @param {Board} board @param {string} name @param {System} system @returns {Figure | null} */
function boardFigure(board, name, system) {
  const column = board.averages.get(name);
  return column && !Number.isNaN(column.value[system.at])
    ? figureOf(column.value[system.at], { low: column.low[system.at], high: column.high[system.at] })
    : null;
}

// A task in all its languages uses the published average, which can exist without cells.
/** @param {Board} board @param {System} system @param {CellColumn} column */
function taskFigure(board, system, column) {
  const ready = column.whole ? boardFigure(board, column.task.id, system) : null;
  if (ready) return ready;
  const scores = columnScores(system, column);
  const mean = weightedMean(scores);
  if (!Number.isNaN(mean)) return figureOf(mean);
  const { value, n } = partialMean(scores);
  return figureOf(value, { partial: n > 0, n, of: column.codes.length });
}

/**
 * @param {Board} board
 * @param {string} name
 * @param {CellColumn[]} group
 * @param {Figures} figures
 * @param {System} system
 */
function categoryFigure(board, name, group, figures, system) {
  const whole =
    group.every((column) => column.whole) &&
    board.categories.find((category) => category.name === name)?.tasks.length === group.length;
  const ready = whole ? boardFigure(board, name, system) : null;
  const parts = group.map(({ task }) => figures.get(task.id));
  return ready ?? figureOf(parts.some(({ partial }) => partial) ? NaN : weightedMean(parts.map(({ value }) => value)));
}

/**
 * @param {Board} board
 * @param {System} system
 * @param {CellColumn[]} columns
 * @param {ScoreColumn[]} shown
 * @param {Choice} choice
 * @returns {Unranked}
 */
function systemStanding(board, system, columns, shown, choice) {
  /** @type {any} */
  const figures = new Map(columns.map((column) => [column.task.id, taskFigure(board, system, column)]));
  for (const column of shown) {
    if (column.kind === "category")
      figures.set(column.id, categoryFigure(board, column.id, column.parts, figures, system));
  }
  figures.set(
    "overall",
    readyOverall(board, system, columns, figures, choice) ??
      figureOf(overallOf(board, system, columns, figures, choice)),
  );
  return { system, figures, cells: system.cells, lacking: () => lackingCells(system, columns, figures) };
}

// The published overall score; of a category, its published average.
/** @param {Board} board @param {System} system @param {CellColumn[]} columns @param {Figures} figures @param {Choice} choice */
function readyOverall(board, system, columns, figures, choice) {
  if (!choice.narrowed) return choice.ranking === board.rule.name ? boardFigure(board, "overall", system) : null;
  const [first, ...others] = columns;
  if (!first || !isTaskMean(choice.ranking)) return null;
  if (others.some(({ task }) => task.category !== first.task.category)) return null;
  return categoryFigure(board, first.task.category, columns, figures, system);
}

/**
 * @param {Board} board
 * @param {System} system
 * @param {CellColumn[]} columns
 * @param {Figures} figures
 * @param {Choice} options4
 */
function overallOf(board, system, columns, figures, { ranking, weights }) {
  const byLanguage = BY_LANGUAGE.includes(ranking);
  const parts = columns.map((column) => {
    const { value, partial } = figures.get(column.task.id);
    const scores = byLanguage ? columnScores(system, column, true) : [];
    return {
      id: column.task.id,
      category: column.task.category,
      codes: column.codes,
      scores,
      figure: partial ? NaN : value,
    };
  });
  const lower = columns.every(({ task }) => task.lower_is_better);
  return overallFigure(ranking, parts, { language: board.language, weights, lower });
}

// The scores of all systems for a selection of cells and a ranking, kept while only systems are filtered or sorted.
/** @type {FiguresCache | null} */
let lastFigures = null;

/** @param {Board} board @param {URLSearchParams} params */
function systemFigures(board, params) {
  const segment = segmentOf(board, params.get("segment"));
  const key = [...CELL_FILTERS.map((filter) => filter.key), "ranking", "w"]
    .map((name) => JSON.stringify(params.getAll(name)))
    .concat(segment.id)
    .join();
  if (lastFigures?.key === key && lastFigures.board === board) return lastFigures;
  const columns = chosenColumns(board, params);
  const ranking = RANKINGS.find(({ id }) => id === chosenRanking(board, params)) ?? RANKINGS[0];
  const shown = scoreColumns(board, columns, ranking.id);
  const choice = {
    ranking: ranking.id,
    title: ranking.title,
    hint: ranking.hint,
    weights: chosenWeights(params),
    narrowed: narrowedCells(board, params),
    filtered: filteredCells(params),
    segment,
    tasks: params.getAll("task"),
    languages: params.getAll("language"),
  };
  for (const column of shown) column.lower = lowerIsBetter(column, columns, ranking);
  const rows = board.systems.map((system) => systemStanding(board, system, columns, shown, choice));
  lastFigures = { key, board, columns, shown, ranking, choice, rows };
  return lastFigures;
}

// The selected cells that a system lacks, by task.
/** @param {System} system @param {CellColumn[]} columns @param {Figures} figures */
function lackingCells(system, columns, figures) {
  return columns
    .filter(({ task }) => figures.get(task.id).partial || Number.isNaN(figures.get(task.id).value))
    .map((column) => {
      const scores = columnScores(system, column);
      return { column, codes: column.codes.filter((_, place) => Number.isNaN(scores[place])) };
    })
    .filter(({ codes }) => codes.length);
}

// Parameters that change how a table is shown, not what it holds.
const NOT_RANKED = ["tick", "page", "view", "dir", "hide", "also", "x", "y", "all", "partial", "coverage"];

// The last two tables, kept while only selected rows, the page or the view change: the page's, and that of its findings.
const MOST_KEPT = 2;
/** @type {{ key: string, board: Board, table: Standings }[]} */
let lastTables = [];

// With more of them, systems scored here have no section of their own.
const MOST_OWN = 10;

// A few systems scored here, next to systems from papers: their owner looks for them, wherever they rank.
/** @type {(board: Board) => Set<System>} */
export const pinnedSystems = memoized((board) => {
  const own = board.systems.filter(({ reported }) => !reported);
  return new Set(own.length <= MOST_OWN && own.length < board.systems.length ? own : []);
});

// Rank the matching systems by the sort column; systems without a complete value there have no rank. `complete` keeps the
// systems with every score of the selection, and own systems with any; the others are `dropped`.
/** @param {Board} board @param {URLSearchParams} params @returns {Standings} */
export function standings(board, params) {
  const filters = new URLSearchParams(params);
  for (const name of NOT_RANKED) filters.delete(name);
  const key = filters.toString();
  const ready = lastTables.find((last) => last.key === key && last.board === board);
  const own = ready ?? { key, board, table: makeTable(board, params) };
  lastTables = [own, ...lastTables.filter((last) => last !== own)].slice(0, MOST_KEPT);
  return own.table;
}

/** @param {Board} board @param {URLSearchParams} params @returns {Standings} */
function makeTable(board, params) {
  const { columns, shown, choice, rows: all } = systemFigures(board, params);
  /** @type {Standing[]} */
  const kept = keptSystems(board, params).map(({ at }) => ({ ...all[at], rank: null }));
  const own = pinnedSystems(board);
  const isShown = params.get("complete")
    ? (/** @type {Standing} */ row) => isComplete(row, columns) || (own.has(row.system) && hasFigures(row, columns))
    : () => true;
  const rows = kept.filter(isShown);
  const by = shown.find(({ id }) => id === (params.get("sort") ?? "overall")) ?? shown[0];
  const values = rows.map((row) => wholeValue(row, by.id) ?? NaN);
  const built = by.id === "overall" && !choice.narrowed ? board.ranks[choice.ranking] : undefined;
  const ranks = exactRanks(built, rows, values) ?? ranksOf(values, by.lower);
  rows.forEach((row, at) => {
    row.rank = ranks[at];
  });
  const ranked = ranks.filter((rank) => rank !== null).length;
  /** @type {Standings} */
  const table = {
    ...{ board, columns, shown, rows, everyone: all, by, choice, values, ranked },
    dropped: kept.filter((row) => !isShown(row)),
    ...{ order: NO_ORDER, testRanks: null },
  };
  const ready = built && kept.length === board.systems.length ? builtOrder(table, built) : null;
  const test = () => {
    table.order = testedOrder(table);
    table.testRanks = null;
  };
  if (ready) table.order = ready;
  else if (ranked <= QUICKLY_TESTED) test();
  else table.testRanks = test;
  return table;
}

/** @param {ScoreColumn} options @param {CellColumn[]} columns @param {{ lower?: boolean }} ranking */
function lowerIsBetter({ kind, part, parts }, columns, ranking) {
  if (kind === "task") return part.task.lower_is_better;
  if (kind === "overall" && ranking.lower) return true;
  return (parts ?? columns).every(({ task }) => task.lower_is_better);
}

/** @param {Standing} row @param {CellColumn[]} columns */
const hasFigures = ({ figures }, columns) => columns.some(({ task }) => !Number.isNaN(figures.get(task.id).value));

/** @param {Standing} row @param {string} id */
export const wholeValue = (row, id) => {
  const figure = row.figures.get(id);
  return !figure || figure.partial || Number.isNaN(figure.value) ? null : figure.value;
};

// An average can be published without those of its tasks.
/** @param {Unranked} row @param {CellColumn[]} columns */
const isComplete = ({ figures }, columns) =>
  !Number.isNaN(figures.get("overall").value) ||
  (columns.length > 0 &&
    columns.every(({ task }) => !figures.get(task.id).partial && !Number.isNaN(figures.get(task.id).value)));

// The build ranks exact scores, which the page has rounded to hundredths: rank a selection of systems by them.
/** @param {BoardRanks | undefined} built @param {Standing[]} rows @param {number[]} values */
function exactRanks(built, rows, values) {
  const exact = rows.map(({ system }, at) => (Number.isNaN(values[at]) ? NaN : (built?.rank[system.at] ?? null)));
  return exact.includes(null) ? null : ranksOf(/** @type {number[]} */ (exact), true);
}

// For the whole board, use the test from the build.
/** @param {Standings} options @param {BoardRanks} built @returns {TestedOrder} */
function builtOrder({ board, rows }, built) {
  /** @type {[string, Interval][]} */
  const ranges = rows
    .filter(({ system: { at } }) => built.low[at])
    .map(({ system: { id, at } }) => [id, [Number(built.low[at]), Number(built.high[at])]]);
  const groups = built.groups.map((group) => group.map((at) => board.systems[at].id));
  const ranked = rows.filter(({ rank }) => rank !== null).map(({ system }) => system);
  return withUntested(board, ranked, { test: built.test, ranges: new Map(ranges), groups });
}
