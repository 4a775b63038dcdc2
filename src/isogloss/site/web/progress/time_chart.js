import { frontier, stepBoxes, stepPath } from "../charts/frontier.js";
import { modelName, shortened } from "../charts/labels.js";
import { plane, dataGrid } from "../charts/plane.js";
import { niceTicks, plotDot, namedPoints } from "../charts/plots.js";
import { drawn, drawnToWidth, element, missing, scoreText } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { yearTicks } from "./dates.js";
import { sampled } from "./progress_data.js";

const TIME_EDGE = { left: 30, right: 22, top: 22, bottom: 26 };

const FEW = 8;
const WIDE = 480;

// The steps of the best score so far, for each regime alone.
/** @param {DatedPoint[]} points @param {Regime[]} regimes @param {boolean} [lower] @returns {[Regime, DatedPoint[]][]} */
export const stepsOf = (points, regimes, lower) =>
  regimes
    .map(
      (regime) =>
        /** @type {[Regime, DatedPoint[]]} */ ([
          regime,
          frontier(
            points.filter((point) => point.regime === regime.id),
            lower,
          ),
        ]),
    )
    .filter(([, steps]) => steps.length);

// Scores over time: a mark per system, and per regime a line of the best score so far with the names of its steps.
/**
 * @param {{ points: DatedPoint[], undated?: DatedPoint | null, steps: [Regime, DatedPoint[]][], years: Interval, scale: Interval, human: number, height: number, title: string, after?: string, hasValues?: boolean }} options `after` says what follows the last point
 */
export function timeChart({ points: dated, undated, steps, years, scale, human, height, title, after, hasValues }) {
  const last = undated ? [{ ...undated, x: years[1] }] : [];
  const points = [...dated, ...last];
  const named = [...steps.flatMap(([, own]) => own), ...last];
  const shown = sampled(points, named);
  const ordered = [...shown].sort((a, b) => Number(named.includes(a)) - Number(named.includes(b)));
  return drawnToWidth(element("div", { class: "plot" }), (width) => {
    const area = plane(width, height, years, scale, TIME_EDGE);
    const ticks = yearTicks(...years);
    const every = Math.ceil(ticks.length / Math.max(2, width / 56));
    const svg = drawn(
      "svg",
      { width, height, role: "group", "aria-label": title },
      dataGrid(
        area,
        niceTicks(...scale, 5),
        ticks.filter((tick, at) => at % every === 0 && tick <= years[1]),
        String,
      ),
      missing(human)
        ? null
        : drawn("line", {
            x1: area.left,
            x2: area.right,
            y1: area.y(human),
            y2: area.y(human),
            class: "human-line level",
          }),
      steps.map(([{ style }, own]) =>
        drawn("path", { class: "steps", stroke: style[0], d: stepPath(own, area, area.right) }),
      ),
      ordered.map((point) => plotDot(point, area, named.includes(point))),
      // Steps are named first, and a few other points if there is room.
      namedPoints(
        [...(shown.length <= FEW ? shown.filter((point) => !named.includes(point)) : []), ...byScore(named)].map((point) =>
          hasValues ? withValue(point) : point,
        ),
        shown,
        area,
        [
          ...steps.flatMap(([, own]) => stepBoxes(own, area)),
          ...(missing(human)
            ? []
            : [
                [area.right - 90, area.right, area.y(human) - 18, area.y(human)],
                [area.left, area.right, area.y(human) - 1, area.y(human) + 1],
              ]),
        ],
      ),
      missing(human) ? null : humanLabel(human, area),
      after && steps.length && width >= WIDE ? afterLabel(after, steps, area) : null,
    );
    arrowKeys(svg);
    return svg;
  });
}

/** @param {DatedPoint} point @returns {DatedPoint} */
const withValue = (point) => ({ ...point, label: `${shortened(modelName(point.label), 20)} ${scoreText(point.y)}` });

// Below the end of the last line.
/** @param {string} text @param {[Regime, DatedPoint[]][]} steps @param {Plane} area */
const afterLabel = (text, steps, area) => {
  const y = Math.max(...steps.map(([, own]) => area.y(own.at(-1)?.y ?? NaN)));
  return drawn("text", { x: area.right, y: y + 16, "text-anchor": "end" }, text);
};

/** @param {DatedPoint[]} points */
const byScore = (points) => [...points].sort((a, b) => a.y - b.y);

/** @param {number} human @param {Plane} area */
const humanLabel = (human, area) =>
  drawn(
    "text",
    { x: area.right, y: area.y(human) - 5, "text-anchor": "end", class: "human-label" },
    `humans ${scoreText(human)}`,
  );
