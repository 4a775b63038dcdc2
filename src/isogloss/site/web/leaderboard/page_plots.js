import { selectControl } from "../page/controls.js";
import { scoreTitle } from "../board/describe.js";
import { element, missing, plural, scoreText, sizeText } from "../page/dom.js";
import { fileColumn } from "../page/export.js";
import { kindLegend, scatter } from "../charts/plots.js";
import { hashOf } from "../page/state.js";
import { wholeValue } from "../board/standings.js";

/** @param {System} system */
const dateNumber = (system) => {
  const date = system.date ?? (system.year ? `${system.year}-07-01` : null);
  const time = date ? Date.parse(date) : NaN;
  return Number.isNaN(time) ? NaN : 1970 + time / 31_556_952_000;
};
/** @param {number} value */
const logOf = (value) => (value > 0 ? Math.log10(value) : NaN);

/** @type {Axis[]} */
const AXES = [
  {
    id: "parameters",
    title: "Parameters",
    axis: "parameters (logarithmic)",
    of: (system) => logOf(system.parameters ?? NaN),
    inFiles: (system) => system.parameters,
    unit: { title: "millions", of: 1e6 },
    log: true,
    text: (x) => sizeText(10 ** x),
  },
  {
    id: "date",
    title: "Date",
    axis: "published",
    of: dateNumber,
    inFiles: (system) => system.date ?? system.year,
    text: (x) => String(Math.round(x)),
    ticks: (values) => {
      const [from, to] = [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values))];
      return Array.from({ length: to - from + 1 }, (_, at) => from + at);
    },
  },
  {
    id: "cost",
    title: "Cost",
    axis: "cost in US dollars (logarithmic)",
    of: (system) => logOf(system.cost ?? NaN),
    inFiles: (system) => system.cost,
    unit: { title: "US dollars", of: 1 },
    log: true,
    text: (x) => `$${sizeText(10 ** x)}`,
  },
  {
    id: "tokens",
    title: "Tokens",
    axis: "tokens (logarithmic)",
    of: (system) => logOf(system.tokens ?? NaN),
    inFiles: (system) => system.tokens,
    unit: { title: "millions", of: 1e6 },
    log: true,
    text: (x) => sizeText(10 ** x),
  },
];

/** @param {Standings} table @param {URLSearchParams} params */
export function plotPanel(table, params) {
  const { axes, axis, column } = chosenAxes(table, params);
  const head = axisControls(table, axes, axis, column);
  if (!axis) return element("section", {}, head, element("p", {}, "No system discloses its size, date or cost."));
  const points = plotPoints(table.rows, axis, column);
  if (!points.length) return element("section", {}, head, element("p", {}, "No matching system has both values."));
  return element(
    "section",
    {},
    head,
    kindLegend([...new Set(points.map(({ kind }) => kind))]),
    scatter({
      points,
      xTitle: axis.axis,
      yTitle: scoreTitle(column),
      xText: axis.text,
      log: axis.log,
      lower: column.lower,
      xTicks: axis.ticks?.(points.map(({ x }) => x)),
      description: `${scoreTitle(column)} against ${axis.title.toLowerCase()}`,
    }),
    element("p", { class: "soft" }, leftOutText(table.rows.length - points.length, axis)),
  );
}

/** @param {Standings} table @param {URLSearchParams} params */
function chosenAxes(table, params) {
  const axes = AXES.filter(({ of }) => table.board.systems.some((system) => !Number.isNaN(of(system))));
  const axis = axes.find(({ id }) => id === params.get("x")) ?? axes[0];
  const column = table.shown.find(({ id }) => id === params.get("y")) ?? table.by;
  return { axes, axis: /** @type {Axis | undefined} */ (axis), column };
}

// What the plot shows, for files: a row for each of its points.
/** @param {Standings} table @param {URLSearchParams} params @returns {{ columns: TableColumn<Standing>[], rows: Standing[] }} */
export function plotData(table, params) {
  const { axis, column } = chosenAxes(table, params);
  if (!axis) return { columns: [], rows: [] };
  const rows = table.rows.filter((row) => wholeValue(row, column.id) !== null && !Number.isNaN(axis.of(row.system)));
  return {
    columns: [
      fileColumn("name", "System", ({ system }) => system.name),
      fileColumn("regime", "Regime", ({ system }) => system.regime ?? ""),
      fileColumn("kind", "Kind", ({ system }) => system.kind),
      { ...fileColumn(axis.id, axis.title, ({ system }) => axis.inFiles(system), true), unit: axis.unit },
      {
        ...fileColumn(column.id, scoreTitle(column), (row) => wholeValue(row, column.id), true),
        score: true,
        interval: (row) => row.figures.get(column.id),
      },
    ],
    rows,
  };
}

/** @param {Standings} table @param {Axis[]} axes @param {Axis | undefined} axis @param {ScoreColumn} column */
const axisControls = (table, axes, axis, column) =>
  element(
    "div",
    { class: "controls" },
    selectControl(
      "y",
      "Score",
      table.shown.map((option) => [option.id, scoreTitle(option)]),
      column.id,
    ),
    axis
      ? selectControl(
          "x",
          "Against",
          axes.map(({ id, title }) => [id, title]),
          axis.id,
        )
      : null,
  );

// The systems with a complete score and a value on the axis.
/** @param {Standing[]} rows @param {Axis} axis @param {ScoreColumn} column @returns {PlotPoint[]} */
const plotPoints = (rows, axis, column) =>
  rows
    .map((row) => ({ row, x: axis.of(row.system), y: wholeValue(row, column.id) ?? NaN }))
    .filter(({ x, y }) => !Number.isNaN(x) && !Number.isNaN(y))
    .map(({ row: { system, figures, rank }, x, y }) => ({
      x,
      y,
      low: figures.get(column.id).low,
      high: figures.get(column.id).high,
      kind: system.kind,
      label: system.name,
      href: hashOf(["system", system.id]),
      lines: [
        system.fullName,
        `${scoreTitle(column)} ${scoreText(y)}`,
        `${axis.title.toLowerCase()} ${axis.id === "date" ? (system.date ?? system.year) : axis.text(x)}`,
        missing(rank) ? "" : `rank ${rank}`,
      ],
    }));

/** @param {number} count @param {Axis} axis */
function leftOutText(count, axis) {
  if (!count) return "";
  const value = { parameters: "size", tokens: "number of tokens" }[axis.id] ?? axis.id;
  return `${plural(count, "system")} not shown: incomplete score or undisclosed ${value}.`;
}
