import { categoryTitle } from "./describe.js";
import { memoized } from "./ranking.js";

// A part of the benchmark with its own ranking: all of it, a category, or one task.
export const FULL = "full";

/** @param {string} text */
const lowerFirst = (text) => (/^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text);

/** @param {Segment} options */
const contentOf = ({ tasks }) => JSON.stringify([...tasks].sort());

// Every part, by id. Parts with the tasks of an earlier one stand for it: the only category, or the task of a category with
// one task.
const segmentIndex = memoized((/** @type {Board} */ board) => {
  const names = new Map(board.tasks.map(({ id, name }) => [id, name]));
  /** @type {Segment[]} */
  const parts = [
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
      words: tasks.length === 1 ? `all of ${names.get(tasks[0])}` : `all ${lowerFirst(categoryTitle(name))} tasks`,
      tasks,
    })),
    ...board.tasks.map(({ id, name }) => ({ id, kind: "task", title: name, words: `all of ${name}`, tasks: [id] })),
  ];
  /** @type {Map<string, Segment>} */
  const byContent = new Map();
  /** @type {Map<string, Segment>} */
  const byId = new Map();
  for (const part of parts.filter(({ tasks }) => tasks.length)) {
    const content = contentOf(part);
    if (!byContent.has(content)) byContent.set(content, part);
    if (!byId.has(part.id)) byId.set(part.id, byContent.get(content) ?? part);
  }
  return { parts: [...byContent.values()], byId, full: parts[0] };
});

/** @param {Board} board @returns {Segment[]} */
export const segmentsOf = (board) => segmentIndex(board).parts;

// The segment with an id; the full benchmark if there is none.
/** @param {Board} board @param {string | null} id @returns {Segment} */
export function segmentOf(board, id) {
  const { byId, full } = segmentIndex(board);
  return byId.get(id ?? FULL) ?? full;
}

// A segment in a sentence: "overall", "in question answering", "on XNLI".
/** @param {Segment} segment */
export const segmentPlace = ({ kind, title }) =>
  kind === "full" ? "overall" : kind === "category" ? `in ${lowerFirst(title)}` : `on ${title}`;
