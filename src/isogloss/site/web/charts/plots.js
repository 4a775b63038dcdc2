import { drawn, drawnToWidth, element, missing, nameOf, scoreText } from "../page/dom.js";
import { KIND_MARKS } from "./colour.js";
import { withTip } from "../page/tips.js";

const HEIGHT = 420;
const EDGE = { left: 48, right: 24, top: 16, bottom: 48 };

// The Pareto frontier: going right, each point is better than all before it.
/** @param {PlotPoint[]} points @param {boolean | undefined} lower */
function paretoLine(points, lower) {
  /** @param {PlotPoint} options */
  const goodness = ({ y }) => (lower ? -y : y);
  let best = -Infinity;
  return [...points]
    .sort((a, b) => a.x - b.x || goodness(b) - goodness(a))
    .filter((point) => {
      if (goodness(point) <= best) return false;
      best = goodness(point);
      return true;
    });
}

/** @param {string} kind @param {number} x @param {number} y @param {number} [size] @param {boolean} [hollow] */
export function mark(kind, x, y, size = 5, hollow = false) {
  const [colour, shape] = KIND_MARKS[kind] ?? KIND_MARKS.other;
  const around = hollow ? { fill: "none", stroke: colour, class: "hollow" } : { fill: colour, class: "mark" };
  if (shape === "circle") return drawn("circle", { cx: x, cy: y, r: size, ...around });
  /** @type {Record<string, string>} */
  const paths = {
    square: `M${x - size} ${y - size}h${2 * size}v${2 * size}h${-2 * size}z`,
    triangle: `M${x} ${y - size - 1}L${x + size + 1} ${y + size}H${x - size - 1}z`,
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

// The range of values with a share of padding on both sides.
/** @param {number[]} values @param {number} share @returns {Interval} */
function padded(values, share) {
  const [from, to] = [Math.min(...values), Math.max(...values)];
  const room = (to - from || 1) * share;
  return [from - room, to + room];
}

// A scatter plot of scores; `x` is already transformed (a logarithm, a date).
/**
 * @param {{ points: PlotPoint[], xTitle: string, yTitle: string, xTicks?: number[], xText: (x: number) => string, log?: boolean, lower?: boolean, description: string }} options
 */
export function scatter({ points, xTitle, yTitle, xTicks, xText, log, lower, description }) {
  const xs = padded(
    points.map(({ x }) => x),
    0.04,
  );
  const ys = padded(
    points.map(({ y }) => y),
    0.08,
  );
  const line = paretoLine(points, lower);
  return drawnToWidth(element("div", { class: "plot" }), (width) => {
    /** @param {number} x */
    const px = (x) => EDGE.left + ((x - xs[0]) / (xs[1] - xs[0])) * (width - EDGE.left - EDGE.right);
    /** @param {number} y */
    const py = (y) => HEIGHT - EDGE.bottom - ((y - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - EDGE.top - EDGE.bottom);
    const ticks = (xTicks ?? (log ? logTicks(...xs) : niceTicks(...xs, width / 110))).filter(
      (x) => x >= xs[0] && x <= xs[1],
    );
    return drawn(
      "svg",
      { width, height: HEIGHT, role: "group", "aria-label": description },
      gridLines(niceTicks(...ys), ticks, xText, { px, py, width }),
      drawn(
        "text",
        { x: (EDGE.left + width - EDGE.right) / 2, y: HEIGHT - 8, "text-anchor": "middle", class: "title" },
        xTitle,
      ),
      drawn("text", { x: 4, y: 12, class: "title" }, yTitle),
      paretoPath(line, { px, py, width }),
      points.map((point) => withTip(scatterDot(point, px, py), () => point.lines)),
      lineLabels(line, px, py, width),
    );
  });
}

/**
 * @param {number[]} yTicks
 * @param {number[]} xTicks
 * @param {(x: number) => string} xText
 * @param {{ px: (x: number) => number, py: (y: number) => number, width: number }} options3
 */
const gridLines = (yTicks, xTicks, xText, { px, py, width }) => [
  yTicks.map((y) => [
    drawn("line", { x1: EDGE.left, x2: width - EDGE.right, y1: py(y), y2: py(y), class: "grid" }),
    drawn("text", { x: EDGE.left - 6, y: py(y) + 4, "text-anchor": "end" }, String(y)),
  ]),
  xTicks.map((x) => [
    drawn("line", { x1: px(x), x2: px(x), y1: EDGE.top, y2: HEIGHT - EDGE.bottom, class: "grid" }),
    drawn("text", { x: px(x), y: HEIGHT - EDGE.bottom + 18, "text-anchor": "middle" }, xText(x)),
  ]),
];

/**
 * @param {PlotPoint[]} line
 * @param {{ px: (x: number) => number, py: (y: number) => number, width: number }} options1
 */
function paretoPath(line, { px, py, width }) {
  const steps = line.map(({ x, y }, at) => (at ? `H${px(x)}V${py(y)}` : `M${px(x)} ${py(y)}`)).join("");
  return drawn("path", { class: "pareto", d: line.length ? `${steps}H${width - EDGE.right}` : "" });
}

/** @param {PlotPoint} options @param {(value: number) => number} px @param {(value: number) => number} py */
function scatterDot({ x, y, low, high, kind, href, lines }, px, py) {
  return drawn(
    "a",
    { href, "aria-label": `${lines[0]}: ${scoreText(y)}` },
    missing(low) ? null : drawn("line", { x1: px(x), x2: px(x), y1: py(low), y2: py(high), class: "whisker" }),
    mark(kind, px(x), py(y)),
  );
}

// Names of the frontier points, without overlaps.
/**
 * @param {PlotPoint[]} line
 * @param {(value: number) => number} px
 * @param {(value: number) => number} py
 * @param {number} width
 */
function lineLabels(line, px, py, width) {
  /** @type {number[][]} */
  const taken = [];
  return [...line].reverse().flatMap((point) => {
    const text = point.label.length > 22 ? `${point.label.slice(0, 21)}…` : point.label;
    const [x, y, wide] = [px(point.x), py(point.y) - 9, text.length * 6.6];
    const end = x + 8 + wide > width;
    const box = end ? [x - wide - 8, x] : [x, x + wide + 8];
    if (box[0] < 0 || taken.some(([from, to, at]) => Math.abs(at - y) < 15 && box[0] < to && from < box[1])) return [];
    taken.push([...box, y]);
    return [drawn("text", { x: end ? x - 6 : x + 6, y, "text-anchor": end ? "end" : "start", class: "label" }, text)];
  });
}

/** @param {string[]} kinds @param {boolean} [line] */
export function kindLegend(kinds, line = true) {
  return element(
    "p",
    { class: "legend" },
    kinds.map((kind) =>
      element(
        "span",
        {},
        drawn("svg", { width: 16, height: 16, "aria-hidden": "true" }, mark(kind, 8, 8)),
        nameOf(kind),
      ),
    ),
    line &&
      element(
        "span",
        {},
        drawn(
          "svg",
          { width: 28, height: 16, "aria-hidden": "true" },
          drawn("path", { class: "pareto", d: "M0 12H14V4H28" }),
        ),
        "Pareto frontier",
      ),
  );
}
