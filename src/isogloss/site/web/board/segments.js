import { categoryTitle } from "./describe.js";
import { memoized } from "./ranking.js";

// A part of the benchmark with its own ranking: all of it, a category, or one task.
export const FULL = "full";

/** @param {string} text */
const lowerFirst = (text) => (/^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text);

// Parts with the tasks of an earlier one are left out: the only category, or the task of a category with one task.
/** @type {(board: Board) => Segment[]} */
export const segmentsOf = memoized((board) => {
  /** @type {Segment[]} */
  const segments = [
    {
      id: FULL,
      kind: "full",
      title: "Full benchmark",
      words: "the full benchmark",
      tasks: board.tasks.map(({ id }) => id),
    },
    ...board.categories.map(({ name, tasks }) => ({
      id: name,
      kind: "category",
      title: categoryTitle(name),
      words: `all ${lowerFirst(categoryTitle(name))} tasks`,
      tasks,
    })),
    ...board.tasks.map(({ id, name }) => ({ id, kind: "task", title: name, words: `all of ${name}`, tasks: [id] })),
  ];
  /** @param {Segment} options */
  const content = ({ tasks }) => JSON.stringify([...tasks].sort());
  const contents = segments.map(content);
  const ids = segments.map(({ id }) => id);
  return segments.filter(
    ({ id, tasks }, at) => tasks.length && contents.indexOf(contents[at]) === at && ids.indexOf(id) === at,
  );
});

// The segment with an id; the full benchmark if there is none.
/** @param {Board} board @param {string | null} id @returns {Segment} */
export function segmentOf(board, id) {
  const segments = segmentsOf(board);
  return segments.find((segment) => segment.id === id) ?? segments[0];
}

// A segment in a sentence: "overall", "in question answering", "on XNLI".
/** @param {Segment} segment */
export const segmentPlace = ({ kind, title }) =>
  kind === "full" ? "overall" : kind === "category" ? `in ${lowerFirst(title)}` : `on ${title}`;
