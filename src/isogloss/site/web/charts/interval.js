import { niceTicks } from "./plots.js";
import { drawn, element, missing } from "../page/dom.js";

// The board's one sign of uncertainty: a dot for a score, on a line for its 95 % interval, on a shared, labelled axis.

/** @param {number} value @param {Interval} scale */
const percent = (value, [from, to]) =>
  `${(4 + 92 * Math.min(1, Math.max(0, (value - from) / (to - from || 1)))).toFixed(1)}%`;

// In a table cell: drawn by the style sheet, because a table has hundreds of them.
/** @param {{ value: number, low?: Maybe<number>, high?: Maybe<number> }} figure @param {Interval} scale */
export function intervalStrip({ value, low, high }, scale) {
  const strip = element("i", { class: missing(low) ? "strip" : "strip whiskered" });
  strip.style.setProperty("--at", percent(value, scale));
  if (!missing(low) && !missing(high)) {
    strip.style.setProperty("--low", percent(low, scale));
    strip.style.setProperty("--high", percent(high, scale));
  }
  return strip;
}

// The axis of a column of strips, for its heading; a wider one has room for more labels.
/** @param {Interval} scale @param {number} [most] */
export function stripAxis(scale, most = 2) {
  const axis = element("i", { class: "strip axis", "aria-hidden": "true" });
  const nice = niceTicks(...scale, most);
  // One label alone does not say what the axis measures.
  const ticks = nice.length > 1 ? nice : scale;
  for (const tick of ticks) {
    const label = element("span", {}, String(tick));
    label.style.left = percent(tick, scale);
    axis.append(label);
  }
  return axis;
}

// In a drawing: the line and the dot at a height, on the axis `x`. Uncertain ones (`sure` false) are grey.
/**
 * @param {{ value: number, low?: Maybe<number>, high?: Maybe<number> }} figure
 * @param {(value: number) => number} x
 * @param {number} y
 * @param {{ sure?: boolean, className?: string }} [options]
 */
export const intervalMark = ({ value, low, high }, x, y, { sure = true, className = "" } = {}) =>
  drawn(
    "g",
    { class: ["interval", sure ? "" : "unsure", className].filter(Boolean).join(" ") },
    missing(low) || missing(high) ? null : drawn("line", { x1: x(low), x2: x(high), y1: y, y2: y }),
    drawn("circle", { cx: x(value), cy: y, r: 4.5 }),
  );
