import { countText, drawn, drawnToWidth, element, missing, scoreText } from "../page/dom.js";
import { mark } from "./plots.js";
import { fittedText } from "./text_width.js";
import { withTip } from "../page/tips.js";

const MOST_MARKS = 60;
const LINE_HEIGHT = 34;
const LINES_TOP = 26;

// The systems with a value, best first.
/**
 * @param {Board} board
 * @param {(system: System) => Maybe<number>} of
 * @param {string} title
 * @param {boolean} [lower]
 * @returns {Point[]}
 */
export const pointsOf = (board, of, title, lower = false) =>
  board.systems
    .map((system) => ({ system, value: of(system) ?? NaN }))
    .filter(({ value }) => !missing(value))
    .sort((a, b) => (lower ? a.value - b.value : b.value - a.value))
    .map(({ system, value }) => ({
      value,
      kind: system.kind,
      system,
      lines: [`${system.fullName}: ${scoreText(value)}`, title],
    }));

// Sample points evenly by rank, including the best and the worst.
/** @param {Point[]} points */
const evenly = (points) =>
  points.length <= MOST_MARKS
    ? points
    : Array.from({ length: MOST_MARKS }, (_, at) => points[Math.round((at * (points.length - 1)) / (MOST_MARKS - 1))]);

// One line per group with a mark per system.
/** @param {{ lines: StripLine[], description: string }} options */
export function stripChart({ lines: all, description }) {
  const thinned = all.some(({ points }) => points.length > MOST_MARKS);
  const lines = all.map((line) => ({ ...line, points: evenly(line.points) }));
  const place = drawnToWidth(element("div", { class: "plot" }), (width) => stripDrawing(lines, description, width));
  const most = Math.max(...all.map(({ points }) => points.length));
  const note = `Showing ${MOST_MARKS} of up to ${countText(most)} systems per line, sampled evenly by rank.`;
  return element("div", {}, place, thinned ? element("p", { class: "soft" }, note) : null);
}

/** @param {StripLine[]} lines @param {string} description @param {number} width */
function stripDrawing(lines, description, width) {
  const left = Math.min(180, width * 0.34);
  const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
  // Correlations may be negative; a scale that ends where it begins has no width.
  const from = Math.min(90, Math.max(-100, 10 * Math.floor(Math.min(...values) / 10)));
  /** @param {number} value */
  const x = (value) => left + 10 + ((value - from) / (100 - from)) * (width - left - 30);
  const height = LINES_TOP + LINE_HEIGHT * lines.length;
  return drawn(
    "svg",
    { width, height, role: "group", "aria-label": description },
    [-80, -60, -40, -20, 0, 20, 40, 60, 80, 100]
      .filter((tick) => tick >= from)
      .map((tick) => [
        drawn("line", { x1: x(tick), x2: x(tick), y1: 20, y2: height, class: "grid" }),
        drawn("text", { x: x(tick), y: 14, "text-anchor": "middle" }, String(tick)),
      ]),
    lines.map((line, at) => stripLine(line, LINES_TOP + LINE_HEIGHT * (at + 0.5), { left, from, x })),
  );
}

/**
 * @param {StripLine} options
 * @param {number} y
 * @param {{ left: number, from: number, x: (value: number) => number }} options2
 */
function stripLine({ label, href, points, hollow, reference }, y, { left, from, x }) {
  const text = drawn(
    "text",
    { x: left, y: y + 4, "text-anchor": "end" },
    fittedText(label, left - 4),
  );
  /** @param {number} at */
  const line = (at) => drawn("path", { d: `M${x(at)} ${y - 12}v24`, class: "reference" });
  return [
    drawn("line", { x1: x(from), x2: x(100), y1: y, y2: y, class: "grid" }),
    href ? drawn("a", { href }, text) : text,
    reference && !missing(reference.value) ? withTip(line(reference.value), () => reference.lines) : null,
    points.map((point, order) =>
      withTip(
        drawn("g", { class: order ? "faint" : "first" }, mark(point.kind, x(point.value), y, order ? 4 : 6, hollow)),
        () => point.lines,
      ),
    ),
  ];
}
