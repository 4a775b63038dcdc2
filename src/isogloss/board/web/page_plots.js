import { drawnSelect } from "./controls.js";
import { scoreTitle } from "./describe.js";
import { element, missing, plural, scoreText, sizeText } from "./dom.js";
import { kindLegend, scatter } from "./plots.js";
import { hashOf } from "./state.js";
import { wholeValue } from "./standings.js";

const dateNumber = (system) => {
  const date = system.date ?? (system.year ? `${system.year}-07-01` : null);
  const found = date ? Date.parse(date) : NaN;
  return Number.isNaN(found) ? NaN : 1970 + found / 31_556_952_000;
};
const logOf = (value) => (value > 0 ? Math.log10(value) : NaN);

// What scores are drawn against.
const AXES = [
  {
    id: "parameters",
    title: "Parameters",
    axis: "parameters (logarithmic)",
    of: (system) => logOf(system.parameters ?? NaN),
    log: true,
    text: (x) => sizeText(10 ** x),
  },
  {
    id: "date",
    title: "Date",
    axis: "published",
    of: dateNumber,
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
    log: true,
    text: (x) => `$${sizeText(10 ** x)}`,
  },
  {
    id: "tokens",
    title: "Tokens",
    axis: "tokens (logarithmic)",
    of: (system) => logOf(system.tokens ?? NaN),
    log: true,
    text: (x) => sizeText(10 ** x),
  },
];

export function plotPanel(table, params) {
  const axes = AXES.filter(({ of }) => table.board.systems.some((system) => !Number.isNaN(of(system))));
  const axis = axes.find(({ id }) => id === params.get("x")) ?? axes[0];
  const column = table.shown.find(({ id }) => id === params.get("y")) ?? table.by;
  const head = axisControls(table, axes, axis, column);
  if (!axis) return element("section", {}, head, element("p", {}, "No system here discloses its size, date or cost."));
  const points = plotPoints(table.rows, axis, column);
  if (!points.length)
    return element("section", {}, head, element("p", {}, "No system that the filters leave has both figures."));
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

const axisControls = (table, axes, axis, column) =>
  element(
    "div",
    { class: "controls" },
    drawnSelect(
      "y",
      "Score",
      table.shown.map((each) => [each.id, scoreTitle(each)]),
      column.id,
    ),
    axis
      ? drawnSelect(
          "x",
          "Against",
          axes.map(({ id, title }) => [id, title]),
          axis.id,
        )
      : null,
  );

// The systems that have a whole score in the column and a place on the axis.
const plotPoints = (rows, axis, column) =>
  rows
    .map((row) => ({ row, x: axis.of(row.system), y: wholeValue(row, column.id) }))
    .filter(({ x, y }) => !Number.isNaN(x) && y !== null)
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

function leftOutText(count, axis) {
  if (!count) return "";
  const unknown =
    axis.id === "parameters"
      ? "its size is not disclosed"
      : `its ${axis.id === "tokens" ? "number of tokens" : axis.id} is not known`;
  return `${plural(count, "system")} not drawn: the score is incomplete, or ${unknown}.`;
}
