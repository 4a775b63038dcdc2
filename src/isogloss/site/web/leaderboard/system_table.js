import { betterShare } from "../charts/colour.js";
import { REGIME_IN_FILES } from "./columns.js";
import { systemCell } from "../board/describe.js";
import { element, missing, plural, printedScore, scoreText } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { ranksOf } from "../board/ranking.js";
import { columnScale } from "../board/score_scale.js";
import { dataTable } from "../page/table.js";
import { tableLegend } from "./table_legend.js";

// The column of averages: a system may have none though it was tested.
const AVERAGE = "mean";

// A table of systems by scores: each column has an id, a title and `of(system)`. Ranks follow `main` unless the address
// sorts by another column. Systems without any score are left out. `task` is the task of columns that are languages: its scale
// is theirs.
/**
 * @param {Board} board
 * @param {URLSearchParams} params
 * @param {{ columns: SystemColumn[], main: string, name: string, label: string, task?: string }} options2
 */
export function systemTable(board, params, { columns, main, name, label, task }) {
  const named = (/** @type {string | null} */ wanted) => columns.find(({ id }) => id === wanted);
  const by = named(params.get("sort")) ?? named(main) ?? columns[0];
  const rows = rankedRows(board, columns, by);
  const scales = columns.map(({ id }) => columnScale(board, task ?? (board.averages.has(id) ? id : "overall")));
  const shown = shownColumns(columns, by, rows, scales);
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
    }),
  });
  const line = element(
    "div",
    { class: "line" },
    element("span", { class: "soft" }, plural(rows.length, "system")),
    exportButtons(name, board, () => ({ columns: shown, rows: table.sorted })),
  );
  return element("div", {}, line, table.node);
}

/** @param {Board} board @param {SystemColumn} options1 */
export const hasFigures = (board, { of }) => board.systems.some((system) => !missing(of(system)));

/** @param {SystemRow} options @returns {number[]} */
const knownValues = ({ values }) => values.filter((value) => !missing(value));
/** @param {SystemRow} a @param {SystemRow} b */
const mostFiguresFirst = (a, b) =>
  knownValues(b).length - knownValues(a).length || Math.max(...knownValues(b)) - Math.max(...knownValues(a));

/** @param {Board} board @param {SystemColumn[]} columns @param {SystemColumn} by */
function rankedRows(board, columns, by) {
  const rows = board.systems
    .map((system) => ({ system, values: columns.map(({ of }) => of(system)), rank: null }))
    .filter((row) => knownValues(row).length);
  const ranks = ranksOf(
    rows.map(({ values }) => values[columns.indexOf(by)] ?? NaN),
    by.lower,
  );
  return rows.map((row, at) => ({ ...row, rank: ranks[at] }));
}

/**
 * @param {SystemColumn[]} columns
 * @param {SystemColumn} by
 * @param {SystemRow[]} rows
 * @param {Interval[]} scales
 * @returns {TableColumn<SystemRow>[]}
 */
const shownColumns = (columns, by, rows, scales) => [
  {
    id: "rank",
    title: `Rank by ${by.title}`,
    head: element("span", {}, "Rank", element("span", { class: "of" }, `by ${by.title}`)),
    fixed: true,
    numeric: true,
    className: "rank",
    value: (row) => row.rank,
    show: (row) => (row.rank === null ? element("span", { class: "soft" }, "–") : element("b", {}, row.rank)),
    tip: (row) =>
      row.rank === null
        ? ["Not ranked", `no score: ${by.title}`]
        : [`Rank ${row.rank} by ${by.title}`, "By the scores; not tested here."],
  },
  {
    id: "name",
    title: "System",
    heads: true,
    className: "system",
    value: (row) => row.system.name,
    show: (row) => systemCell(row.system),
  },
  REGIME_IN_FILES,
  ...columns.map((column, place) => valueColumn(column, place, rows, scales[place], column === by)),
  { id: "year", title: "Year", numeric: true, className: "number", value: (row) => row.system.year ?? null },
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
  return {
    id: column.id,
    title: column.title,
    hint: column.hint,
    note: column.note,
    numeric: true,
    score: true,
    className: "score",
    lower: column.lower,
    value: (row) => row.values[place] ?? null,
    place: isRanked ? (row) => row.rank : null,
    show: ({ values }) =>
      missing(values[place])
        ? element("span", { class: isAverage ? "soft" : "sr" }, isAverage ? "–" : "no score")
        : scoreText(values[place]),
    mark: ({ values }) =>
      missing(values[place]) ? (isAverage ? null : "untested") : printedScore(values[place]) === best ? "best" : null,
    strength: (row) => (missing(row.values[place]) ? null : betterShare(row.values[place], scale, column.lower)),
    tip: (row) => [
      `${row.system.fullName} · ${column.title}: ${missing(row.values[place]) ? "no score" : scoreText(row.values[place])}`,
      ...(missing(row.values[place]) ? [] : (column.says?.(row.system) ?? [])),
    ],
  };
}
