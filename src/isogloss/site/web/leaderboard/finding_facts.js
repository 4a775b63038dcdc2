// The facts behind the findings of the landing page, computed from the data.
import { humanGaps } from "../progress/history.js";
import { groupedBy, memoized, weightedMean } from "../board/ranking.js";
import { goodness, relativeScores, serviceOf } from "../board/relative.js";
import { FULL } from "../board/segments.js";
import { standings } from "../board/standings.js";

// The two best-ranked systems, and how their tasks agree with their averages: `higher` counts the tasks on which the second
// has the better score, `decides` is the category without which it would have the better average.
/** @param {Standings} table @returns {LeadFacts | null} */
export function leadFacts(table) {
  const ranked = table.rows
    .filter((row) => row.rank !== null)
    .sort((a, b) => Number(a.rank) - Number(b.rank));
  const [lead, second = null] = ranked;
  if (!lead) return null;
  const differences = second ? taskDifferences(table, lead, second) : [];
  const higher = differences.filter(({ value }) => value < 0).length;
  const isConflict = 2 * higher > differences.length;
  return {
    lead,
    second,
    ranked,
    higher: isConflict ? higher : 0,
    tasks: differences.length,
    decides: isConflict ? decidingCategory(differences) : "",
  };
}

// How far the first system is ahead on each task that both cover, in points.
/** @param {Standings} table @param {Standing} lead @param {Standing} second */
const taskDifferences = ({ columns }, lead, second) =>
  columns
    .map(({ task }) => {
      const [one, other] = [lead, second].map(({ figures }) => figures.get(task.id));
      const value = one.partial || other.partial ? NaN : goodness(task, one.value) - goodness(task, other.value);
      return { category: task.category, value };
    })
    .filter(({ value }) => !Number.isNaN(value));

/** @param {{ category: string, value: number }[]} differences */
function decidingCategory(differences) {
  const means = [...groupedBy(differences, ({ category }) => category)].map(([category, group]) => ({
    category,
    value: weightedMean(group.map(({ value }) => value)),
  }));
  /** @param {string} without */
  const rest = (without) => weightedMean(means.filter(({ category }) => category !== without).map(({ value }) => value));
  const turning = means.filter(({ category, value }) => value > 0 && rest(category) < 0);
  return turning.length === 1 ? turning[0].category : "";
}

// Where the best score reaches 80 % of the best English score on the same task. Null if nothing can be compared with English.
/** @type {(board: Board) => ServiceFacts | null} */
export const serviceFacts = memoized((board) => {
  const relative = relativeScores(board.tasks, board.systems);
  if (relative.size < 2) return null;
  const codes = new Set([...relative.values()].flatMap(({ parts }) => parts.map(({ reference }) => reference.code)));
  return { relative, service: serviceOf(board.languages, relative), reference: codes.size === 1 ? [...codes][0] : "" };
});

// The best scores on the whole benchmark and their distance from human scores.
/** @type {(board: Board) => HumanGap[]} */
export const bestHumanGaps = memoized((board) => {
  const { rows, dropped } = standings(board, new URLSearchParams({ segment: FULL, complete: "1" }));
  return humanGaps(board, [...rows, ...dropped]);
});
