import { appendAll, element, missing, printable } from "./dom.js";
import { arrowKeys } from "./keys.js";
import { paged } from "./pager.js";
import { changeParams } from "./state.js";
import { withCellTips, withTip } from "./tips.js";

const ROWS_PER_PAGE = 50;

/**
 * @param {any[]} unsorted
 * @param {Maybe<TableColumn>} column
 * @param {boolean} descending
 * @param {Maybe<(a: any, b: any) => number>} [fallback]
 */
function sortRows(unsorted, column, descending, fallback = null) {
  // The fallback orders rows without a value.
  const rows = fallback ? [...unsorted].sort(fallback) : unsorted;
  if (!column) return rows;
  /** @param {unknown} value */
  const empty = (value) => missing(value) || value === "";
  return rows
    .map((row) => [column.value?.(row), row])
    .sort(([a], [b]) => {
      if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
      const order =
        typeof a === "number" && typeof b === "number"
          ? a - b
          : String(a).localeCompare(String(b), "en", { numeric: true });
      return descending ? -order : order;
    })
    .map(([, row]) => row);
}

// The sort column and direction from the address: numbers start with the largest.
/** @param {Columns} columns @param {URLSearchParams} params @param {string} start @returns {Sort} */
function chosenSort(columns, params, start) {
  const column =
    columns.find(({ id, value }) => id === params.get("sort") && value) ?? columns.find(({ id }) => id === start);
  const natural = column?.numeric && !column?.lower ? "desc" : "asc";
  return { column, descending: (params.get("dir") ?? natural) === "desc", natural };
}

/** @param {TableColumn} column @param {Sort} sort @param {string} start */
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
    { type: "button", class: "sort", "data-key": `sort-${column.id}`, click },
    column.title,
    element("span", { class: "arrow", "aria-hidden": "true" }, active ? (sort.descending ? "↓" : "↑") : "↕"),
    column.note ? element("span", { class: "of" }, column.note) : null,
  );
  if (column.hint) withTip(button, () => [column.hint ?? []].flat());
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

/** @param {Columns} columns @param {Sort} sort @param {string} start */
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

/** @param {Columns} columns */
function groupHeads(columns) {
  if (!columns.some(({ group }) => group)) return null;
  /** @type {{ group: string, span: number }[]} */
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

// Cloning one empty row is faster than creating every cell.
/** @param {Columns} columns @param {any[]} rows @param {RowOptions} options2 */
function tableRows(columns, rows, { rowClass = null, rowKey = null }) {
  const pattern = element(
    "tr",
    {},
    columns.map(({ heads, className }) =>
      element(heads ? "th" : "td", { class: className, scope: heads ? "row" : null }),
    ),
  );
  return rows.map((row) => {
    const line = /** @type {HTMLElement} */ (pattern.cloneNode(true));
    const name = rowClass?.(row);
    if (name) line.className = name;
    if (rowKey) line.dataset.key = rowKey(row);
    columns.forEach((column, at) => fillCell(line.children[at], column, row));
    return line;
  });
}

/** @param {any} cell @param {TableColumn} column @param {any} row */
function fillCell(cell, column, row) {
  const shown = (column.show ? column.show(row) : column.value?.(row)) ?? "–";
  if (typeof shown === "object") appendAll(cell, [shown]);
  else cell.textContent = printable(shown);
  const mark = column.mark?.(row);
  if (mark) cell.classList.add(mark);
  const strength = row.human ? null : column.strength?.(row);
  if (!missing(strength)) cell.style.setProperty("--strength", `${Math.round(100 * strength)}%`);
}

/** @param {Columns} columns @param {any[]} rows @param {RowOptions & { className?: string }} [options2] */
function tableBody(columns, rows, { className = "", ...options } = {}) {
  const body = element("tbody", { class: className || null }, tableRows(columns, rows, options));
  withCellTips(body, (cell) => {
    const tip = columns[cell.cellIndex]?.tip;
    return tip ? () => tip(rows[cell.parentNode.sectionRowIndex]) : null;
  });
  return body;
}

// Make a sortable, paged table. A column has an id, a title and `value(row)` for sorting and files; `show(row)` returns the
// visible content, `tip(row)` the tooltip, `strength(row)` a shade from 0 to 1, `mark(row)` a class. `before` rows come first
// and are not sorted. Rows for which `first` is true precede the others unless the reader chooses an order. `sorted` holds
// the rows of all pages in order. `most` shows only the first rows, without pages.
/** @param {DataTable} options */
export function dataTable(options) {
  const { columns: all, rows, params, start, label, before = [], first, rowClass, rowKey, fallback, most } = options;
  const columns = all.filter(({ onlyInFiles }) => !onlyInFiles);
  const sort = chosenSort(columns, params, start);
  const ordered = sortRows(rows, sort.column, sort.descending, fallback);
  const free = first && !params.get("sort") && !params.get("dir");
  const sorted = free ? [...ordered.filter(first), ...ordered.filter((row) => !first(row))] : ordered;
  const { page, shown, pager } = most
    ? { page: 1, shown: sorted.slice(0, most), pager: null }
    : paged(sorted, ROWS_PER_PAGE, params, "Table pages");
  for (const column of columns) column.prepare?.(shown);
  const body = tableBody(columns, shown, { rowClass, rowKey });
  arrowKeys(body, (cell) => Boolean(columns[cell.cellIndex].tip));
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
