import { betterShare } from "./colour.js";
import { REGIME_IN_FILES } from "./columns.js";
import { systemCell } from "./describe.js";
import { element, missing, printedScore, scoreText } from "./dom.js";
import { exportButtons } from "./export.js";
import { ranksOf } from "./ranking.js";
import { dataTable } from "./table.js";

// A table of systems by some figures: each column has an id, a title and `of(system)`; `main` gives the ranks unless the
// address sorts by another. Systems without any of the figures are left out.
export function systemTable(board, { columns, main, name, label }) {
  const node = element("div");
  const update = (params) => {
    const by = columns.find(({ id }) => id === params.get("sort")) ?? columns.find(({ id }) => id === main);
    const rows = rankedRows(board, columns, by);
    const shown = shownColumns(columns, by, rows);
    const table = dataTable({ columns: shown, rows, params, start: main, label, fallback: mostFiguresFirst });
    const line = element(
      "div",
      { class: "line" },
      element("span", { class: "soft" }, `${rows.length} systems`),
      exportButtons(name, board, () => ({ columns: shown, rows: table.sorted })),
    );
    node.replaceChildren(element("div", {}, line, table.node));
  };
  return { node, update };
}

// Whether any system has a figure in a column.
export const hasFigures = (board, { of }) => board.systems.some((system) => !missing(of(system)));

const knownValues = ({ values }) => values.filter((value) => !missing(value));
const mostFiguresFirst = (a, b) =>
  knownValues(b).length - knownValues(a).length || Math.max(...knownValues(b)) - Math.max(...knownValues(a));

function rankedRows(board, columns, by) {
  const rows = board.systems
    .map((system) => ({ system, values: columns.map(({ of }) => of(system)) }))
    .filter((row) => knownValues(row).length);
  const ranks = ranksOf(
    rows.map(({ values }) => values[columns.indexOf(by)] ?? NaN),
    by.lower,
  );
  return rows.map((row, at) => ({ ...row, rank: ranks[at] }));
}

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

function valueColumn(column, place, all) {
  const known = (rows) => rows.map(({ values }) => values[place]).filter((value) => !missing(value));
  const best = printedScore(column.lower ? Math.min(...known(all)) : Math.max(...known(all)));
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
    // Colours compare the rows that are on the screen.
    prepare: (rows) => {
      range = [Math.min(...known(rows)), Math.max(...known(rows))];
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
