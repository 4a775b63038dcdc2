// @ts-check
import { drawn, element, nameOf } from "../page/dom.js";
import { cutText } from "./figure_scale.js";

/** @typedef {import("./figure_scale.js").Figure} Figure */
/** @typedef {import("./figure_scale.js").FigureRecord} FigureRecord */

const DASHES = ["6 3", "2 2", "", "8 2 2 2"];

/**
 * Return the page's colour for a colour of the palette: black is white in dark mode.
 * @param {string} colour
 */
const pageColour = (colour) => (colour === "#000000" ? "var(--ink)" : colour);

/**
 * Return the position of a record's series, or -1.
 * @param {Figure} figure
 * @param {FigureRecord} record
 */
export const seriesIndex = (figure, record) =>
  figure.series ? figure.series.names.indexOf(String(record[figure.series.field])) : -1;

/**
 * Return the colour of a record.
 * @param {Figure} figure
 * @param {FigureRecord} record
 */
export const colourOf = (figure, record) =>
  pageColour(figure.series?.colours[seriesIndex(figure, record)] ?? "var(--bar)");

/**
 * Return the shape of a record.
 * @param {Figure} figure
 * @param {FigureRecord} record
 */
export const shapeOf = (figure, record) =>
  figure.fitted
    ? record[figure.fitted]
      ? "circle"
      : "diamond"
    : (figure.series?.shapes?.[seriesIndex(figure, record)] ?? "circle");

/**
 * Return a point as an SVG element.
 * @param {string} shape
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {Record<string, any>} attributes
 */
export function pointMark(shape, x, y, size, attributes) {
  if (shape === "circle") return drawn("circle", { cx: x, cy: y, r: size, ...attributes });
  const [s, far] = [size, size + 1];
  /** @type {Record<string, string>} */
  const paths = {
    square: `M${x - s} ${y - s}h${2 * s}v${2 * s}h${-2 * s}z`,
    diamond: `M${x} ${y - far}L${x + far} ${y}L${x} ${y + far}L${x - far} ${y}z`,
    cross: `M${x - far} ${y - 2}h${far - 2}v${2 - far}h4v${far - 2}h${far - 2}v4h${2 - far}v${far - 2}h-4v${2 - far}h${2 - far}z`,
    "triangle-up": `M${x} ${y - far}L${x + far} ${y + s}H${x - far}z`,
    "triangle-down": `M${x} ${y + far}L${x + far} ${y - s}H${x - far}z`,
    "triangle-right": `M${x + far} ${y}L${x - s} ${y - far}V${y + far}z`,
    "triangle-left": `M${x - far} ${y}L${x + s} ${y - far}V${y + far}z`,
  };
  return drawn("path", { d: paths[shape] ?? paths.square, ...attributes });
}

/**
 * Return the legend of a chart: its series, then its reference lines.
 * @param {Figure} figure
 * @returns {HTMLElement | null}
 */
export function figureLegend(figure) {
  const { series, marks = [] } = figure;
  const entries = (series?.legend ?? true) && series ? series.names : [];
  if (!entries.length && !marks.length) return null;
  const swatch = (/** @type {any[]} */ ...parts) =>
    drawn("svg", { width: 24, height: 14, "aria-hidden": "true" }, ...parts);
  return element(
    "p",
    { class: "legend" },
    entries.map((name, at) =>
      element(
        "span",
        {},
        swatch(pointMark(series?.shapes?.[at] ?? "square", 12, 7, 5, { fill: pageColour(series?.colours[at] ?? "") })),
        nameOf(cutText(name, 60), { title: name }),
      ),
    ),
    marks.map(([name, value], at) =>
      element(
        "span",
        {},
        swatch(
          drawn("line", {
            x1: 0,
            x2: 24,
            y1: 7,
            y2: 7,
            class: "reference",
            "stroke-dasharray": DASHES[at % DASHES.length],
          }),
        ),
        `${name} (${Number(value.toFixed(1))})`,
      ),
    ),
  );
}

/**
 * Return the reference lines of a chart, along x or y.
 * @param {Figure} figure
 * @param {(value: number) => number} place
 * @param {"x" | "y"} along
 * @param {[number, number]} ends
 */
export const referenceLines = (figure, place, along, [from, to]) =>
  (figure.marks ?? []).map(([, value], at) =>
    drawn("line", {
      ...(along === "x"
        ? { x1: place(value), x2: place(value), y1: from, y2: to }
        : { y1: place(value), y2: place(value), x1: from, x2: to }),
      class: "reference",
      "stroke-dasharray": DASHES[at % DASHES.length],
    }),
  );
