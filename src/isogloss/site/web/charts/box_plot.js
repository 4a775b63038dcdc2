// @ts-check
import { digitsText, drawn, drawnToWidth, element, plural } from "../page/dom.js";
import { numberScale } from "./figure_scale.js";
import { fittedText, spacedTicks, textWidth } from "./text_width.js";
import { withTip } from "../page/tips.js";

/**
 * The distribution of an attribute: minimum, quartiles and maximum, with the mean.
 * @typedef {{ name: string, n: number, mean: number, quartiles: number[] }} Box
 */

const LINE = 26;
const TICKS_TOP = 26;
// Ratio of the largest value to the largest upper quartile from which a square-root scale keeps the middle legible.
const LONG_TAIL = 4;

/**
 * Return true if the largest value is far beyond the middle half of all rows.
 * @param {Box[]} boxes
 */
export const hasLongTail = (boxes) =>
  Math.max(...boxes.map(({ quartiles }) => quartiles[4])) >
  LONG_TAIL * Math.max(...boxes.map(({ quartiles }) => quartiles[3]));

/**
 * Draw one row per distribution: a line over the whole range, a box over the middle half, a stroke at the median, a dot
 * at the mean.
 * @param {Box[]} boxes
 * @param {string} description
 * @returns {HTMLElement}
 */
export function boxPlot(boxes, description) {
  const rooted = hasLongTail(boxes);
  const height = TICKS_TOP + LINE * boxes.length;
  return drawnToWidth(element("div", { class: "plot" }), (/** @type {number} */ width) => {
    const left = Math.min(Math.max(...boxes.map(({ name }) => textWidth(name)), 40) + 6, width * 0.4);
    const ends = boxes.flatMap(({ quartiles }) => quartiles);
    const axis = { field: "", scale: /** @type {"sqrt" | "linear"} */ (rooted ? "sqrt" : "linear") };
    const { at, ticks } = numberScale(axis, ends, [left + 10, width - 16], Math.max(3, width / 120));
    return drawn(
      "svg",
      { width, height, role: "group", "aria-label": rooted ? `${description}, square-root scale` : description },
      spacedTicks(ticks, at, digitsText).map((tick) => [
        drawn("line", { x1: at(tick), x2: at(tick), y1: 18, y2: height, class: "grid" }),
        drawn("text", { x: at(tick), y: 13, "text-anchor": "middle" }, digitsText(tick)),
      ]),
      boxes.map((box, index) => boxRow(box, TICKS_TOP + LINE * (index + 0.5), left, at)),
    );
  });
}

/**
 * @param {Box} box
 * @param {number} y
 * @param {number} left
 * @param {(value: number) => number} at
 */
function boxRow({ name, n, mean, quartiles: [least, low, middle, high, most] }, y, left, at) {
  const row = drawn(
    "g",
    { class: "box-plot", tabindex: "0", role: "img", "aria-label": `${name}: median ${digitsText(middle)}` },
    drawn("text", { x: left, y: y + 4, "text-anchor": "end", class: "label" }, fittedText(name, left - 4)),
    drawn("line", { x1: at(least), x2: at(most), y1: y, y2: y, class: "whisker" }),
    drawn("rect", { x: at(low), width: Math.max(1, at(high) - at(low)), y: y - 7, height: 14 }),
    drawn("line", { x1: at(middle), x2: at(middle), y1: y - 7, y2: y + 7, class: "median" }),
    drawn("circle", { cx: at(mean), cy: y, r: 3.5, class: "mean" }),
  );
  return withTip(row, () => [
    `${name}: median ${digitsText(middle)}`,
    `middle half from ${digitsText(low)} to ${digitsText(high)}; range from ${digitsText(least)} to ${digitsText(most)}`,
    `mean ${digitsText(mean)}; ${plural(n, "example")}`,
  ]);
}
