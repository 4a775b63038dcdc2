import { betterShare } from "../charts/colour.js";
import { intervalStrip, stripAxis } from "../charts/interval.js";
import { REGIME_IN_FILES, latexName } from "./columns.js";
import { intervalText, systemCell } from "../board/describe.js";
import { element, missing, plural, printedScore, scoreText } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { ranksOf, weightedMean } from "../board/ranking.js";
import { NO_ORDER } from "../board/tested_order.js";
import { columnScale } from "../board/score_scale.js";
import { dataTable } from "../page/table.js";
import { rankColumn, rankColumnsInFiles } from "./rank_column.js";
import { allReported, rankSigns, tableLegend } from "./table_legend.js";

/** @type {TableColumn<SystemRow>} */
const YEAR = { id: "year", title: "Year", numeric: true, className: "number", value: (row) => row.system.year ?? null };
// The column of averages: a system may have none though it was tested.
const AVERAGE = "mean";
const NOT_TESTED = "By the scores; not tested here.";

// A table of systems by scores: each column has an id, a title and `of(system)`. Ranks follow `main` unless the address
// sorts by another column. Systems without any score are left out. `task` is the task of columns that are languages: its scale
// is theirs.
/**
 * @param {Board} board
 * @param {URLSearchParams} params
 * @param {{ columns: SystemColumn[], main: string, name: string, label: string, task?: string, systems?: System[] }} options2
 */
export function systemTable(board, params, { columns, main, name, label, task, systems = board.systems }) {
  const named = (/** @type {string | null} */ wanted) => columns.find(({ id }) => id === wanted);
  const by = named(params.get("sort")) ?? named(main) ?? columns[0];
  const { rows, ranking } = rankedRows(board, systems, columns, by);
  const isOrdered = (params.get("sort") ?? main) === by.id;
  const scales = columns.map(({ id }) => columnScale(board, task ?? (board.averages.has(id) ? id : "overall")));
  const shown = shownColumns(columns, rankColumns(ranking, isOrdered), by, rows, scales);
  const table = dataTable({
    columns: shown,
    rows,
    params,
    start: main,
    label,
    rowKey: (row) => row.system.id,
    fallback: mostFiguresFirst,
    legend: tableLegend({
      untested: rows.some(({ values }) => values.some((value, at) => missing(value) && columns[at].id !== AVERAGE)),
      intervals: shown.some(({ axis }) => axis),
      ...rankSigns(ranking, isOrdered),
      reported: allReported(rows),
    }),
    className: allReported(rows) ? "all-reported" : "",
  });
  const line = element(
    "div",
    { class: "line" },
    element("span", { class: "soft" }, plural(rows.length, "system")),
    exportButtons(name, board, () => ({ columns: shown, rows: table.sorted, more: { test: ranking.order.note } })),
  );
  return element("div", { class: "content whole" }, line, table.node);
}

// The average of columns, for systems with all of them.
/** @param {SystemColumn[]} columns @param {string} hint @returns {SystemColumn} */
export const meanColumn = (columns, hint) => ({
  id: AVERAGE,
  title: "Mean",
  hint: ["Mean", hint],
  lower: columns.every(({ lower }) => lower),
  of: (system) => weightedMean(columns.map(({ of }) => of(system) ?? NaN)),
});

/** @param {Pick<SystemRow, "values">} options @returns {number[]} */
const knownValues = ({ values }) => values.filter((value) => !missing(value));
/** @param {SystemRow} a @param {SystemRow} b */
const mostFiguresFirst = (a, b) =>
  knownValues(b).length - knownValues(a).length || Math.max(...knownValues(b)) - Math.max(...knownValues(a));

// The interval of a task's average.
/** @param {Board} board @param {Task} task @returns {(system: System) => { low?: number, high?: number }} */
export const averageInterval = (board, task) => {
  const average = board.averages.get(task.id);
  return ({ at }) => ({ low: average?.low[at], high: average?.high[at] });
};

// The rows with their ranks: those of the leaderboard if it ranks the same scores, otherwise places without a test.
/** @param {Board} board @param {System[]} systems @param {SystemColumn[]} columns @param {SystemColumn} by @returns {{ rows: SystemRow[], ranking: RankedTable }} */
function rankedRows(board, systems, columns, by) {
  const rows = systems
    .map((system) => ({ system, cells: system.cells, lacking: () => [], values: columns.map(({ of }) => of(system)) }))
    .filter((row) => knownValues(row).length);
  const tested = by.ranking?.();
  if (tested) {
    const standing = new Map(tested.rows.map((row) => [row.system, row]));
    return {
      rows: rows.map((row) => ({ ...row, rank: null, ...standing.get(row.system) })),
      ranking: { ...tested, by: { ...tested.by, title: by.title } },
    };
  }
  const ranks = ranksOf(
    rows.map(({ values }) => values[columns.indexOf(by)] ?? NaN),
    by.lower,
  );
  const ranked = ranks.filter((rank) => rank !== null).length;
  const order = { ...NO_ORDER, note: ranked > 1 ? NOT_TESTED : "" };
  return {
    rows: rows.map((row, at) => ({ ...row, rank: ranks[at] })),
    ranking: { board, by: { id: by.id, title: by.title, kind: "task" }, order, ranked, testRanks: null },
  };
}

/** @param {RankedTable} ranking @param {boolean} isOrdered */
const rankColumns = (ranking, isOrdered) => [rankColumn(ranking, isOrdered), ...rankColumnsInFiles(ranking)];

/**
 * @param {SystemColumn[]} columns
 * @param {TableColumn<SystemRow>[]} ranks
 * @param {SystemColumn} by
 * @param {SystemRow[]} rows
 * @param {Interval[]} scales
 * @returns {TableColumn<SystemRow>[]}
 */
const shownColumns = (columns, ranks, by, rows, scales) => [
  ...ranks,
  {
    id: "name",
    title: "System",
    heads: true,
    className: "system",
    value: (row) => row.system.name,
    show: (row) => systemCell(row.system),
    latex: latexName,
  },
  REGIME_IN_FILES,
  ...columns.map((column, place) => valueColumn(column, place, rows, scales[place], column === by)),
  ...(rows.some(({ system }) => !missing(system.year)) ? [YEAR] : []),
];

/**
 * @param {SystemColumn} column
 * @param {number} place
 * @param {SystemRow[]} all
 * @param {Interval} scale
 * @param {boolean} isRanked
 * @returns {TableColumn<SystemRow>}
 */
function valueColumn(column, place, all, scale, isRanked) {
  const known = all.map(({ values }) => values[place]).filter((value) => !missing(value));
  const isAverage = column.id === AVERAGE;
  const best = printedScore(column.lower ? Math.min(...known) : Math.max(...known));
  const interval = (/** @type {SystemRow} */ { system }) => column.interval?.(system) ?? {};
  const isDrawn = all.some((row) => !missing(interval(row).low));
  return {
    id: column.id,
    title: column.title,
    hint: column.hint,
    note: column.note,
    numeric: true,
    score: true,
    className: "score",
    lower: column.lower,
    axis: isDrawn ? stripAxis(scale) : null,
    value: (row) => row.values[place] ?? null,
    interval,
    place: isRanked ? (row) => row.rank : null,
    show: (row) => {
      const value = row.values[place];
      if (missing(value)) return element("span", { class: isAverage ? "soft" : "sr" }, isAverage ? "–" : "no score");
      return isDrawn ? [scoreText(value), intervalStrip({ value, ...interval(row) }, scale)] : scoreText(value);
    },
    mark: ({ values }) =>
      missing(values[place]) ? (isAverage ? null : "untested") : printedScore(values[place]) === best ? "best" : null,
    strength: (row) => (missing(row.values[place]) ? null : betterShare(row.values[place], scale, column.lower)),
    tip: (row) => [
      `${row.system.fullName} · ${column.title}: ${missing(row.values[place]) ? "no score" : scoreText(row.values[place])}`,
      ...(missing(row.values[place]) ? [] : (column.says?.(row.system) ?? [intervalText(interval(row))])),
    ],
  };
}
