import { hatchPattern } from "../charts/hatch.js";
import { intervalMark } from "../charts/interval.js";
import { niceTicks } from "../charts/plots.js";
import { fittedText, textWidth } from "../charts/text_width.js";
import { drawn, drawnToWidth, element, missing } from "../page/dom.js";
import { withTip } from "../page/tips.js";

const DOT_ROW = 30;
const DOT_TARGET = 12;
const NARROW_ROWS = 560;
const ROWS_TOP = 24;
const ROWS_HATCH = "rows-hatch";

// Rows of a dot with its interval on one axis, with marks to compare it with; rows without a figure are hatched.
/** @param {MarkedRow[]} rows @param {MarkedAxis} axis */
export const dotRows = (rows, axis) =>
  drawnToWidth(element("div", { class: "plot dot-rows" }), (width) => rowsDrawing(rows, axis, width));

/** @param {MarkedRow[]} all @param {MarkedAxis} axis @param {number} width */
function rowsDrawing(all, { scale: [from, to], unit = "", description, room = 0.36 }, width) {
  const rows = width < NARROW_ROWS ? all.map((row) => ({ ...row, text: row.short ?? row.text })) : all;
  /** @param {(row: MarkedRow) => string} text */
  const longest = (text) => Math.max(0, ...rows.map((row) => textWidth(text(row))));
  const left = Math.min(longest(({ label }) => label) + 10, width * room);
  // Neighbouring charts of shares are aligned.
  const right = Math.min(Math.max(longest(({ text }) => text), textWidth("100 %")) + 14, width * 0.42);
  /** @param {number} value */
  const x = (value) => left + ((Math.min(to, Math.max(from, value)) - from) / (to - from)) * (width - left - right - 8);
  const height = ROWS_TOP + DOT_ROW * rows.length;
  return drawn(
    "svg",
    { width, height, role: "group", "aria-label": description },
    hatchPattern(ROWS_HATCH),
    niceTicks(from, to, (width - left - right) / 70).map((tick) => [
      drawn("line", { x1: x(tick), x2: x(tick), y1: 18, y2: height, class: "grid" }),
      drawn("text", { x: x(tick), y: 13, "text-anchor": "middle" }, `${tick}${unit}`),
    ]),
    rows.map((row, at) => dotRow(row, ROWS_TOP + DOT_ROW * (at + 0.5), { left, right, from, to, width, x })),
  );
}

/**
 * @param {MarkedRow} row
 * @param {number} y
 * @param {{ left: number, right: number, from: number, to: number, width: number, x: (value: number) => number }} axis
 */
function dotRow(row, y, { left, right, from, to, width, x }) {
  const { label, href, figure, others = [], marks = [], text, lines } = row;
  const name = drawn(
    "text",
    { x: left - 8, y: y + 4, "text-anchor": "end" },
    fittedText(label, left - 8),
  );
  return [
    href
      ? withTip(drawn("a", { href, "data-key": `row-${label}` }, name), () => [
          ...lines,
          ...marks.map(({ lines: says }) => says[0]),
        ])
      : name,
    missing(figure.value)
      ? drawn("rect", { x: x(from), y: y - 8, width: x(to) - x(from), height: 16, fill: `url(#${ROWS_HATCH})` })
      : drawn("line", { x1: x(from), x2: x(to), y1: y, y2: y, class: "grid" }),
    others.length
      ? drawn("path", { class: "rug", d: others.map((value) => `M${x(value).toFixed(1)} ${y - 5}v10`).join("") })
      : null,
    marks.map(({ value, className, lines: says }) =>
      missing(value)
        ? null
        : withTip(drawn("path", { class: className, d: `M${x(value).toFixed(1)} ${y - 11}v22` }), () => says),
    ),
    missing(figure.value)
      ? null
      : withTip(
          drawn(
            "g",
            { class: "hit" },
            intervalMark(figure, x, y),
            drawn("circle", { cx: x(figure.value), cy: y, r: DOT_TARGET, class: "target" }),
          ),
          () => lines,
        ),
    drawn(
      "text",
      { x: width - right, y: y + 4, class: missing(figure.value) ? null : "label" },
      fittedText(text, right),
    ),
  ];
}
