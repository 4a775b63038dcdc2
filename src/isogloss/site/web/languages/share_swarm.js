import { figureShare, englishSharePaint } from "./basis.js";
import { niceTicks } from "../charts/plots.js";
import { textWidth } from "../charts/text_width.js";
import { drawn, drawnToWidth, element } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { tipLines } from "./language_words.js";
import { memoized } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

const SWARM_DOT = 5;
const SWARM_ROW = 11;
const SWARM_EDGE = 24;
const SWARM_AXIS = 30;

const swarmPlan = memoized((/** @type {Basis} */ basis, /** @type {number} */ width) => {
  const dots = basis.languages
    .flatMap((language) => {
      const own = basis.relative.get(language.code);
      return own ? [{ language, value: 100 * own.share }] : [];
    })
    .sort((a, b) => a.value - b.value);
  const from = Math.min(50, 10 * Math.floor(dots[0].value / 10));
  const to = Math.max(100, dots[dots.length - 1].value);
  /** @param {number} value */
  const x = (value) => SWARM_EDGE + ((value - from) / (to - from)) * (width - 2 * SWARM_EDGE);
  const stacked = stackedRows(dots.map(({ value }) => x(value)));
  return { dots, from, to, x, stacked, base: 40 + Math.max(...stacked) * SWARM_ROW };
});

// Every compared language as a dot on the axis of shares, stacked where they meet, with the chosen share as a line.
/** @param {Basis} basis @param {number} share */
export const shareSwarm = (basis, share) =>
  basis.relative.size
    ? drawnToWidth(element("div", { class: "plot swarm" }), (width) => swarmDrawing(basis, share, width))
    : null;

/** @param {Basis} basis @param {number} share @param {number} width */
function swarmDrawing(basis, share, width) {
  const { dots, from, to, x, stacked, base } = swarmPlan(basis, width);
  const line = x(100 * share);
  return drawn(
    "svg",
    { width, height: base + SWARM_AXIS + 16, role: "group", "aria-label": "Languages by their share of the score in English" },
    niceTicks(from, to, Math.min(8, width / 64)).map((tick) => [
      drawn("line", { x1: x(tick), x2: x(tick), y1: 18, y2: base + 6, class: "grid" }),
      drawn("text", { x: x(tick), y: base + 22, "text-anchor": "middle" }, `${tick} %`),
    ]),
    drawn("text", { x: width / 2, y: base + SWARM_AXIS + 12, "text-anchor": "middle" }, `Best score, % of ${basis.reference}`),
    drawn("line", { x1: line, x2: line, y1: 6, y2: base + 6, class: "isogloss" }),
    drawn("text", { x: line - 6, y: 13, "text-anchor": "end", class: "label" }, "← not served"),
    drawn("text", { x: line + 6, y: 13, class: "label" }, "served →"),
    swarmDots(basis, width),
    lowestNames(dots, dots.filter(({ value }) => value < 100 * share).length, stacked, x, base),
  );
}

// The dots, which stay on the page while the line moves.
const swarmDots = memoized((/** @type {Basis} */ basis, /** @type {number} */ width) => {
  const { dots, stacked, base, x } = swarmPlan(basis, width);
  const group = drawn(
    "g",
    { "data-key": "swarm-dots" },
    dots.map(({ language, value }, at) =>
      withTip(
        drawn(
          "a",
          {
            href: hashOf(["language", language.code]),
            "data-key": `swarm-${language.code}`,
            "aria-label": `${language.name}: ${figureShare(value / 100)}`,
          },
          drawn("circle", {
            cx: x(value).toFixed(1),
            cy: base - stacked[at] * SWARM_ROW,
            r: SWARM_DOT,
            fill: englishSharePaint(value).fill,
          }),
        ),
        () => tipLines(basis, language),
      ),
    ),
  );
  arrowKeys(group);
  return group;
});

// The row of each dot, from the bottom, so that none covers another.
/** @param {number[]} places @returns {number[]} */
export function stackedRows(places) {
  /** @type {number[]} */
  const ends = [];
  return places.map((place) => {
    const free = ends.findIndex((end) => place - end >= 2 * SWARM_DOT + 1);
    const row = free < 0 ? ends.length : free;
    ends[row] = place;
    return row;
  });
}

// The names of the first dots, above them, as far as there is room.
/**
 * @param {{ language: Language, value: number }[]} dots
 * @param {number} count
 * @param {number[]} stacked
 * @param {(value: number) => number} x
 * @param {number} base
 */
function lowestNames(dots, count, stacked, x, base) {
  let free = -Infinity;
  return dots.slice(0, Math.min(count, 16)).flatMap(({ language, value }, at) => {
    const wide = textWidth(language.name);
    const start = Math.max(2, x(value) - wide / 2);
    if (start < free || stacked.some((row, other) => row > stacked[at] && Math.abs(x(dots[other].value) - x(value)) < wide))
      return [];
    free = start + wide + 8;
    return [
      drawn("text", { x: start, y: base - stacked[at] * SWARM_ROW - 9, class: "label", "aria-hidden": "true" }, language.name),
    ];
  });
}
