import { monthText } from "./dates.js";
import { element, missing, nameOf } from "../page/dom.js";
import { wholeValue } from "../board/standings.js";

/** @param {string} name */
export const shortName = (name) => name.split(":")[0];

// The tasks that a later suite dropped, added and kept.
/** @param {BoardHistory} history */
export function taskSets({ suites: [old, now] }) {
  /** @param {HistorySuite} suite @param {string} id */
  const has = (suite, id) => suite.tasks.some((task) => task.id === id);
  return {
    dropped: old.tasks.filter(({ id }) => !has(now, id)),
    added: now.tasks.filter(({ id }) => !has(old, id)),
    kept: now.tasks.filter(({ id }) => has(old, id)),
  };
}

// The row of a main table with the best average.
/** @param {HistorySuite} suite */
export const suiteBest = ({ rows }) =>
  rows
    .filter(({ average }) => !missing(average))
    .reduce((/** @type {any} */ best, row) => (!best || (row.average ?? 0) > best.average ? row : best), null);

// The best score of some systems in a column, with its interval.
/** @param {Standing[]} rows @param {string} id @param {boolean} [lower] @returns {(Ended & { system: System }) | null} */
export function bestRow(rows, id, lower = false) {
  /** @type {(Ended & { system: System }) | null} */
  let best = null;
  for (const row of rows) {
    const value = wholeValue(row, id);
    if (value === null || (best && (lower ? value >= best.value : value <= best.value))) continue;
    const { low, high } = row.figures.get(id);
    best = { value, low, high, system: row.system };
  }
  return best;
}

// The distance of the best score from the human one by task, the largest first; negative above it.
/** @param {Board} board @param {Standing[]} rows @returns {HumanGap[]} */
export const humanGaps = (board, rows) =>
  board.tasks
    .flatMap((task) => {
      const best = missing(task.human) ? null : bestRow(rows, task.id, task.lower_is_better);
      if (!best || missing(task.human)) return [];
      const gap = task.lower_is_better ? best.value - task.human : task.human - best.value;
      return [{ task, human: task.human, best, gap }];
    })
    .sort((a, b) => b.gap - a.gap);

// The notes on a system's score on a task, such as one that makes it incomparable.
/** @param {Board} board @param {System} system @param {Task} task */
export const notesOn = (board, system, task) =>
  (board.footnotes ?? []).filter((note) => note.system === system.id && note.task === task.id).map(({ text }) => text);

// Those of best scores, each marked with a dagger.
/** @param {Board} board @param {{ system: System, task: Task }[]} scores */
export const daggerNotes = (board, scores) =>
  scores.flatMap(({ system, task }) =>
    notesOn(board, system, task).map((text) =>
      element("p", { class: "notes" }, "† ", nameOf(system.fullName), `, ${task.name}: ${text.replace(/\.$/, "")}.`),
    ),
  );

// The stated gaps of XTREME's best system to humans.
/** @param {HistoryEvent[]} events */
export function gapsText(events) {
  const stated = events.filter(({ measure }) => measure === "gap to humans");
  const gaps = stated.map(({ date, event, value }) => `${event} ${value} points in ${monthText(date)}`);
  return gaps.length ? `XTREME's gap to humans was ${gaps.join(" and ")} (${stated[0].source}).` : "";
}
