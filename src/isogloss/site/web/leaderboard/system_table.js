import { betterShare } from "../charts/colour.js";
import { REGIME_IN_FILES } from "./columns.js";
import { systemCell } from "../board/describe.js";
import { element, missing, plural, printedScore, scoreText } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { ranksOf } from "../board/ranking.js";
import { dataTable } from "../page/table.js";

// A table of systems by scores: each column has an id, a title and `of(system)`. Ranks follow `main` unless the address
// sorts by another column. Systems without any score are left out.
/**
 * @param {Board} board
 * @param {URLSearchParams} params
 * @param {{ columns: SystemColumn[], main: string, name: string, label: string }} options2
 */
export function systemTable(board, params, { columns, main, name, label }) {
  const named = (/** @type {string | null} */ wanted) => columns.find(({ id }) => id === wanted);
  const by = named(params.get("sort")) ?? named(main) ?? columns[0];
  const rows = rankedRows(board, columns, by);
  const shown = shownColumns(columns, by, rows);
  const table = dataTable({
    columns: shown,
    rows,
    params,
    start: main,
    label,
    rowKey: (row) => row.system.id,
    fallback: mostFiguresFirst,
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
 * @returns {TableColumn<SystemRow>[]}
 */
const shownColumns = (columns, by, rows) => [
  {
    id: "rank",
    title: `Rank by ${by.title}`,
    head: "Rank",
    fixed: true,
    numeric: true,
    className: "rank",
    value: (row) => row.rank,
    show: (row) => element("b", {}, row.rank ?? "–"),
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
  ...columns.map((column, place) => valueColumn(column, place, rows)),
  { id: "year", title: "Year", numeric: true, className: "number", value: (row) => row.system.year ?? null },
];

/** @param {SystemColumn} column @param {number} place @param {SystemRow[]} all @returns {TableColumn<SystemRow>} */
function valueColumn(column, place, all) {
  /** @param {SystemRow[]} rows */
  const available = (rows) => rows.map(({ values }) => values[place]).filter((value) => !missing(value));
  const best = printedScore(column.lower ? Math.min(...available(all)) : Math.max(...available(all)));
  /** @type {Interval} */
  let range = [0, 100];
  return {
    id: column.id,
    title: column.title,
    hint: column.hint,
    note: column.note,
    numeric: true,
    score: true,
    className: "score",
    lower: column.lower,
    // Colours compare the visible rows.
    prepare: (rows) => {
      range = [Math.min(...available(rows)), Math.max(...available(rows))];
    },
    value: (row) => row.values[place] ?? null,
    show: ({ values }) =>
      element("span", { class: printedScore(values[place]) === best ? "best" : null }, scoreText(values[place])),
    strength: (row) => (missing(row.values[place]) ? null : betterShare(row.values[place], range, column.lower)),
    tip: (row) => [
      `${row.system.fullName} · ${column.title}: ${scoreText(row.values[place])}`,
      ...(column.says?.(row.system) ?? []),
    ],
  };
}
