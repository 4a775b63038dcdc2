import { appendAll, element, missing, printable } from "./dom.js";
import { arrowKeys } from "./keys.js";
import { paged } from "./pager.js";
import { changeParams } from "./state.js";
import { withCellTips, withTip } from "./tips.js";

const ROWS_PER_PAGE = 50;
// Longer titles break into lines where there is little room.
const LONG_TITLE = 10;
// A printed page has room for so many columns with horizontal headings.
const MOST_LEVEL = 24;

/** @param {unknown} value */
const empty = (value) => missing(value) || value === "";

/** @param {any} a @param {any} b @param {boolean} turned */
function byValue(a, b, turned) {
  if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
  const order =
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return turned ? -order : order;
}

// Sort by a column: by its places, if it has them, so that the order is that of the ranks; rows without a place follow,
// sorted by value. The fallback orders rows without a value.
/**
 * @param {any[]} rows
 * @param {Sort} sort
 * @param {Maybe<(a: any, b: any) => number>} [fallback]
 */
export function sortRows(rows, { column, descending, natural }, fallback = null) {
  const turned = descending !== (natural === "desc");
  return rows
    .map((row) => ({ row, place: column?.place?.(row), value: column?.value?.(row) }))
    .sort(
      (a, b) =>
        (column?.place && byValue(a.place, b.place, turned)) ||
        byValue(a.value, b.value, descending) ||
        (fallback?.(a.row, b.row) ?? 0),
    )
    .map(({ row }) => row);
}

// The sort column and direction from the address: numbers start with the largest.
/** @param {Columns} columns @param {URLSearchParams} params @param {string} start @returns {Sort} */
function chosenSort(columns, params, start) {
  const column =
    columns.find(({ id, value }) => id === params.get("sort") && value) ?? columns.find(({ id }) => id === start);
  const natural = column?.numeric && !column?.lower ? "desc" : "asc";
  return { column, descending: (params.get("dir") ?? natural) === "desc", natural };
}

// A title that does not break before a short end: "Mewsli-X".
/** @param {string} title @returns {Child[]} */
const brokenTitle = (title) =>
  title.split(/(\S+-\S{1,2})(?!\S)/).map((part, at) => (at % 2 ? element("span", { class: "together" }, part) : part));

/** @param {TableColumn} column @param {boolean} active */
const headClass = ({ className = "" }, active) => `${className}${active ? " sorted" : ""}`.trim() || null;

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
    { type: "button", class: column.title.length > LONG_TITLE ? "sort long" : "sort", "data-key": `sort-${column.id}`, click },
    brokenTitle(column.title),
    element("span", { class: "arrow", "aria-hidden": "true" }, active ? (sort.descending ? "↓" : "↑") : "↕"),
    column.note ? element("span", { class: "of" }, column.note) : null,
  );
  if (column.hint) withTip(button, () => [column.hint ?? []].flat());
  return element(
    "th",
    {
      scope: "col",
      class: headClass(column, active),
      "aria-sort": active ? (sort.descending ? "descending" : "ascending") : null,
    },
    button,
    column.axis,
  );
}

/** @param {Columns} columns @param {Sort} sort @param {string} start */
function tableHead(columns, sort, start) {
  const head = element(
    "thead",
    {},
    groupHeads(columns),
    element(
      "tr",
      {},
      columns.map((column) => headCell(column, sort, start)),
    ),
  );
  arrowKeys(head);
  return head;
}

/** @param {Columns} columns */
function groupHeads(columns) {
  if (!columns.some(({ group }) => group)) return null;
  /** @type {{ group: string, span: number, className?: string }[]} */
  const spans = [];
  for (const { group = "", className } of columns) {
    if (group && group === spans.at(-1)?.group) spans.at(-1).span += 1;
    else spans.push({ group, span: 1, className });
  }
  // Columns without a group have a cell each: print hides one of them.
  return element(
    "tr",
    { class: "groups" },
    spans.map(({ group, span, className }) =>
      group ? element("th", { colspan: span, scope: "colgroup" }, group) : element("td", { class: className }),
    ),
  );
}

// Cloning one empty row is faster than creating every cell.
/** @param {Columns} columns @param {any[]} rows @param {RowOptions & { sorted?: TableColumn }} options2 */
function tableRows(columns, rows, { rowClass = null, rowKey = null, sorted }) {
  const pattern = element(
    "tr",
    {},
    columns.map((column) =>
      element(column.heads ? "th" : "td", {
        class: headClass(column, column === sorted),
        scope: column.heads ? "row" : null,
      }),
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

/** @param {Columns} columns @param {any[]} rows @param {RowOptions & { className?: string, sorted?: TableColumn }} [options2] */
function tableBody(columns, rows, { className = "", ...options } = {}) {
  const body = element("tbody", { class: className || null }, tableRows(columns, rows, options));
  withCellTips(body, (cell) => {
    const tip = columns[cell.cellIndex]?.tip;
    return tip ? () => tip(rows[cell.parentNode.sectionRowIndex]) : null;
  });
  arrowKeys(body, (cell) => Boolean(columns[cell.cellIndex]?.tip));
  return body;
}

// A heading over the following rows.
/** @param {number} span @param {string} title */
const sectionHead = (span, title) =>
  element(
    "tbody",
    { class: "section" },
    element("tr", {}, element("th", { colspan: span, scope: "rowgroup" }, element("span", {}, title))),
  );

// Make a sortable, paged table. A column has an id, a title and `value(row)` for sorting and files; `place(row)` its place in
// the order, if values are not enough; `show(row)` returns the visible content, `tip(row)` the tooltip, `strength(row)` a
// shade from 0 to 1, `mark(row)` a class, `axis` a scale for the heading. `before` rows come first and are not sorted. Rows
// for which `first.is` is true form a section of their own, unless the reader chooses an order. `sorted` holds the rows of
// all pages in order. `most` shows only the first rows, without pages.
/** @param {DataTable} options */
export function dataTable({
  columns: all,
  rows,
  params,
  start,
  label,
  before = [],
  first,
  rowClass,
  rowKey,
  fallback,
  legend,
  most,
  className = "",
}) {
  const columns = all.filter(({ onlyInFiles }) => !onlyInFiles);
  const sort = chosenSort(columns, params, start);
  const ordered = sortRows(rows, sort, fallback);
  const own = first && !params.get("sort") && !params.get("dir") ? ordered.filter(first.is) : [];
  const sorted = own.length ? [...own, ...ordered.filter((row) => !own.includes(row))] : ordered;
  const { page, shown, pager } = most
    ? { page: 1, shown: sorted.slice(0, most), pager: null }
    : paged(sorted, ROWS_PER_PAGE, params, "Table pages");
  const options = { rowClass, rowKey, sorted: sort.column };
  for (const column of columns) column.prepare?.(shown, sorted);
  /** @param {any[]} part @param {string} title */
  const section = (part, title) =>
    part.length ? [sectionHead(columns.length, title), tableBody(columns, part, options)] : null;
  const [head, tail] = [shown.filter((row) => own.includes(row)), shown.filter((row) => !own.includes(row))];
  const table = element(
    "table",
    { class: `data ${columns.length > MOST_LEVEL ? "wide " : ""}${className}`.trim() },
    tableHead(columns, sort, start),
    before.length && page === 1 ? tableBody(columns, before, { sorted: sort.column, className: "before" }) : null,
    first && own.length ? [section(head, first.title), section(tail, first.rest)] : tableBody(columns, shown, options),
  );
  for (const { sizes } of columns)
    for (const [name, size] of Object.entries(sizes?.(shown) ?? {})) table.style.setProperty(name, size);
  const scroller = element("div", { class: "scroll", role: "region", "aria-label": label }, table);
  return {
    node: element("div", { class: "table" }, scroller, legend, pager),
    sorted: [...before, ...sorted],
  };
}
