import { appendAll, element, missing, printable } from "./dom.js";
import { arrowKeys } from "./keys.js";
import { paged } from "./pager.js";
import { changeParams } from "./state.js";
import { withCellTips, withTip } from "./tips.js";

const ROWS_PER_PAGE = 50;

function sortRows(given, column, descending, fallback = null) {
  // Rows without a value stay in the order that the fallback gives them.
  const rows = fallback ? [...given].sort(fallback) : given;
  if (!column) return rows;
  const empty = (value) => missing(value) || value === "";
  return rows
    .map((row) => [column.value(row), row])
    .sort(([a], [b]) => {
      if (empty(a) || empty(b)) return empty(a) - empty(b);
      const order =
        typeof a === "number" && typeof b === "number"
          ? a - b
          : String(a).localeCompare(String(b), "en", { numeric: true });
      return descending ? -order : order;
    })
    .map(([, row]) => row);
}

// Which column the address sorts by, and which way: numbers begin with the largest.
function chosenSort(columns, params, start) {
  const column =
    columns.find(({ id, value }) => id === params.get("sort") && value) ?? columns.find(({ id }) => id === start);
  const natural = column?.numeric && !column?.lower ? "desc" : "asc";
  return { column, descending: (params.get("dir") ?? natural) === "desc", natural };
}

function headCell(column, sort, start) {
  if (!column.value || column.fixed)
    return element("th", { scope: "col", class: column.className }, column.head ?? column.title);
  const active = sort.column === column;
  const turned = active ? (sort.descending ? "asc" : "desc") : null;
  const click = () =>
    changeParams({
      sort: column.id === start ? null : column.id,
      page: null,
      dir: turned === (column.numeric && !column.lower ? "desc" : "asc") ? null : turned,
    });
  const button = element(
    "button",
    { type: "button", class: "sort", "data-focus": `sort-${column.id}`, click },
    column.title,
    element("span", { class: "arrow", "aria-hidden": "true" }, active ? (sort.descending ? "↓" : "↑") : "↕"),
    column.note ? element("span", { class: "of" }, column.note) : null,
  );
  if (column.hint) withTip(button, () => [].concat(column.hint));
  return element(
    "th",
    {
      scope: "col",
      class: column.className,
      "aria-sort": active ? (sort.descending ? "descending" : "ascending") : null,
    },
    button,
  );
}

const tableHead = (columns, sort, start) =>
  element(
    "thead",
    {},
    groupHeads(columns),
    element(
      "tr",
      {},
      columns.map((column) => headCell(column, sort, start)),
    ),
  );

function groupHeads(columns) {
  if (!columns.some(({ group }) => group)) return null;
  const spans = [];
  for (const { group = "" } of columns) {
    if (spans.length && group === spans.at(-1).group) spans.at(-1).span += 1;
    else spans.push({ group, span: 1 });
  }
  return element(
    "tr",
    { class: "groups" },
    spans.map(({ group, span }) =>
      group ? element("th", { colspan: span, scope: "colgroup" }, group) : element("td", { colspan: span }),
    ),
  );
}

// Rows are copies of one pattern, of which only the texts differ: that is quicker than making every cell by itself.
function tableRows(columns, rows, rowClass) {
  const pattern = element(
    "tr",
    {},
    columns.map(({ heads, className }) =>
      element(heads ? "th" : "td", { class: className, scope: heads ? "row" : null }),
    ),
  );
  return rows.map((row) => {
    const line = pattern.cloneNode(true);
    const name = rowClass?.(row);
    if (name) line.className = name;
    columns.forEach((column, at) => fillCell(line.children[at], column, row));
    return line;
  });
}

function fillCell(cell, column, row) {
  const shown = (column.show ? column.show(row) : column.value(row)) ?? "–";
  if (typeof shown === "object") appendAll(cell, [shown]);
  else cell.textContent = printable(shown);
  const mark = column.mark?.(row);
  if (mark) cell.classList.add(mark);
  const strength = row.human ? null : column.strength?.(row);
  if (!missing(strength)) cell.style.setProperty("--strength", `${Math.round(100 * strength)}%`);
}

function tableBody(columns, rows, { rowClass = null, className = null } = {}) {
  const body = element("tbody", { class: className }, tableRows(columns, rows, rowClass));
  withCellTips(body, (cell) => {
    const column = columns[cell.cellIndex];
    return column?.tip ? () => column.tip(rows[cell.parentNode.sectionRowIndex]) : null;
  });
  return body;
}

// A table from columns and rows. A column has an id, a title, and `value(row)` for sorting and files; `show(row)` makes
// what is seen, `tip(row)` what is said on hover and focus, `strength(row)` from 0 to 1 how dark it is, `mark(row)` a class.
// `sorted` are the rows of all pages in the order that is seen, after those that stand before all others.
export function dataTable({ columns: all, rows, params, start, label, before = [], rowClass, fallback }) {
  const columns = all.filter(({ onlyInFiles }) => !onlyInFiles);
  const sort = chosenSort(columns, params, start);
  const sorted = sortRows(rows, sort.column, sort.descending, fallback);
  const { page, shown, pager } = paged(sorted, ROWS_PER_PAGE, params, "Pages of the table");
  for (const column of columns) column.prepare?.(shown);
  const body = tableBody(columns, shown, { rowClass });
  arrowKeys(body, (cell) => columns[cell.cellIndex].tip);
  const top = before.length && page === 1 ? tableBody(columns, before, { className: "before" }) : null;
  const scroller = element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", { class: "data" }, tableHead(columns, sort, start), top, body),
  );
  return {
    node: element("div", { class: "table" }, scroller, pager),
    sorted: [...before, ...sorted],
  };
}
