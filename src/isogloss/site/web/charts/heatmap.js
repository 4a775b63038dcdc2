import { drawn, element, missing, scoreText } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { withCellTips, withTip } from "../page/tips.js";

const FEW_ROWS = 8;
const LEAST_WINDOW = 900;
// A table that is little wider than the window scrolls sideways instead.
const SCROLLED = 1.4;
// Widths of the names of rows, and of a cell (px).
const NAMES_ROOM = 320;
const CELL_ROOM = 25;

// A heat map is a table, so that it can be read aloud and copied. `value(row, column)` returns a score, NaN if it is not
// tested, or undefined if the cell does not exist; `paintOf` returns its colour, `text` its label; `lacking` says why there is no
// score. `bands` name groups of neighbouring columns, `turned` sets long column heads upright.
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
  lacking = "not tested",
  caption,
  bands,
  turned = false,
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
    if (missing(score)) return element("td", { class: "untested" }, element("span", { class: "sr" }, lacking));
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
  const thead = element("thead", {}, bands?.length ? bandRow(bands) : null, head);
  arrowKeys(thead);
  const table = element(
    "table",
    { class: turned ? "heat turned" : "heat" },
    element("caption", {}, caption),
    thead,
    body,
  );
  return element("div", { class: "scroll heat-scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

// A few rows with more columns than a wide window has room for stand in several tables, one below the other.
/** @param {HeatTable} options */
export function heatTables(options) {
  const { rows, columns, bands = [], caption } = options;
  const most = Math.floor((innerWidth - NAMES_ROOM) / CELL_ROOM);
  if (rows.length > FEW_ROWS || columns.length <= SCROLLED * most || innerWidth < LEAST_WINDOW) return heatTable(options);
  const count = Math.ceil(columns.length / most);
  const size = Math.ceil(columns.length / count);
  return element(
    "div",
    { class: "heat-lines" },
    Array.from({ length: count }, (_, at) =>
      heatTable({
        ...options,
        columns: columns.slice(at * size, (at + 1) * size),
        bands: bandsBetween(bands, at * size, (at + 1) * size),
        caption: `${caption} (${at + 1} of ${count})`,
      }),
    ),
  );
}

// The parts of bands over some columns.
/** @param {HeatBand[]} bands @param {number} from @param {number} to @returns {HeatBand[]} */
function bandsBetween(bands, from, to) {
  let end = 0;
  return bands.flatMap((band) => {
    const start = end;
    end += band.size;
    const size = Math.min(end, to) - Math.max(start, from);
    return size > 0 ? [{ ...band, size }] : [];
  });
}

// A ruled head over the columns of each band.
/** @param {HeatBand[]} bands */
const bandRow = (bands) =>
  element(
    "tr",
    { class: "bands" },
    element("td"),
    bands.map(({ name, href, size, lines }) => {
      const label = element(href ? "a" : "span", { href }, name);
      if (lines) withTip(label, () => lines);
      return element("th", { scope: "colgroup", colspan: size }, element("div", {}, label));
    }),
  );

/** @param {string} text @param {Paint} options1 @param {Maybe<string>} target */
function paintedCell(text, { fill, ink, mark }, target) {
  const cell = element("td", { class: mark }, target ? element("a", { href: target, tabindex: "-1" }, text) : text);
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

// The colour legend; scores beyond a clipped scale have the colour of its end. Shares of the score in English can be above 100.
/**
 * @param {number} from
 * @param {number} to
 * @param {(value: any, row?: any, column?: any) => Paint} paintOf
 * @param {Child} [note]
 * @param {boolean} [isShare]
 */
export const scoreKey = (from, to, paintOf, note = untestedKey(), isShare = false) =>
  colourKey(
    from > 0 ? `≤ ${from}` : String(from).replace("-", "−"),
    from >= 0 && (to < 100 || isShare) ? `≥ ${to}` : String(to),
    (share) => paintOf(from + share * (to - from)).fill,
    note,
  );

// A colour legend between two words; `fillAt` returns the colour of a position from 0 to 1.
/** @param {string} low @param {string} high @param {(share: number) => string} fillAt @param {Child} note */
export function colourKey(low, high, fillAt, note) {
  const steps = 24;
  const bars = Array.from({ length: steps }, (_, at) =>
    drawn("rect", { x: at * 6, y: 0, width: 6.5, height: 12, fill: fillAt((at + 0.5) / steps) }),
  );
  return element(
    "p",
    { class: "key" },
    `${low} `,
    drawn("svg", { width: steps * 6, height: 12, "aria-hidden": "true" }, bars),
    ` ${high}`,
    element("span", { class: "soft" }, note),
  );
}

// The legend of hatched cells.
/** @param {string} [text] */
export const untestedKey = (text = "not tested") => [
  element("i", { class: "swatch untested", "aria-hidden": "true" }),
  ` ${text}`,
];
