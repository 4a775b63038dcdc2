import { countText, element, missing } from "./dom.js";
import { changeParams } from "./state.js";
import { withTip } from "./tips.js";

const ROWS_PER_PAGE = 50;

// A table from columns and rows. A column has an id, a title, and `value(row)` for sorting and files; `show(row)` makes
// what is seen, `tip(row)` what is said on hover and focus, `strength(row)` from 0 to 1 how dark it is.
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
    { type: "button", class: "sort", click },
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

function bodyCell(column, row) {
  const shown = column.show ? column.show(row) : column.value(row);
  const cell = element(
    column.heads ? "th" : "td",
    { class: column.className, scope: column.heads ? "row" : null },
    shown ?? "–",
  );
  if (column.tip) {
    withTip(cell, () => column.tip(row));
    cell.tabIndex = -1;
  }
  const strength = column.strength?.(row);
  if (!missing(strength)) cell.style.setProperty("--strength", `${Math.round(100 * strength)}%`);
  return cell;
}

// Cells that say more are reached with the arrow keys, from one stop of the tab key.
function arrowKeys(body) {
  const first = body.querySelector("[tabindex]");
  if (first) first.tabIndex = 0;
  body.addEventListener("focusin", (event) => {
    if (!event.target.matches("td[tabindex], th[tabindex]")) return;
    body.querySelectorAll("[tabindex='0']").forEach((cell) => {
      cell.tabIndex = -1;
    });
    event.target.tabIndex = 0;
  });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    const cell = event.target.closest("td[tabindex], th[tabindex]");
    if (!step || cell !== event.target) return;
    event.preventDefault();
    const line = cell.parentElement;
    let [y, x] = [line.sectionRowIndex + step[0], cell.cellIndex + step[1]];
    while (body.rows[y]?.cells[x] && !body.rows[y].cells[x].hasAttribute("tabindex")) {
      y += step[0];
      x += step[1];
    }
    body.rows[y]?.cells[x]?.focus();
  });
}

export function dataTable({
  columns: all,
  rows,
  params,
  start,
  caption,
  label,
  before = [],
  perPage = ROWS_PER_PAGE,
  rowClass,
  fallback,
}) {
  const columns = all.filter(({ onlyInFiles }) => !onlyInFiles);
  const sort = chosenSort(columns, params, start);
  const sorted = sortRows(rows, sort.column, sort.descending, fallback);
  const pages = Math.max(1, Math.ceil(sorted.length / perPage));
  const page = Math.min(pages, Math.max(1, Number(params.get("page")) || 1));
  const shown = sorted.slice((page - 1) * perPage, page * perPage);
  for (const column of columns) column.prepare?.(shown);
  const body = element(
    "tbody",
    {},
    shown.map((row) =>
      element(
        "tr",
        { class: rowClass?.(row) },
        columns.map((column) => bodyCell(column, row)),
      ),
    ),
  );
  arrowKeys(body);
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
  const top =
    before.length && page === 1
      ? element(
          "tbody",
          { class: "before" },
          before.map((row) =>
            element(
              "tr",
              {},
              columns.map((column) => bodyCell({ ...column, strength: null }, row)),
            ),
          ),
        )
      : null;
  const table = element("table", { class: "data" }, caption ? element("caption", {}, caption) : null, head, top, body);
  const scroller = element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label ?? caption ?? "Table" },
    table,
  );
  return {
    node: element("div", { class: "table" }, scroller, pager(page, pages, sorted.length, perPage)),
    sorted,
    sort,
  };
}

function pager(page, pages, total, perPage) {
  if (pages < 2) return null;
  const turn = (to, text) =>
    element(
      "button",
      {
        type: "button",
        disabled: to < 1 || to > pages,
        click: () => {
          changeParams({ page: to === 1 ? null : to });
          document.querySelector(".table")?.scrollIntoView();
        },
      },
      text,
    );
  return element(
    "nav",
    { class: "pager", "aria-label": "Pages of the table" },
    turn(page - 1, "← Previous"),
    element(
      "span",
      {},
      `${countText((page - 1) * perPage + 1)}–${countText(Math.min(total, page * perPage))} of ${countText(total)}`,
    ),
    turn(page + 1, "Next →"),
  );
}
