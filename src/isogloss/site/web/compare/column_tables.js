// The leaderboard's own tables and tests, column by column, so that a comparison never says anything else.
import { memoized } from "../board/ranking.js";
import { standings, wholeValue } from "../board/standings.js";
import { testedOrder } from "../board/tested_order.js";
import { MOST_LETTERED } from "../statistics/ordering.js";

const EVERYTHING = new URLSearchParams();

// The leaderboard's table of a column, tested if it has few enough systems for letters. Kept, since a page needs many columns.
const keptTables = memoized((/** @type {Board} */ _board) => /** @type {Map<string, Standings>} */ (new Map()));

/** @param {Board} board @param {string} id @returns {Standings} */
export function columnTable(board, id) {
  const tables = keptTables(board);
  const ready = tables.get(id);
  if (ready) return ready;
  const table = standings(board, id === "overall" ? EVERYTHING : new URLSearchParams({ sort: id }));
  if (table.ranked <= MOST_LETTERED) table.testRanks?.();
  tables.set(id, table);
  return table;
}

// The complete figure of a system in a column of the leaderboard, or null.
/** @param {Board} board @param {System} system @param {string} id */
export const wholeFigure = (board, system, id) => wholeValue(columnTable(board, "overall").rows[system.at], id);

// The test of some systems only, corrected over their pairs.
/** @param {Standings} table @param {System[]} systems @param {(system: System) => number} figure */
export const orderAmong = (table, systems, figure) =>
  testedOrder({ ...table, rows: systems.map(({ at }) => table.rows[at]), values: systems.map(figure) });
