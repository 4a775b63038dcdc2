import { scoreRange } from "../charts/heatmap.js";
import { memoized } from "./ranking.js";

// A column of scores has one scale on every page: colours and axes mean the same whatever is filtered, sorted or on screen.
/** @type {(board: Board) => Map<string, Interval>} */
const scalesOf = memoized((board) => {
  const scales = [...board.averages].map(([id, { value }]) => {
    const cells = board.task.get(id)?.cells ?? [];
    return /** @type {[string, Interval]} */ ([id, scoreRange([...value, ...cells])]);
  });
  return new Map(scales);
});

// The scale of a task, a category or the overall score: multiples of ten around all scores on the board.
/** @param {Board} board @param {string} id @returns {Interval} */
export const columnScale = (board, id) => scalesOf(board).get(id) ?? [0, 100];

/** @type {(board: Board) => Map<string, Interval>} */
const axisScalesOf = memoized((board) => {
  const axes = [...board.averages].map(([id, { value }]) => {
    const task = board.task.get(id);
    const scores = [...value, ...(task?.cells ?? [])].filter((score) => !Number.isNaN(score));
    const [from, to] = columnScale(board, id);
    const best = scores.reduce(
      (one, other) => (task?.lower_is_better ? Math.min(one, other) : Math.max(one, other)),
      from,
    );
    /** @type {Interval} */
    const axis = [Math.min(from, 10 * Math.floor(best / 10)), Math.max(to, 10 * Math.ceil(best / 10))];
    return /** @type {[string, Interval]} */ ([id, axis]);
  });
  return new Map(axes);
});

// The same scale for an axis, extended to the best score: colours can leave out the extremes, positions cannot.
/** @param {Board} board @param {string} id @returns {Interval} */
export const axisScale = (board, id) => axisScalesOf(board).get(id) ?? [0, 100];
