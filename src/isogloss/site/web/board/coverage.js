import { CELL_FILTERS, chosenColumns, keptSystems } from "./filters.js";
import { groupedBy, memoized } from "./ranking.js";
import { FULL, segmentsOf } from "./segments.js";

/** @param {ArrayLike<number>} scores @param {number} first @param {number[]} places */
const hasAll = (scores, first, places) => places.every((place) => !Number.isNaN(scores[first + place]));

// The tasks that each system covers with every selected cell or with a published average, as one flag per system.
const completeTasks = memoized((/** @type {Board} */ board, /** @type {string} */ query) => {
  /** @type {[string, Uint8Array][]} */
  const flags = chosenColumns(board, new URLSearchParams(query)).map(({ task, places, whole, scores }) => {
    const ready = whole ? board.averages.get(task.id)?.value : undefined;
    const complete = board.systems.map(
      ({ at }) => !Number.isNaN(ready?.[at] ?? NaN) || hasAll(scores, at * task.languages.length, places),
    );
    return [task.id, Uint8Array.from(complete, Number)];
  });
  return new Map(flags);
});

// The number of matching systems that cover each segment, with the filters of the address.
/** @param {Board} board @param {URLSearchParams} params @returns {Map<string, number>} */
export function segmentCounts(board, params) {
  const cells = new URLSearchParams(CELL_FILTERS.flatMap(({ key }) => params.getAll(key).map((value) => [key, value])));
  const complete = completeTasks(board, cells.toString());
  const kept = keptSystems(board, params);
  return new Map(
    segmentsOf(board).map(({ id, tasks }) => {
      const flags = tasks.map((task) => complete.get(task)).filter(Boolean);
      return [id, flags.length ? kept.filter(({ at }) => flags.every((flag) => flag[at])).length : 0];
    }),
  );
}

// As many ranked systems are worth reading, whatever other segments have.
const ENOUGH_RANKED = 10;

// The segment to start with: the full benchmark, unless it ranks few systems and a category ranks over twice as many. Without
// such segments the one that most systems cover. Null if no system covers any segment.
/** @type {(board: Board) => string | null} */
export const firstSegment = memoized((board) => startOf(segmentsOf(board), segmentCounts(board, new URLSearchParams())));

/** @param {Segment[]} all @param {Map<string, number>} counts */
export function startOf(all, counts) {
  /** @param {Segment[]} segments */
  const widest = (segments) =>
    segments.reduce(
      (top, { id }) => ((counts.get(id) ?? 0) > top.count ? { id, count: counts.get(id) ?? 0 } : top),
      { id: FULL, count: 0 },
    );
  const full = counts.get(FULL) ?? 0;
  const category = widest(all.filter(({ kind }) => kind === "category"));
  if (full >= ENOUGH_RANKED || (full && 2 * full >= category.count)) return FULL;
  const { id, count } = category.count ? category : widest(all);
  return count ? id : null;
}

// How much of a task a system covers: the languages with a score, and whether its average is published without them.
/** @param {Board} board @param {Task} task @param {System} system @returns {TaskCoverage} */
function taskCoverage(board, task, system) {
  const [first, of] = [system.at * task.languages.length, task.languages.length];
  let n = 0;
  for (let place = 0; place < of; place++) if (!Number.isNaN(task.cells[first + place])) n += 1;
  return { n, of, average: n < of && !Number.isNaN(board.averages.get(task.id)?.value[system.at] ?? NaN) };
}

// Each system's coverage of all tasks, and the same as text.
const systemCoverage = memoized((/** @type {Board} */ board) =>
  board.systems.map((system) => {
    const tasks = board.tasks.map((task) => taskCoverage(board, task, system));
    return { system, tasks, key: tasks.map(({ n, average }) => (average ? `${n}a` : n)).join() };
  }),
);

// Systems by identical coverage, the widest first.
/** @param {Board} board @param {System[]} systems @returns {CoveragePattern[]} */
export function coveragePatterns(board, systems) {
  const all = systemCoverage(board);
  const groups = groupedBy(
    systems.map(({ at }) => all[at]),
    ({ key }) => key,
  );
  /** @param {TaskCoverage[]} tasks */
  const width = (tasks) => tasks.reduce((sum, { n, of, average }) => sum + (average ? 1 : n / of), 0);
  return [...groups.values()]
    .map((group) => ({ tasks: group[0].tasks, systems: group.map(({ system }) => system) }))
    .sort((a, b) => width(b.tasks) - width(a.tasks) || b.systems.length - a.systems.length);
}
