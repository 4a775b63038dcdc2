import { CELL_FILTERS, chosenColumns, keptSystems, narrowedCells } from "./filters.js";
import {
  BY_LANGUAGE,
  RANKINGS,
  columnScores,
  groupedBy,
  overallFigure,
  partialMean,
  rankIntervals,
  ranksOf,
  weightedMean,
} from "./ranking.js";
import { drawnRankIntervals } from "./rank_draws.js";

const chosenRanking = (board, params) => params.get("ranking") ?? board.rule.name;

// Weights that the reader set: `w=xnli:2` in the address; a task weighs 1 otherwise.
export const chosenWeights = (params) =>
  Object.fromEntries(
    params.getAll("w").map((each) => {
      const [id, weight] = each.split(":");
      return [id, Math.max(0, Number(weight) || 0)];
    }),
  );

// The columns of scores: overall, then each category that averages several tasks, followed by its tasks.
function scoreColumns(board, columns) {
  const found = [{ id: "overall", title: "Overall", kind: "overall" }];
  for (const [name, group] of groupedBy(columns, ({ task }) => task.category)) {
    if (group.length > 1) found.push({ id: name, title: "Avg", kind: "category", category: name, parts: group });
    for (const part of group)
      found.push({ id: part.task.id, title: part.task.name, kind: "task", category: name, part });
  }
  return found;
}

const figureOf = (value, extra = {}) => ({ value, low: NaN, high: NaN, partial: false, ...extra });

// The board's own average with its interval, for a column whose cells are all chosen.
function boardFigure(board, name, system) {
  const column = board.averages.get(name);
  return column && !Number.isNaN(column.value[system.at])
    ? figureOf(column.value[system.at], { low: column.low[system.at], high: column.high[system.at] })
    : null;
}

// A task in all its languages has the board's own average, which may be known where cells are not.
function taskFigure(board, system, column) {
  const ready = column.whole ? boardFigure(board, column.task.id, system) : null;
  if (ready) return ready;
  const scores = columnScores(system, column);
  const mean = weightedMean(scores);
  if (!Number.isNaN(mean)) return figureOf(mean);
  const { value, n } = partialMean(scores);
  return figureOf(value, { partial: n > 0, n, of: column.codes.length });
}

function categoryFigure(board, name, group, figures, system) {
  const whole =
    group.every((column) => column.whole) &&
    board.categories.find((each) => each.name === name)?.tasks.length === group.length;
  const ready = whole ? boardFigure(board, name, system) : null;
  const parts = group.map(({ task }) => figures.get(task.id));
  return ready ?? figureOf(parts.some(({ partial }) => partial) ? NaN : weightedMean(parts.map(({ value }) => value)));
}

function systemStanding(board, system, columns, shown, choice) {
  const figures = new Map(columns.map((column) => [column.task.id, taskFigure(board, system, column)]));
  for (const column of shown) {
    if (column.kind === "category")
      figures.set(column.id, categoryFigure(board, column.id, column.parts, figures, system));
  }
  const ready = choice.narrowed || choice.ranking !== board.rule.name ? null : boardFigure(board, "overall", system);
  figures.set("overall", ready ?? figureOf(overallOf(board, system, columns, figures, choice)));
  return { system, figures, cells: system.cells, lacking: () => lackingCells(system, columns, figures) };
}

function overallOf(board, system, columns, figures, { ranking, weights }) {
  const byLanguage = BY_LANGUAGE.includes(ranking);
  const parts = columns.map((column) => {
    const { value, partial } = figures.get(column.task.id);
    const scores = byLanguage ? columnScores(system, column, true) : null;
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

// The figures of all systems for a choice of cells and a ranking: other filters, orders and pages only choose among them.
let lastFigures = { key: null };

function systemFigures(board, params) {
  const key = [...CELL_FILTERS.map((filter) => filter.key), "ranking", "w"]
    .map((name) => JSON.stringify(params.getAll(name)))
    .join();
  if (lastFigures.key === key && lastFigures.board === board) return lastFigures;
  const columns = chosenColumns(board, params);
  const shown = scoreColumns(board, columns);
  const ranking = RANKINGS.find(({ id }) => id === chosenRanking(board, params)) ?? RANKINGS[0];
  const choice = {
    ranking: ranking.id,
    title: ranking.title,
    hint: ranking.hint,
    weights: chosenWeights(params),
    narrowed: narrowedCells(params),
  };
  for (const column of shown) column.lower = lowerIsBetter(column, columns, ranking);
  const rows = board.systems.map((system) => systemStanding(board, system, columns, shown, choice));
  lastFigures = { key, board, columns, shown, ranking, choice, rows };
  return lastFigures;
}

// The chosen cells that a system does not have, by task; asked for only where they are named.
function lackingCells(system, columns, figures) {
  return columns
    .filter(({ task }) => figures.get(task.id).partial || Number.isNaN(figures.get(task.id).value))
    .map((column) => {
      const scores = columnScores(system, column);
      return { column, codes: column.codes.filter((_, place) => Number.isNaN(scores[place])) };
    })
    .filter(({ codes }) => codes.length);
}

// All rows of the leaderboard with their ranks: by the score column that the table is sorted by, over the systems that
// the filters leave and that have a whole figure there.
export function standings(board, params) {
  const { columns, shown, ranking, choice, rows: all } = systemFigures(board, params);
  let rows = keptSystems(board, params).map(({ at }) => ({ ...all[at] }));
  const visible = shown.filter(({ id }) => !params.getAll("hide").includes(id));
  if (params.get("complete")) rows = rows.filter((row) => visible.every(({ id }) => wholeValue(row, id) !== null));
  const by = shown.find(({ id }) => id === (params.get("sort") ?? "overall")) ?? shown[0];
  const values = rows.map((row) => wholeValue(row, by.id) ?? NaN);
  const ranks = ranksOf(values, by.lower);
  rows.forEach((row, at) => {
    row.rank = ranks[at];
  });
  const table = { board, columns, shown, rows, by, choice, values };
  table.ranked = ranks.filter((rank) => rank !== null).length;
  const ready = builtRanges(table, rows.length === board.systems.length);
  if (ready) setRanges(table, ready, DRAWN);
  else setRanges(table, leftOpen(table), "the ranks that the intervals of the scores leave open");
  table.drawRanges = ready ? null : () => drawRanges(table);
  return table;
}

function lowerIsBetter({ kind, part, parts }, columns, ranking) {
  if (kind === "task") return part.task.lower_is_better;
  if (kind === "overall" && ranking.lower) return true;
  return (parts ?? columns).every(({ task }) => task.lower_is_better);
}

export const wholeValue = (row, id) => {
  const figure = row.figures.get(id);
  return !figure || figure.partial || Number.isNaN(figure.value) ? null : figure.value;
};

const DRAWN = "95 % of its ranks if other languages are drawn";

function setRanges(table, ranges, hint) {
  table.rangeHint = hint;
  table.rows.forEach((row, at) => {
    row.range = ranges[at];
  });
}

// Over the whole board the builder's own ranks and their intervals hold.
function builtRanges({ board, rows, by, choice }, all) {
  const own = !BY_LANGUAGE.includes(choice.ranking) || board.tasks.every((task) => !task.cellMetric);
  const ready = all && own && by.id === "overall" && !choice.narrowed ? board.ranks[choice.ranking] : undefined;
  if (!ready) return null;
  // Its ranks too: they are of exact figures, where those of the page are rounded to hundredths.
  for (const row of rows) if (row.rank !== null) row.rank = ready.rank[row.system.at] ?? row.rank;
  return rows.map(({ system: { at } }) => (ready.low[at] ? [ready.low[at], ready.high[at]] : null));
}

// What the scores' own intervals leave open.
function leftOpen({ rows, values, by }) {
  const bound = (side) => rows.map((row) => row.figures.get(by.id)?.[side] ?? NaN);
  if (!by.lower) return rankIntervals(values, bound("low"), bound("high"));
  const turned = (numbers) => numbers.map((number) => -number);
  return rankIntervals(turned(values), turned(bound("high")), turned(bound("low")));
}

// Over a part of the board languages are drawn again here, which takes longer than a filter may: true if it was done.
function drawRanges(table) {
  const { board, rows, values, by, columns, choice } = table;
  const parts = by.kind === "task" ? [by.part] : by.kind === "category" ? by.parts : columns;
  const way = by.kind === "overall" ? choice : { ranking: "flat" };
  const systems = rows.map(({ system }) => system);
  const drawn = drawnRankIntervals(board, systems, values, parts, { ...way, lower: by.lower });
  if (!drawn) return false;
  const widened = (range, rank) => range && [Math.min(range[0], rank), Math.max(range[1], rank)];
  setRanges(
    table,
    drawn.map((range, at) => widened(range, rows[at].rank)),
    DRAWN,
  );
  return true;
}

// Groups of systems that cannot be told apart, as letters, and by what that was found: a, b, …
export function tieLetters(board) {
  const letters = new Map();
  (board.ties?.overall ?? []).forEach((places, at) => {
    const group = places.map((place) => board.systems[place].id);
    const how = board.tied_by?.overall?.[at];
    const letter =
      at < 26
        ? String.fromCharCode(97 + at)
        : `${String.fromCharCode(96 + Math.floor(at / 26))}${String.fromCharCode(97 + (at % 26))}`;
    for (const id of group) letters.set(id, [...(letters.get(id) ?? []), { letter, group, how }]);
  });
  return letters;
}
