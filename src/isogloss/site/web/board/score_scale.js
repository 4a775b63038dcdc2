import { memoized } from "./ranking.js";

// Share of the worst scores that may lie below a scale.
const BEYOND = 0.02;
const LEAST_SPAN = 20;

// Multiples of ten around scores: the best one is on the scale, a few of the worst may be beyond it.
/** @param {Iterable<number>} scores @param {boolean} [lower] @returns {Interval} */
export function scaleAround(scores, lower = false) {
  // Typed arrays sort numbers several times as fast, missing ones last, and a board has hundreds of thousands.
  const all = Float64Array.from(scores).sort();
  const none = all.findIndex(Number.isNaN);
  const sorted = none < 0 ? all : all.subarray(0, none);
  if (!sorted.length) return [0, 100];
  const few = Math.floor(sorted.length * BEYOND);
  const [from, to] = lower ? [sorted[0], sorted[sorted.length - 1 - few]] : [sorted[few], sorted[sorted.length - 1]];
  const [low, high] = [10 * Math.floor(from / 10), 10 * Math.ceil(to / 10)];
  return high - low >= LEAST_SPAN ? [low, high] : low + LEAST_SPAN <= 100 ? [low, low + LEAST_SPAN] : [high - LEAST_SPAN, high];
}

// A column of scores has one scale on every page: colours and axes mean the same whatever is filtered, sorted or on screen.
/** @type {(board: Board) => Map<string, Interval>} */
const scalesOf = memoized((board) => {
  const scales = [...board.averages].map(([id, { value }]) => {
    const task = board.task.get(id);
    const cells = task?.cells ?? new Float64Array();
    const scores = new Float64Array(value.length + cells.length);
    scores.set(value);
    scores.set(cells, value.length);
    return /** @type {[string, Interval]} */ ([id, scaleAround(scores, task?.lower_is_better)]);
  });
  return new Map(scales);
});

// The scale of a task, a category or the overall score: multiples of ten around all scores on the board.
/** @param {Board} board @param {string} id @returns {Interval} */
export const columnScale = (board, id) => scalesOf(board).get(id) ?? [0, 100];

// The scale of a leaderboard column. Averages of a selection, or by another rule than the board's, have their own, around the
// scores of all systems.
/** @param {Pick<Standings, "board" | "choice" | "everyone">} table @param {ScoreColumn} column @returns {Interval} */
export function scaleIn({ board, choice, everyone }, { id, kind, lower }) {
  const isPublished = !choice.narrowed && (kind === "category" || choice.ranking === board.rule.name);
  if (kind === "task" || isPublished) return columnScale(board, id);
  return scaleAround(
    everyone.map(({ figures }) => figures.get(id)?.value ?? NaN),
    lower,
  );
}
