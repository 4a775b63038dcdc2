// Which systems to compare if the address names none, and whom to compare a system with.
import { cellScore } from "../board/decode.js";
import { scoreTitle } from "../board/describe.js";
import { wholeValue } from "../board/standings.js";
import { columnTable } from "./column_tables.js";

const PARTNERS = 3;

// The two best-ranked systems of the full benchmark, or else of the column that most systems have, or else the widest system
// and the one that shares most with it. `column` is null for the full benchmark, `count` 0 without a common column.
/** @param {Board} board @returns {{ systems: System[], column: ScoreColumn | null, count: number } | null} */
export function bestPair(board) {
  const { rows, shown } = columnTable(board, "overall");
  const counted = shown.map((column) => ({
    column,
    count: rows.filter((row) => wholeValue(row, column.id) !== null).length,
  }));
  const [full] = counted;
  const widest = full.count > 1 ? full : counted.reduce((most, next) => (next.count > most.count ? next : most));
  if (widest.count < 2) return widestPair(board);
  const table = columnTable(board, widest.column.id);
  const ranked = table.rows.filter(({ rank }) => rank !== null).sort((a, b) => Number(a.rank) - Number(b.rank));
  const column = widest === full ? null : widest.column;
  return { systems: ranked.slice(0, 2).map(({ system }) => system), column, count: widest.count };
}

// The system with most cells, and the one that has most of them, too.
/** @param {Board} board */
function widestPair(board) {
  const [first] = [...board.systems].sort((a, b) => b.cells - a.cells);
  const [partner] = first ? partnersOf(board, first) : [];
  return partner ? { systems: [first, partner.system], column: null, count: 0 } : null;
}

/** @param {NonNullable<ReturnType<typeof bestPair>>} best */
export function preselectedText({ column, count }) {
  if (!count) return "Preselected: the system with most scores, and the one that shares most of them.";
  return column
    ? `Preselected: the two best-ranked of ${count} systems on ${scoreTitle(column)}, because fewer than two systems cover the full benchmark.`
    : "Preselected: the two best-ranked systems of the full benchmark.";
}

// The systems that share most cells and averages with one, best rank first among equals.
/** @param {Board} board @param {System} system @param {System[]} [without] */
export function partnersOf(board, system, without = []) {
  const { rows, shown } = columnTable(board, "overall");
  const own = rows[system.at];
  const columns = shown.filter((column) => wholeValue(own, column.id) !== null);
  const cells = board.tasks.flatMap((task) =>
    task.languages.filter((code) => !Number.isNaN(cellScore(task, system, code))).map((code) => ({ task, code })),
  );
  return rows
    .filter((row) => row.system.id !== system.id && !without.some(({ id }) => id === row.system.id))
    .map((row) => ({
      system: row.system,
      rank: row.rank ?? Infinity,
      cells: cells.filter(({ task, code }) => !Number.isNaN(cellScore(task, row.system, code))).length,
      columns: columns.filter(({ id }) => wholeValue(row, id) !== null).length,
    }))
    .filter((partner) => partner.cells || partner.columns)
    .sort((a, b) => b.cells + b.columns - a.cells - a.columns || a.rank - b.rank)
    .slice(0, PARTNERS);
}
