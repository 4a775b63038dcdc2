// @ts-check
import { drawn, missing } from "../page/dom.js";
import { colourOf, pointMark, referenceLines, shapeOf } from "./figure_marks.js";
import { fittedText, textWidth } from "./text_width.js";
import { cutText, hintLines, leastSquares, numberScale, presentWords, splitBy, wordScale } from "./figure_scale.js";
import { withTip } from "../page/tips.js";

/** @typedef {import("./figure_scale.js").Figure} Figure */
/** @typedef {import("./figure_scale.js").FigureAxis} FigureAxis */
/** @typedef {import("./figure_scale.js").FigureRecord} FigureRecord */
/** @typedef {{ at: (value: any) => number, ticks: any[], text: (value: any) => string }} PlaneScale */
/** @typedef {{ x: PlaneScale, y: PlaneScale }} Plane */

const PLANE_HEIGHT = 340;
const ROOM = { left: 52, right: 16, top: 26, bottom: 46 };
const TURNED_ROOM = 70;

/**
 * Draw points or lines over two axes.
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 * @param {number} width
 * @returns {SVGElement}
 */
export function drawPlane(figure, records, width) {
  const words = figure.x.order ? presentWords(figure.x, records) : [];
  const turned = words.length > 0 && words.some((word) => textWidth(word) > (width - ROOM.left) / words.length);
  const bottom = PLANE_HEIGHT - (turned ? TURNED_ROOM : ROOM.bottom);
  const marked = (figure.marks ?? []).map(([, value]) => value);
  const plane = {
    x: planeScale(figure.x, records, [], [ROOM.left + 6, width - ROOM.right - 6], width / 100),
    y: planeScale(figure.y, records, [...(figure.interval ?? [])], [bottom, ROOM.top], 6, marked),
  };
  return drawn(
    "svg",
    { width, height: PLANE_HEIGHT, role: "img", "aria-label": figure.description },
    planeGrid(figure, plane, width, bottom, turned),
    referenceLines(figure, plane.y.at, "y", [ROOM.left, width - ROOM.right]),
    figure.kind === "lines" ? lineMarks(figure, records, plane) : null,
    figure.fit ? fittedLines(figure, records, plane) : null,
    records.map((record) => withTip(planePoint(figure, record, plane), () => hintLines(figure, record))),
    figure.text ? pointLabels(figure, records, plane, width) : null,
  );
}

/**
 * @param {FigureAxis} axis
 * @param {FigureRecord[]} records
 * @param {string[]} also further fields that the axis must cover
 * @param {[number, number]} pixels
 * @param {number} most
 * @param {number[]} [extra]
 * @returns {PlaneScale}
 */
function planeScale(axis, records, also, pixels, most, extra = []) {
  if (!axis.order) {
    const values = records
      .flatMap((record) => [axis.field, ...also].map((key) => record[key]))
      .filter((value) => !missing(value));
    return numberScale(axis, [...values, ...extra], pixels, most);
  }
  const words = presentWords(axis, records);
  const scale = wordScale(words, pixels);
  return { at: scale.at, ticks: words, text: (word) => word };
}

/**
 * @param {Figure} figure
 * @param {Plane} plane
 * @param {number} width
 * @param {number} bottom
 * @param {boolean} turned
 */
function planeGrid(figure, { x, y }, width, bottom, turned) {
  const below = (/** @type {any} */ tick) =>
    turned
      ? { x: 0, y: 0, "text-anchor": "end", transform: `translate(${x.at(tick) + 4} ${bottom + 14}) rotate(-40)` }
      : { x: x.at(tick), y: bottom + 17, "text-anchor": "middle" };
  /** @param {string} [text] */
  const title = (text = "") => fittedText(text, width - 8, (cut) => textWidth(cut, true));
  return [
    y.ticks.map((tick) => [
      drawn("line", { x1: ROOM.left, x2: width - ROOM.right, y1: y.at(tick), y2: y.at(tick), class: "grid" }),
      drawn("text", { x: ROOM.left - 6, y: y.at(tick) + 4, "text-anchor": "end" }, cutText(y.text(tick), 7)),
    ]),
    x.ticks.map((tick) => [
      drawn("line", { x1: x.at(tick), x2: x.at(tick), y1: ROOM.top, y2: bottom, class: "grid" }),
      drawn("text", below(tick), cutText(x.text(tick), 14)),
    ]),
    drawn("text", { x: 4, y: 13, class: "title" }, title(figure.y.title)),
    drawn("text", { x: width / 2, y: PLANE_HEIGHT - 6, "text-anchor": "middle", class: "title" }, title(figure.x.title)),
  ];
}

/**
 * @param {Figure} figure
 * @param {FigureRecord} record
 * @param {Plane} plane
 */
const planePoint = (figure, record, { x, y }) =>
  pointMark(
    shapeOf(figure, record),
    x.at(record[figure.x.field]),
    y.at(record[figure.y.field]),
    figure.kind === "lines" ? 3 : 4.5,
    {
      fill: colourOf(figure, record),
      class: "mark",
    },
  );

/**
 * Return one line per series, with its interval as a pale area.
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 * @param {Plane} plane
 */
function lineMarks(figure, records, { x, y }) {
  const position = (/** @type {FigureRecord} */ record) => x.at(record[figure.x.field]);
  return [...splitBy(records, figure.detail || figure.series?.field)].map(([, own]) => {
    const sorted = [...own].sort((a, b) => position(a) - position(b));
    const path = (/** @type {FigureRecord[]} */ among, /** @type {string} */ key) =>
      among.map((record, at) => `${at ? "L" : "M"}${position(record)} ${y.at(record[key])}`).join("");
    const [low, high] = figure.interval ?? ["", ""];
    const bounded = low ? sorted.filter((record) => !missing(record[low]) && !missing(record[high])) : [];
    const colour = colourOf(figure, sorted[0]);
    return [
      bounded.length
        ? drawn("path", {
            d: `${path(bounded, high)}${path([...bounded].reverse(), low).replace("M", "L")}z`,
            fill: colour,
            opacity: 0.15,
          })
        : null,
      drawn("path", { d: path(sorted, figure.y.field), fill: "none", stroke: colour, "stroke-width": 2 }),
    ];
  });
}

/**
 * Return the least-squares line of each series, over the logarithm of x on a logarithmic axis.
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 * @param {Plane} plane
 */
function fittedLines(figure, records, { x, y }) {
  const { fitted } = figure;
  const chosen = fitted ? records.filter((record) => record[fitted]) : records;
  const turn = figure.x.scale === "log" ? Math.log10 : (/** @type {number} */ value) => value;
  return [...splitBy(chosen, figure.series?.field)].map(([, own]) => {
    const xs = own.map((record) => record[figure.x.field]);
    const line = leastSquares(own.map((record) => [turn(record[figure.x.field]), record[figure.y.field]]));
    if (!line) return null;
    const [from, to] = [Math.min(...xs), Math.max(...xs)];
    const ends = { x1: x.at(from), y1: y.at(line(turn(from))), x2: x.at(to), y2: y.at(line(turn(to))) };
    return drawn("line", { ...ends, stroke: colourOf(figure, own[0]), "stroke-width": 1.5 });
  });
}

/**
 * Return the names of points, without those that would cover others.
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 * @param {Plane} plane
 * @param {number} width
 */
function pointLabels(figure, records, plane, width) {
  /** @type {[number, number, number][]} */
  const taken = [];
  return records.flatMap((record) => {
    const text = cutText(String(record[figure.text ?? ""]), 22);
    const [x, y, wide] = [
      plane.x.at(record[figure.x.field]),
      plane.y.at(record[figure.y.field]) + 4,
      textWidth(text),
    ];
    const ends = x + 8 + wide > width;
    const [from, to] = ends ? [x - wide - 8, x] : [x, x + wide + 8];
    if (taken.some(([left, right, at]) => Math.abs(at - y) < 13 && from < right && left < to)) return [];
    taken.push([from, to, y]);
    return [drawn("text", { x: ends ? x - 7 : x + 7, y, "text-anchor": ends ? "end" : "start", class: "label" }, text)];
  });
}
