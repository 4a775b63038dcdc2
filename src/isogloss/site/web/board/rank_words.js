import { memoized } from "./ranking.js";
import { standings } from "./standings.js";
import { redraw } from "../page/state.js";

/** @type {(board: Board) => Map<string, Standings>} */
const tables = memoized(() => new Map());

// The ranking by a column over all systems. Large rankings are tested after the page is drawn, which then is drawn again.
/** @param {Board} board @param {string} id @returns {Standings} */
export function rankingBy(board, id) {
  const known = tables(board).get(id);
  if (known) return known;
  const table = standings(board, new URLSearchParams({ sort: id }));
  tables(board).set(id, table);
  if (table.testRanks)
    setTimeout(() => {
      table.testRanks?.();
      redraw();
    });
  return table;
}

// The ranks of a system that the test of the order leaves open, or its place in an order that is not tested.
/** @param {Standings} table @param {System} system @param {string} [noun] of the ranked systems */
export function rankWords({ rows, ranked, order, testRanks }, system, noun = "") {
  const rank = rows.find((row) => row.system === system)?.rank ?? null;
  if (rank === null) return "not ranked";
  if (ranked === 1) return "the only system ranked";
  if (testRanks) return "testing the order…";
  const range = order.ranges.get(system.id);
  if (!range) return `place ${rank} of ${ranked}${noun}, order not tested`;
  const [low, high] = range;
  const untested = order.untested.has(system.id) ? ", not tested" : "";
  return low === high ? `rank ${low} of ${ranked}${noun}` : `ranks ${low}–${high} of ${ranked}${noun}${untested}`;
}
