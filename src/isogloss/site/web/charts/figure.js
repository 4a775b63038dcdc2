// @ts-check
import { differencePaint, scorePaint } from "./colour.js";
import { drawnToWidth, element, nameOf } from "../page/dom.js";
import { figureLegend } from "./figure_marks.js";
import { drawPlane } from "./figure_plane.js";
import { drawRows } from "./figure_rows.js";
import { hintLines, presentWords, splitBy } from "./figure_scale.js";
import { heatTable } from "./heatmap.js";

/** @typedef {import("./figure_scale.js").Figure} Figure */
/** @typedef {import("./figure_scale.js").FigureRecord} FigureRecord */

/**
 * Return the records of a chart that the language filter keeps.
 * @param {Figure} figure
 * @param {string[] | null} kept codes of languages, or null for all
 * @returns {FigureRecord[]}
 */
export const keptRecords = (figure, kept) =>
  kept === null || figure.follows_filter === false
    ? figure.records
    : figure.records.filter((record) => record.language === undefined || kept.includes(record.language));

/**
 * Draw a chart with its legend, one panel per value of its panel field.
 * @param {Figure} figure
 * @param {string[] | null} kept
 * @returns {Node[]}
 */
export function drawFigure(figure, kept = null) {
  const panels = [...splitBy(keptRecords(figure, kept), figure.panel)];
  const draw = figure.kind === "heatmap" ? heatPanel : plotPanel;
  const parts = panels.map(([name, records]) =>
    element(
      "div",
      { class: figure.kind === "heatmap" ? "panel-part heat-part" : "panel-part" },
      figure.panel ? element("h4", {}, nameOf(name)) : null,
      draw(figure, records, figure.panel ? `${figure.title}: ${name}` : figure.title),
    ),
  );
  const legend = figure.kind === "heatmap" ? null : figureLegend(figure);
  return [
    ...(legend ? [legend] : []),
    element("div", { class: panels.length > 1 ? "panels" : "panels single" }, parts),
  ];
}

/**
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 */
function plotPanel(figure, records) {
  const draw = figure.kind === "scatter" || figure.kind === "lines" ? drawPlane : drawRows;
  return drawnToWidth(element("div", { class: "plot" }), (/** @type {number} */ width) => draw(figure, records, width));
}

/**
 * Return a heat map as a table, by the board's drawing code.
 * @param {Figure} figure
 * @param {FigureRecord[]} records
 * @param {string} caption
 */
function heatPanel(figure, records, caption) {
  const { x, y, scale } = figure;
  const cells = new Map(
    records.map((record) => [JSON.stringify([String(record[y.field]), String(record[x.field])]), record]),
  );
  const cell = (/** @type {string} */ row, /** @type {string} */ column) => cells.get(JSON.stringify([row, column]));
  return heatTable({
    rows: presentWords(y, records),
    columns: presentWords(x, records),
    rowHead: (/** @type {string} */ row) => nameOf(row),
    columnHead: (/** @type {string} */ column) => nameOf(column),
    // The table passes a cell's record to `text` and `paintOf`.
    value: /** @type {any} */ (cell),
    paintOf: (/** @type {FigureRecord} */ record) => cellPaint(scale ?? { low: 0, high: 100 }, record),
    text: (/** @type {FigureRecord} */ record) => cellText(figure, record),
    tip: (/** @type {string} */ row, /** @type {string} */ column) => hintLines(figure, cell(row, column) ?? {}),
    href: undefined,
    caption,
  });
}

/**
 * @param {Figure} figure
 * @param {FigureRecord} record
 */
function cellText({ text = "", digits }, record) {
  const shown = record[text];
  return typeof shown === "number" && typeof digits === "number"
    ? shown.toFixed(digits).replace(/^-(?=0*(\.0*)?$)/, "")
    : String(shown ?? "");
}

/**
 * @param {import("./figure_scale.js").FigureColours} scale
 * @param {FigureRecord} record
 */
function cellPaint({ low, high, field = "score", scheme, reverse }, record) {
  const value = record[field];
  if (scheme === "difference") return differencePaint(value, high);
  return scorePaint(reverse ? low + high - value : value, low, high);
}
