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

// The scale of a leaderboard column. Averages of a selection, or by another rule than the board's, have their own, around the
// scores of all systems.
/** @param {Pick<Standings, "board" | "choice" | "everyone">} table @param {ScoreColumn} column @returns {Interval} */
export function scaleIn({ board, choice, everyone }, { id, kind }) {
  const isPublished = !choice.narrowed && (kind === "category" || choice.ranking === board.rule.name);
  if (kind === "task" || isPublished) return columnScale(board, id);
  return scoreRange(everyone.map(({ figures }) => figures.get(id)?.value));
}
