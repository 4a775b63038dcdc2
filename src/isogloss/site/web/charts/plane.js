import { drawn } from "../page/dom.js";

// A drawing's plane: data to pixels, within edges.
/**
 * @param {number} width
 * @param {number} height
 * @param {Interval} xs
 * @param {Interval} ys
 * @param {{ left: number, right: number, top: number, bottom: number }} edge
 * @returns {Plane}
 */
export function plane(width, height, xs, ys, edge) {
  const [left, right, top, bottom] = [edge.left, width - edge.right, edge.top, height - edge.bottom];
  return {
    left,
    right,
    top,
    bottom,
    width,
    height,
    x: (value) => left + ((value - xs[0]) / (xs[1] - xs[0] || 1)) * (right - left),
    y: (value) => bottom - ((value - ys[0]) / (ys[1] - ys[0] || 1)) * (bottom - top),
  };
}

/** @param {Plane} area @param {number[]} yTicks @param {number[]} xTicks @param {(x: number) => string} xText */
export const dataGrid = (area, yTicks, xTicks, xText) => [
  yTicks.map((y) => [
    drawn("line", { x1: area.left, x2: area.right, y1: area.y(y), y2: area.y(y), class: "grid" }),
    drawn("text", { x: area.left - 6, y: area.y(y) + 4, "text-anchor": "end" }, String(y)),
  ]),
  xTicks.map((x) => [
    drawn("line", { x1: area.x(x), x2: area.x(x), y1: area.top, y2: area.bottom, class: "grid" }),
    drawn("text", { x: area.x(x), y: area.bottom + 18, "text-anchor": "middle" }, xText(x)),
  ]),
];
