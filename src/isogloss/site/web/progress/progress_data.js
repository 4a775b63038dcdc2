import { columnScale } from "../board/score_scale.js";
import { scoreTitle } from "../board/describe.js";
import { standings, wholeValue } from "../board/standings.js";
import { missing, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { dateText, decimalYear } from "./dates.js";
import { bestRow } from "./history.js";
import { regimeOf } from "./regimes.js";

const MOST_DATED = 60;

// All systems on all tasks, as the leaderboard has them without filters.
/** @param {Board} board */
export const wholeBoard = (board) => standings(board, new URLSearchParams());

/** @param {Board} board @param {Regime[]} regimes */
export function rowsOf(board, regimes) {
  const ids = new Set(regimes.map(({ id }) => id));
  return wholeBoard(board).rows.filter(({ system }) => ids.has(regimeOf(system).id));
}

// The scale of a column, widened to all scores of the board and to the human one: it does not depend on what is shown.
/** @param {Board} board @param {ScoreColumn} column @returns {Interval} */
export function plotScale(board, column) {
  const values = wholeBoard(board).rows.flatMap((row) => wholeValue(row, column.id) ?? []);
  const human = humanScore(column);
  if (!missing(human)) values.push(human);
  const [from, to] = columnScale(board, column.id);
  return [
    values.reduce((low, value) => Math.min(low, 10 * Math.floor(value / 10)), from),
    values.reduce((high, value) => Math.max(high, 10 * Math.ceil(value / 10)), to),
  ];
}

/** @param {ScoreColumn} column */
export const humanScore = (column) => (column.kind === "task" ? (column.part.task.human ?? NaN) : NaN);

// The dated systems with a score in a column.
/** @param {Standing[]} rows @param {ScoreColumn} column @returns {DatedPoint[]} */
export const datedPoints = (rows, column) =>
  rows.flatMap((row) => {
    const { system } = row;
    const [y, when] = [wholeValue(row, column.id), dateText(system)];
    if (y === null || !when) return [];
    const { low, high } = row.figures.get(column.id);
    const regime = regimeOf(system);
    return [
      {
        x: decimalYear(when),
        y,
        low,
        high,
        style: regime.style,
        regime: regime.id,
        when,
        label: system.name,
        href: hashOf(["system", system.id]),
        // Made when it is shown: a board has thousands of points.
        get lines() {
          return [system.fullName, `${scoreTitle(column)} ${scoreText(y)}`, when, system.regime].filter(Boolean);
        },
        system,
      },
    ];
  });

// The best system without a date in a column, unless one with a date is as good: else the best score so far would mislead.
/** @param {Standing[]} rows @param {ScoreColumn} column @param {DatedPoint[]} dated @returns {DatedPoint | null} */
export function bestUndated(rows, column, dated) {
  const best = bestRow(
    rows.filter(({ system }) => !dateText(system)),
    column.id,
    column.lower,
  );
  if (!best || dated.some(({ y }) => (column.lower ? y <= best.value : y >= best.value))) return null;
  const { system, value: y } = best;
  const [low, high] = [best.low ?? NaN, best.high ?? NaN];
  const { style, id: regime } = regimeOf(system);
  const [href, label] = [hashOf(["system", system.id]), system.name];
  const lines = [system.fullName, `${scoreTitle(column)} ${scoreText(y)}`, "without a date", system.regime].filter(Boolean);
  return { x: NaN, y, low, high, style, regime, when: "", label, href, lines, system, hollow: true };
}

// At most `most` points, evenly by score, with those that must be seen.
/**
 * @template {{ y: number }} T
 * @param {T[]} points
 * @param {T[]} kept
 * @param {number} [most]
 * @returns {T[]}
 */
export function sampled(points, kept, most = MOST_DATED) {
  if (points.length <= most) return points;
  const sorted = [...points].sort((a, b) => b.y - a.y);
  const even = Array.from({ length: most }, (_, at) => sorted[Math.round((at * (sorted.length - 1)) / (most - 1))]);
  return [...new Set([...even, ...kept])];
}
