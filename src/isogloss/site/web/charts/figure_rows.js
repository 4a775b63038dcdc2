// @ts-check
import { drawn, missing } from "../page/dom.js";
import { colourOf, pointMark, referenceLines, seriesIndex, shapeOf } from "./figure_marks.js";
import { hintLines, numberScale, presentWords } from "./figure_scale.js";
import { fittedText, textWidth } from "./text_width.js";
import { withTip } from "../page/tips.js";

/** @typedef {import("./figure_scale.js").Figure} Figure */
/** @typedef {import("./figure_scale.js").FigureRecord} FigureRecord */

const ROW_TOP = 8;
const AXIS_ROOM = 42;

/**
 * Draw dots, a strip of points or bars: one row per word, numbers along x.
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 * @param {number} width
 * @returns {SVGElement}
 */
export function drawRows(figure, records, width) {
  const names = presentWords(figure.y, records);
  const lanes = laneCount(figure);
  const lane = figure.text ? 26 : 13;
  const step = Math.max(24, lanes * lane + 6);
  const longest = Math.max(0, ...names.map((name) => textWidth(name, true)));
  const left = Math.min(longest + 12, Math.max(96, width * 0.36), 260);
  const height = ROW_TOP + step * names.length + AXIS_ROOM;
  const bottom = height - AXIS_ROOM;
  const values = records.flatMap((record) => [
    record[figure.x.field],
    ...(figure.interval ?? []).map((key) => record[key]),
  ]);
  const known = [...values, ...(figure.marks ?? []).map(([, value]) => value)].filter((value) => !missing(value));
  const scale = numberScale(figure.x, known, [left + 8, width - 16], Math.max(2, (width - left) / 90));
  const middle = (/** @type {FigureRecord} */ record) => {
    const row = ROW_TOP + step * (names.indexOf(String(record[figure.y.field])) + 0.5);
    return lanes > 1 ? row + lane * (seriesIndex(figure, record) - (lanes - 1) / 2) : row;
  };
  // Scores with intervals are dots everywhere: bars have none.
  const mark = figure.kind === "bars" && !figure.interval ? barMark : dotMark;
  return drawn(
    "svg",
    { width, height, role: "img", "aria-label": figure.description },
    scale.ticks.map((tick) => [
      drawn("line", { x1: scale.at(tick), x2: scale.at(tick), y1: ROW_TOP, y2: bottom, class: "grid" }),
      drawn("text", { x: scale.at(tick), y: bottom + 16, "text-anchor": "middle" }, scale.text(tick)),
    ]),
    names.map((name, at) => rowName(figure, name, at, { left, width, y: ROW_TOP + step * (at + 0.5), step })),
    referenceLines(figure, scale.at, "x", [ROW_TOP, bottom]),
    records.map((record) =>
      withTip(mark(figure, record, scale.at, middle(record), lane), () => hintLines(figure, record)),
    ),
    axisTitle(figure.x.title ?? "", left, width, height),
  );
}

/**
 * Return the number of lanes that a row needs, one per series drawn side by side.
 * @param {Figure} figure
 */
const laneCount = ({ series, y }) => (series && series.field !== y.field ? series.names.length : 1);

/**
 * @param {Figure} figure
 * @param {string} name
 * @param {number} at
 * @param {{ left: number, width: number, y: number, step: number }} room
 */
const rowName = (figure, name, at, { left, width, y, step }) => [
  drawn("line", { x1: left + 4, x2: width, y1: y + step / 2, y2: y + step / 2, class: "grid" }),
  drawn(
    "text",
    { x: left, y: y + 4, "text-anchor": "end", class: at < (figure.strong ?? 0) ? "title" : "label" },
    fittedText(name, left - 4, (text) => textWidth(text, at < (figure.strong ?? 0))),
  ),
];

/**
 * @param {string} text
 * @param {number} left
 * @param {number} width
 * @param {number} height
 */
const axisTitle = (text, left, width, height) => {
  const strong = (/** @type {string} */ cut) => textWidth(cut, true);
  const cut = fittedText(text, width, strong);
  const half = strong(cut) / 2;
  const x = Math.max(half, Math.min((left + width) / 2, width - half));
  return drawn("text", { x, y: height - 8, "text-anchor": "middle", class: "title" }, cut);
};

/**
 * @param {Figure} figure
 * @param {FigureRecord} record
 * @param {(value: number) => number} at
 * @param {number} y
 */
function dotMark(figure, record, at, y) {
  const value = record[figure.x.field];
  const fill = colourOf(figure, record);
  const faint = figure.kind === "strip" ? { opacity: 0.7 } : {};
  return drawn(
    "g",
    { class: "point" },
    intervalLine(figure, record, at, y, { stroke: fill, "stroke-width": 2 }),
    pointMark(
      shapeOf(figure, record),
      at(value),
      y,
      figure.kind === "strip" ? 4 : 5,
      figure.hollow && record[figure.hollow]
        ? { fill: "none", stroke: fill, class: "hollow" }
        : { fill, class: "mark", ...faint },
    ),
    record.partial ? drawn("text", { x: at(value) + 7, y: y + 2, class: "star" }, "*") : null,
    figure.text
      ? drawn("text", { x: at(value), y: y - 8, "text-anchor": "middle", class: "label" }, record[figure.text])
      : null,
  );
}

/**
 * @param {Figure} figure
 * @param {FigureRecord} record
 * @param {(value: number) => number} at
 * @param {number} y
 * @param {number} lane
 */
function barMark(figure, record, at, y, lane) {
  const value = record[figure.x.field];
  return drawn(
    "g",
    { class: "lying bar" },
    drawn("rect", {
      x: Math.min(at(value), at(0)),
      width: Math.max(1, Math.abs(at(value) - at(0))),
      y: y - lane / 2 + 1,
      height: lane - 2,
      style: `fill: ${colourOf(figure, record)}`,
    }),
    record.partial ? drawn("text", { x: at(value) + 5, y: y + 6, class: "star" }, "*") : null,
  );
}

/**
 * @param {Figure} figure
 * @param {FigureRecord} record
 * @param {(value: number) => number} at
 * @param {number} y
 * @param {Record<string, any>} look
 */
function intervalLine(figure, record, at, y, look) {
  const [low, high] = (figure.interval ?? []).map((key) => record[key]);
  return missing(low) || missing(high) ? null : drawn("line", { x1: at(low), x2: at(high), y1: y, y2: y, ...look });
}
