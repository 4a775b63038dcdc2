import { firstSegment, startOf } from "../board/coverage.js";
import { element, missing } from "../page/dom.js";
import { memoized } from "../board/ranking.js";
import { FULL, segmentsOf } from "../board/segments.js";
import { tabsOf } from "./segment_tabs.js";
import { meanColumn, systemTable } from "./system_table.js";

// With fewer systems in the segment that the leaderboard starts with, a table starts with another one.
const LEAST_ROWS = 2;

// A table of systems by tasks, one part of the benchmark at a time, with the systems that cover it: those with other tasks
// would fill it with gaps. The id of a column is that of its task; `mean` explains their average.
/**
 * @param {Board} board
 * @param {URLSearchParams} params
 * @param {{ tasks: SystemColumn[], mean: string, name: string, label: string }} options2
 */
export function segmentedTable(board, params, { tasks, mean, name, label }) {
  const { segments, covering } = coveredParts(tasks, board);
  if (!segments.length) return element("p", { class: "soft" }, "No system has all these languages of any task.");
  const counts = new Map([...covering].map(([id, systems]) => [id, systems.length]));
  const first = firstSegment(board);
  const start = first !== null && (counts.get(first) ?? 0) >= LEAST_ROWS ? first : startOf(segments, counts);
  const chosen = segments.find(({ id }) => id === params.get("segment")) ?? segments.find(({ id }) => id === start) ?? segments[0];
  const columns = tasks.filter(({ id }) => chosen.tasks.includes(id));
  const shown = columns.length > 1 ? [meanColumn(columns, mean), ...columns] : columns;
  return element(
    "div",
    { class: "segmented" },
    tabsOf(segments, counts, chosen.id),
    systemTable(board, params, {
      columns: shown,
      main: shown[0].id,
      name: segments.length > 1 ? `${name}-${chosen.id}` : name,
      label,
      systems: covering.get(chosen.id),
    }),
  );
}

// The parts of the benchmark that any system covers as far as there are columns, and those systems.
const coveredParts = memoized((/** @type {SystemColumn[]} */ columns, /** @type {Board} */ board) => {
  const scored = new Map(columns.map(({ id, of }) => [id, Uint8Array.from(board.systems, (system) => Number(!missing(of(system))))]));
  /** @type {Map<string, System[]>} */
  const covering = new Map();
  const contents = new Set();
  const segments = segmentsOf(board).flatMap((segment) => {
    const tasks = segment.tasks.filter((id) => scored.has(id));
    const systems = board.systems.filter(({ at }) => tasks.every((id) => scored.get(id)?.[at]));
    if (!tasks.length || !systems.length || contents.has(tasks.join())) return [];
    contents.add(tasks.join());
    covering.set(segment.id, systems);
    return [{ ...segment, tasks, title: titleOf(segment, tasks, columns) }];
  });
  return { segments, covering };
});

// A category with one column is named after it.
/** @param {Segment} segment @param {string[]} tasks @param {SystemColumn[]} columns */
const titleOf = ({ id, title }, tasks, columns) =>
  tasks.length === 1
    ? (columns.find((column) => column.id === tasks[0])?.title ?? title)
    : id === FULL
      ? "All tasks"
      : title;
