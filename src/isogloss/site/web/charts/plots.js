import { drawn, drawnToWidth, element, missing, nameOf, scoreText } from "../page/dom.js";
import { KIND_MARKS } from "./colour.js";
import { frontier, stepBoxes, stepPath } from "./frontier.js";
import { modelName, placeLabels } from "./labels.js";
import { plane, dataGrid } from "./plane.js";
import { withTip } from "../page/tips.js";

const SCATTER_HEIGHT = 460;
const SCATTER_EDGE = { left: 44, right: 24, top: 24, bottom: 48 };

/** @param {string} kind @returns {MarkStyle} */
export const kindStyle = (kind) => KIND_MARKS[kind] ?? KIND_MARKS.other;

/** @param {string} kind @param {number} x @param {number} y @param {number} [size] @param {boolean} [hollow] */
export const mark = (kind, x, y, size = 5, hollow = false) => styledMark(kindStyle(kind), x, y, size, hollow);

/** @param {MarkStyle} style @param {number} x @param {number} y @param {number} [size] @param {boolean} [hollow] */
export function styledMark([colour, shape], x, y, size = 5, hollow = false) {
  const around = hollow ? { fill: "none", stroke: colour, class: "hollow" } : { fill: colour, class: "mark" };
  if (shape === "circle") return drawn("circle", { cx: x, cy: y, r: size, ...around });
  /** @type {Record<string, string>} */
  const paths = {
    square: `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}z`,
    triangle: `M${x} ${y - size - 1}L${x + size + 1} ${y + size}H${x - size - 1}z`,
    down: `M${x} ${y + size + 1}L${x + size + 1} ${y - size}H${x - size - 1}z`,
    diamond: `M${x} ${y - size - 1}L${x + size + 1} ${y}L${x} ${y + size + 1}L${x - size - 1} ${y}z`,
    cross: `M${x - size} ${y - 2}h${size - 2}v${-size + 2}h4v${size - 2}h${size - 2}v4h${-size + 2}v${size - 2}h-4v${-size + 2}h${-size + 2}z`,
  };
  return drawn("path", { d: paths[shape], ...around });
}

/** @param {number} from @param {number} to @param {number} [most] */
export function niceTicks(from, to, most = 6) {
  const rough = (to - from || 1) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10) * power;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to + 1e-9; at += step) ticks.push(Number(at.toFixed(6)));
  return ticks;
}

/** @param {number} from @param {number} to */
function logTicks(from, to) {
  const ticks = [];
  for (let power = Math.floor(from); power <= Math.ceil(to); power++)
    for (const times of to - from > 2.5 ? [1] : [1, 3]) {
      const at = power + Math.log10(times);
      if (at >= from && at <= to) ticks.push(at);
    }
  return ticks;
}

// The range of values with some padding on both sides.
/** @param {number[]} values @returns {Interval} */
function padded(values) {
  const [from, to] = [Math.min(...values), Math.max(...values)];
  const room = (to - from || 1) * 0.04;
  return [from - room, to + room];
}

// A scatter plot of scores that names the points of the Pareto frontier; `x` is already transformed (a logarithm, a date),
// `shown` are the points that are drawn.
/**
 * @param {{ points: PlotPoint[], shown: PlotPoint[], scale: Interval, xTitle: string, yTitle: string, xTicks?: number[], xText: (x: number) => string, log?: boolean, lower?: boolean, description: string }} options
 */
export function scatter({ points, shown, scale, xTitle, yTitle, xTicks, xText, log, lower, description }) {
  const xs = padded(points.map(({ x }) => x));
  const best = frontier(points, lower);
  return drawnToWidth(element("div", { class: "plot" }), (width) => {
    const area = plane(width, SCATTER_HEIGHT, xs, scale, SCATTER_EDGE);
    const ticks = xTicks ?? (log ? logTicks(...xs) : niceTicks(...xs, width / 110));
    const fitting = ticks.filter((x) => x >= xs[0] && x <= xs[1]);
    const every = Math.ceil(fitting.length / Math.max(2, width / 64));
    return drawn(
      "svg",
      { width, height: SCATTER_HEIGHT, role: "group", "aria-label": description },
      dataGrid(
        area,
        niceTicks(...scale),
        fitting.filter((_, at) => at % every === 0),
        xText,
      ),
      drawn(
        "text",
        { x: (area.left + area.right) / 2, y: SCATTER_HEIGHT - 8, "text-anchor": "middle", class: "title" },
        xTitle,
      ),
      drawn("text", { x: 4, y: 12, class: "title" }, yTitle),
      drawn("path", { class: "pareto", d: stepPath(best, area, area.right) }),
      shown.map((point) => plotDot(point, area, best.includes(point))),
      namedPoints(best, shown, area, stepBoxes(best, area)),
    );
  });
}

// A point; only points of the frontier show their interval and are reached by the tab key, because the table has all.
/** @param {PlotPoint} point @param {Plane} area @param {boolean} notable @param {number} [size] */
export function plotDot({ x, y, low, high, style, href, lines, hollow }, area, notable, size = 5) {
  const [at, height] = [area.x(x), area.y(y)];
  const dot = drawn(
    "a",
    { href, "aria-label": `${lines[0]}: ${scoreText(y)}`, class: notable ? "first" : "faint", tabindex: notable ? null : "-1" },
    !notable || missing(low) || missing(high)
      ? null
      : drawn("line", { x1: at, x2: at, y1: area.y(low), y2: area.y(high), class: "whisker" }),
    styledMark(style, at, height, notable ? size : size - 1, hollow),
  );
  return withTip(dot, () => lines);
}

// Names of some points, the best first, without overlaps.
/** @param {PlotPoint[]} named @param {PlotPoint[]} shown @param {Plane} area @param {number[][]} [others] */
export const namedPoints = (named, shown, area, others = []) =>
  placeLabels(
    [...named].reverse().map(({ x, y, label }) => ({ x: area.x(x), y: area.y(y), text: modelName(label) })),
    shown.map(({ x, y }) => ({ x: area.x(x), y: area.y(y) })),
    { left: area.left, right: area.width, top: 0, bottom: area.bottom },
    others,
  ).map(({ x, y, text, end }) =>
    drawn("text", { x, y, "text-anchor": end ? "end" : "start", class: "label" }, text),
  );

/** @param {[string, MarkStyle][]} entries @param {Child} [more] */
export const markLegend = (entries, more) =>
  element(
    "p",
    { class: "legend" },
    entries.map(([name, style]) =>
      element(
        "span",
        {},
        drawn("svg", { width: 16, height: 16, "aria-hidden": "true" }, styledMark(style, 8, 8)),
        nameOf(name),
      ),
    ),
    more,
  );

// A line in a legend.
/** @param {string} className @param {string} d @param {string} text */
export const lineLegend = (className, d, text) =>
  element(
    "span",
    {},
    drawn("svg", { width: 28, height: 16, "aria-hidden": "true" }, drawn("path", { class: className, d })),
    text,
  );

// The kinds of systems; with a note, those of a scatter plot and its frontier.
/** @param {string[]} kinds @param {string | false} [note] */
export const kindLegend = (kinds, note = "") =>
  markLegend(
    kinds.map((kind) => [kind, kindStyle(kind)]),
    note === false
      ? null
      : [lineLegend("pareto", "M0 12H14V4H28", "Pareto frontier"), note ? element("span", {}, note) : null],
  );
