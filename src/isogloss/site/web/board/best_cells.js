import { languageName } from "./decode.js";
import { memoized } from "./ranking.js";
import { bestScore, referenceOf } from "./relative.js";
import { columnScale } from "./score_scale.js";
import { scoreText } from "../page/dom.js";

// The best score of any system in a cell.
/** @param {Board} board @param {Task} task @param {string} code */
export const bestInCell = (board, task, code) => bestScore(task, code, board.systems);

// The best score of any system in English, or in the best language of a task without English.
/** @param {Board} board @param {Task} task */
export const englishReference = (board, task) => englishReferences(board).get(task.id) ?? referenceOf(task, board.systems);

/** @type {(board: Board) => Map<string, { code: string } & Best>} */
const englishReferences = memoized(
  (board) => new Map(board.tasks.map((task) => [task.id, referenceOf(task, board.systems)])),
);

// Scores on these tasks can be averaged in per cent of English.
/** @param {Board} board @param {Task} task */
export const isRelative = (board, task) => task.place.has("en") && englishReference(board, task).value > 0;

// A line at the best score in English, if there is one.
/** @param {Board} board @param {Task} task @returns {DotLine[]} */
export function englishLine(board, task) {
  const { code, value } = englishReference(board, task);
  if (Number.isNaN(value)) return [];
  return [{ value, label: `best ${languageName(board, code)} ${scoreText(value)}` }];
}

// A score in per cent of the best score in English on the same task; error rates become shares of what is right.
/** @param {Board} board @param {Task} task @param {number} value */
export function englishPercent(board, task, value) {
  const right = (/** @type {number} */ score) => (task.lower_is_better ? 100 - score : score);
  return (100 * right(value)) / right(englishReference(board, task).value);
}

// The axis of a task's charts: its colour scale up to the best score of any system, and to people where they have the same
// metric. It depends on the board alone.
/** @param {Board} board @param {Task} task @returns {Interval} */
export function taskAxis(board, task) {
  const [from, to] = columnScale(board, task.id);
  const ends = [
    ...task.languages.map((code) => bestInCell(board, task, code).value),
    task.cellMetric ? NaN : (task.human ?? NaN),
  ].filter((value) => !Number.isNaN(value));
  return task.lower_is_better
    ? [Math.min(from, 10 * Math.floor(Math.min(...ends) / 10)), to]
    : [from, Math.max(to, 10 * Math.ceil(Math.max(...ends) / 10))];
}
