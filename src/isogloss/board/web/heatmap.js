import { drawn, element, missing, scoreText } from "./dom.js";
import { arrowKeys } from "./keys.js";
import { withCellTips } from "./tips.js";

// A heat map is a table: it can be read aloud, and its numbers copied. `value(row, column)` gives a score or NaN
// (undefined: there is no such cell), `paintOf` its colour, `text` what is printed.
export function heatTable({
  rows,
  columns,
  rowHead,
  columnHead,
  value,
  tip,
  href,
  paintOf,
  text = scoreText,
  caption,
}) {
  const head = element(
    "tr",
    {},
    element("td"),
    columns.map((column) => element("th", { scope: "col" }, columnHead(column))),
  );
  const cell = (row, column) => {
    const score = value(row, column);
    if (score === undefined) return element("td", { class: "none" });
    if (missing(score)) return element("td", { class: "missing" }, "·");
    return paintedCell(text(score), paintOf(score, row, column), href?.(row, column));
  };
  const body = element(
    "tbody",
    {},
    rows.map((row) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, rowHead(row)),
        columns.map((column) => cell(row, column)),
      ),
    ),
  );
  if (tip) tellCells(body, rows, columns, value, tip);
  const table = element("table", { class: "heat" }, element("caption", {}, caption), element("thead", {}, head), body);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

function paintedCell(text, { fill, ink }, target) {
  const cell = element("td", {}, target ? element("a", { href: target, tabindex: "-1" }, text) : text);
  cell.style.backgroundColor = fill;
  cell.style.color = ink;
  return cell;
}

// Cells with a score say more where they are pointed at or reached with the arrow keys.
function tellCells(body, rows, columns, value, tip) {
  const place = (cell) => [rows[cell.parentNode.sectionRowIndex], columns[cell.cellIndex - 1]];
  const known = (cell) => cell.cellIndex > 0 && !missing(value(...place(cell)));
  withCellTips(body, (cell) => (known(cell) ? () => tip(...place(cell), value(...place(cell))) : null));
  arrowKeys(body, known);
}

// The ends of a scale that shows most of the differences: whole tens around the scores, without the odd extreme.
export function scoreRange(scores) {
  const known = [...scores].filter((score) => !missing(score)).sort((a, b) => a - b);
  if (!known.length) return [0, 100];
  const [low, high] = [known[Math.floor(known.length * 0.02)], known[Math.ceil(known.length * 0.98) - 1]];
  return [
    Math.max(0, 10 * Math.floor(low / 10)),
    Math.min(100, Math.max(10 * Math.floor(low / 10) + 20, 10 * Math.ceil(high / 10))),
  ];
}

// The key of the colours, with its two ends: scores beyond a cut scale have the colour of its end.
export function scoreKey(from, to, paintOf, unscored = "“·” is not scored") {
  const steps = 24;
  const bars = Array.from({ length: steps }, (_, at) =>
    drawn("rect", {
      x: at * 6,
      y: 0,
      width: 6.5,
      height: 12,
      fill: paintOf(from + ((at + 0.5) / steps) * (to - from)).fill,
    }),
  );
  return element(
    "p",
    { class: "key" },
    from > 0 ? `≤ ${from} ` : `${from} `,
    drawn("svg", { width: steps * 6, height: 12, "aria-hidden": "true" }, bars),
    from >= 0 && to < 100 ? ` ≥ ${to}` : ` ${to}`,
    element("span", { class: "soft" }, unscored),
  );
}
