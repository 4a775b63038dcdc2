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
