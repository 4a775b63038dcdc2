import { intervalText, scoreTitle, systemCell } from "../board/describe.js";
import { wholeValue } from "../board/standings.js";
import { frontier } from "../charts/frontier.js";
import { kindLegend, kindStyle, scatter } from "../charts/plots.js";
import { selectControl } from "../page/controls.js";
import { element, link, missing, nameOf, plural, scoreText } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { hashOf } from "../page/state.js";
import { plainTable } from "../board/parts.js";
import { dateText } from "./dates.js";
import { plotScale, rowsOf, sampled, wholeBoard } from "./progress_data.js";
import { chosenRegimes, regimeOf } from "./regimes.js";
import { axesOf } from "./size_axes.js";

const MOST_PLOTTED = 300;
const MOST_IN_TABLE = 100;
// Fewer points tell little.
const FEWEST = 5;

/** @param {Board} board @param {URLSearchParams} params */
const chosenAxes = (board, params) => {
  const { shown } = wholeBoard(board);
  const axes = axesOf(board);
  const axis = axes.find(({ id }) => id === params.get("x")) ?? axes[0];
  const column = shown.find(({ id }) => id === params.get("y")) ?? startColumn(board, axis);
  return { shown, axes, axis, column };
};

// The overall score, unless so few systems have it that a task with the most systems says more.
/** @param {Board} board @param {Axis} axis */
function startColumn(board, axis) {
  const { shown, rows } = wholeBoard(board);
  const counts = shown.map(
    ({ id }) => rows.filter((row) => wholeValue(row, id) !== null && !Number.isNaN(axis.of(row.system))).length,
  );
  return counts[0] >= FEWEST ? shown[0] : shown[counts.indexOf(Math.max(...counts))];
}

/** @param {Board} board @param {URLSearchParams} params @returns {Child[]} */
export function sizeControls(board, params) {
  const { shown, axes, axis, column } = chosenAxes(board, params);
  return [
    selectControl(
      "y",
      "Score",
      shown.map((option) => [option.id, scoreTitle(option)]),
      column.id,
    ),
    selectControl(
      "x",
      "Against",
      axes.map(({ id, title }) => [id, title]),
      axis.id,
    ),
  ];
}

/** @param {Board} board @param {URLSearchParams} params @returns {Child[]} */
export function sizeView(board, params) {
  const { axis, column } = chosenAxes(board, params);
  const rows = rowsOf(board, chosenRegimes(board, params));
  const points = plotPoints(rows, axis, column);
  const leftOut = leftOutText(rows, axis, column);
  if (!points.length) return [element("p", {}, "No matching system has both values."), leftOut];
  const best = frontier(points, column.lower);
  const shown = sampled(points, best, MOST_PLOTTED);
  const title = `${scoreTitle(column)} against ${axis.title.toLowerCase()}`;
  return [
    element("p", { class: "headline" }, frontierText(best, axis, column)),
    element(
      "figure",
      { class: "size", "data-key": "size" },
      element("figcaption", {}, title),
      kindLegend(
        [...new Set(points.map(({ system }) => system.kind))],
        points.some(({ hollow }) => hollow) ? "hollow: trained on translated or in-language data" : "",
      ),
      scatter({
        points,
        shown,
        scale: plotScale(board, column),
        xTitle: axis.axis,
        yTitle: scoreTitle(column),
        xText: axis.text,
        log: axis.log,
        lower: column.lower,
        xTicks: axis.ticks?.(points.map(({ x }) => x)),
        description: title,
      }),
    ),
    element(
      "p",
      { class: "notes" },
      shown.length < points.length
        ? `Showing ${shown.length} of ${plural(points.length, "system")}, sampled evenly by rank. `
        : "",
      leftOut,
    ),
    pointTable(board, points, best, axis, column),
  ];
}

/** @param {Standing[]} rows @param {Axis} axis @param {ScoreColumn} column @returns {PlotPoint[]} */
const plotPoints = (rows, axis, column) =>
  rows.flatMap(({ system, figures }) => {
    const [x, y] = [axis.of(system), wholeValue({ system, figures, cells: 0, lacking: () => [], rank: null }, column.id)];
    if (Number.isNaN(x) || y === null) return [];
    const { low, high } = figures.get(column.id);
    const lines = [
      system.fullName,
      `${scoreTitle(column)} ${scoreText(y)}`,
      intervalText({ low, high }),
      `${axis.title.toLowerCase()} ${pointValue(axis, { system, x })}`,
      [system.kind, system.regime].filter(Boolean).join(", "),
    ].filter(Boolean);
    return [
      {
        x,
        y,
        low,
        high,
        system,
        lines,
        style: kindStyle(system.kind),
        hollow: ["translated", "in-language"].includes(regimeOf(system).id),
        label: system.name,
        href: hashOf(["system", system.id]),
      },
    ];
  });

// The systems that no other one dominates, in words.
/** @param {PlotPoint[]} best @param {Axis} axis @param {ScoreColumn} column @returns {Child} */
const frontierText = (best, axis, column) => {
  const earlier = axis.id === "date" ? "earlier" : axis.id === "parameters" ? "smaller" : "cheaper";
  return [
    `${plural(best.length, "system")} on the Pareto frontier: no ${earlier} one has a ${column.lower ? "lower" : "higher"} score. `,
    best.length > 1 ? "From " : "",
    frontierPoint(best[0], axis),
    best.length > 1 ? [" to ", frontierPoint(best[best.length - 1], axis)] : "",
    ".",
  ];
};

/** @param {PlotPoint} point @param {Axis} axis */
const frontierPoint = (point, axis) => [
  link(point.href, nameOf(point.system.fullName)),
  ` (${pointValue(axis, point)}, ${scoreText(point.y)})`,
];

// A point's value on an axis; a date as it is known.
/** @param {Axis} axis @param {{ system: System, x: number }} point */
const pointValue = (axis, { system, x }) => (axis.id === "date" ? dateText(system) : axis.text(x));

/** @param {Standing[]} rows @param {Axis} axis @param {ScoreColumn} column */
function leftOutText(rows, axis, column) {
  const unknown = rows.filter(({ system }) => Number.isNaN(axis.of(system))).length;
  const partial = rows.filter((row) => wholeValue(row, column.id) === null && !Number.isNaN(axis.of(row.system))).length;
  const parts = [
    unknown ? `${plural(unknown, "system")} with ${axis.lacks}` : "",
    partial ? `${plural(partial, "system")} without a complete ${scoreTitle(column)} score` : "",
  ].filter(Boolean);
  return parts.length ? `Left out: ${parts.join(" and ")}.` : "";
}

// The drawn points as a table, best first, and as files.
/** @param {Board} board @param {PlotPoint[]} points @param {PlotPoint[]} best @param {Axis} axis @param {ScoreColumn} column */
function pointTable(board, points, best, axis, column) {
  const sorted = [...points].sort((a, b) => (column.lower ? a.y - b.y : b.y - a.y));
  const onLine = new Set(best);
  /** @type {TableColumn<PlotPoint>[]} */
  const columns = [
    { id: "system", title: "System", value: ({ system }) => system.name },
    { id: "regime", title: "Regime", value: ({ system }) => system.regime },
    { id: "kind", title: "Kind", value: ({ system }) => system.kind },
    {
      id: axis.id,
      title: axis.title,
      unit: axis.unit,
      value: ({ x }) => (axis.log ? Number((10 ** x).toPrecision(6)) : Number(x.toFixed(3))),
      numeric: true,
    },
    { id: "score", title: scoreTitle(column), value: ({ y }) => y, score: true, numeric: true },
    { id: "low", title: "95 % low", value: ({ low }) => low, score: true, numeric: true },
    { id: "high", title: "95 % high", value: ({ high }) => high, score: true, numeric: true },
    { id: "frontier", title: "Pareto frontier", value: (point) => (onLine.has(point) ? "yes" : "no") },
  ];
  return [
    exportButtons("size-and-cost", board, () => ({ columns, rows: sorted })),
    element(
      "details",
      { class: "panel", "data-key": "size-table" },
      element("summary", {}, "Show as a table"),
      plainTable(
        `${scoreTitle(column)} against ${axis.title.toLowerCase()}`,
        ["System", "Kind", "Frontier", axis.title, scoreTitle(column), "95 % interval"],
        sorted.slice(0, MOST_IN_TABLE).map((point) => [
          element("th", { scope: "row" }, systemCell(point.system)),
          element("td", {}, point.system.kind),
          element("td", {}, onLine.has(point) ? "yes" : ""),
          element("td", { class: "number" }, pointValue(axis, point)),
          element("td", { class: "number" }, scoreText(point.y)),
          element("td", { class: "number" }, missing(point.low) ? "–" : `${scoreText(point.low)}–${scoreText(point.high)}`),
        ]),
        { tall: true, words: 3 },
      ),
      sorted.length > MOST_IN_TABLE
        ? element("p", { class: "notes" }, `The best ${MOST_IN_TABLE} of ${plural(sorted.length, "system")}; the files have all.`)
        : null,
    ),
  ];
}
