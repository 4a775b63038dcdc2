import { drawn, element, missing, scoreText } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { withCellTips } from "../page/tips.js";

// A heat map is a table, so that it can be read aloud and copied. `value(row, column)` returns a score, NaN if it is
// missing, or undefined if the cell does not exist; `paintOf` returns its colour, `text` its label.
/** @param {HeatTable} options */
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
  /** @param {any} row @param {any} column */
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
  if (tip) addTips(body, rows, columns, value, tip);
  const table = element("table", { class: "heat" }, element("caption", {}, caption), element("thead", {}, head), body);
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

/** @param {string} text @param {Paint} options1 @param {Maybe<string>} target */
function paintedCell(text, { fill, ink }, target) {
  const cell = element("td", {}, target ? element("a", { href: target, tabindex: "-1" }, text) : text);
  cell.style.backgroundColor = fill;
  cell.style.color = ink;
  return cell;
}

// Cells with a score have a tip, on hover or with the arrow keys.
/**
 * @param {any} body
 * @param {any[]} rows
 * @param {any[]} columns
 * @param {(row: any, column: any) => Maybe<number>} value
 * @param {(row: any, column: any, score: any) => TipLine[]} tip
 */
function addTips(body, rows, columns, value, tip) {
  /** @param {any} cell @returns {[any, any]} */
  const position = (cell) => [rows[cell.parentNode.sectionRowIndex], columns[cell.cellIndex - 1]];
  /** @param {any} cell */
  const hasScore = (cell) => cell.cellIndex > 0 && !missing(value(...position(cell)));
  withCellTips(body, (cell) => (hasScore(cell) ? () => tip(...position(cell), value(...position(cell))) : null));
  arrowKeys(body, hasScore);
}

// The ends of the colour scale: multiples of ten around the scores, without outliers.
/** @param {Iterable<Maybe<number>>} scores @returns {Interval} */
export function scoreRange(scores) {
  const sorted = [...scores].filter((score) => !missing(score)).sort((a, b) => a - b);
  if (!sorted.length) return [0, 100];
  const [low, high] = [sorted[Math.floor(sorted.length * 0.02)], sorted[Math.ceil(sorted.length * 0.98) - 1]];
  return [
    Math.max(-100, 10 * Math.floor(low / 10)),
    Math.min(100, Math.max(10 * Math.floor(low / 10) + 20, 10 * Math.ceil(high / 10))),
  ];
}

// The colour legend; scores beyond a clipped scale have the colour of its end.
/**
 * @param {number} from
 * @param {number} to
 * @param {(value: any, row?: any, column?: any) => Paint} paintOf
 * @param {string} [unscored]
 */
export function scoreKey(from, to, paintOf, unscored = "“·” means no score") {
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
