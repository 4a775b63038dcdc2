import { lackText, shortScoreTitle } from "../board/describe.js";
import { element, listed } from "../page/dom.js";
import { fileColumn } from "../page/export.js";
import { letterOf } from "../statistics/ordering.js";
import { population, testedOn } from "../board/tested_on.js";

// Maximum number of letters on the page; files have all.
const MOST_LETTERS = 6;

// Ranks by the column that sorts the table, with the ranks that the test leaves open, and letters.
/** @param {Standings} table @returns {TableColumn<Standing>} */
export function rankColumn(table) {
  const by = shortScoreTitle(table.by);
  return {
    id: "rank",
    title: `Rank by ${by}`,
    head: element("span", {}, "Rank", element("span", { class: "of" }, `by ${by}`)),
    numeric: true,
    fixed: true,
    className: "rank",
    tip: (row) => rankTip(table, row, by),
    value: (row) => row.rank,
    show: (row) =>
      row.rank === null ? element("span", { class: "soft" }, row.human ? "" : "–") : shownRank(table, row),
  };
}

// In files: the best and worst rank that the test leaves open, the letters, and the test.
/** @param {Standings} table @returns {TableColumn<Standing>[]} */
export function rankColumnsInFiles({ order }) {
  /** @param {Standing} row */
  const range = (row) => order.ranges.get(row.system.id);
  return [
    fileColumn("rank_low", "Best rank", (row) => range(row)?.[0], true),
    fileColumn("rank_high", "Worst rank", (row) => range(row)?.[1], true),
    fileColumn("rank_letters", "Letters", (row) => lettersOf(order, row)),
    fileColumn("rank_test", "Tested", (row) => (range(row) ? testedOn(order.test) : "")),
  ].map((column) => ({ ...column, onlyInFiles: true }));
}

// The letters of a system's groups; systems that share one are not significantly different.
/** @param {TestedOrder} order @param {Standing} row @param {number} [most] */
function lettersOf({ groups }, row, most = Infinity) {
  const letters = groups.flatMap((group, at) => (group.includes(row.system.id) ? [letterOf(at)] : []));
  return letters.slice(0, most).join(groups.length > 26 ? " " : "") + (letters.length > most ? "…" : "");
}

/** @param {Standings} table @param {Standing} row */
function shownRank({ order }, row) {
  const [low, high] = order.ranges.get(row.system.id) ?? [];
  return [
    element("b", {}, row.rank),
    " ",
    element("span", { class: "range" }, low === high ? "" : `${low}–${high}`),
    " ",
    element("sup", { class: "tie" }, lettersOf(order, row, MOST_LETTERS)),
  ];
}

/** @param {Standings} table @param {Standing} row @param {string} by */
function rankTip(table, row, by) {
  if (row.human) return ["Human performance", "For reference; not ranked."];
  if (row.rank === null)
    return ["Not ranked", lackText(table.board, row, table.by), `${row.cells} of ${table.board.cellCount} cells`];
  return [`Rank ${row.rank} of ${table.ranked} by ${by}`, ...testLines(table, row)];
}

/** @param {Standings} table @param {Standing} row */
function testLines({ board, order, ranked, testRanks }, row) {
  const range = order.ranges.get(row.system.id);
  if (!range) {
    if (ranked < 2) return [];
    return [testRanks ? "testing …" : order.test ? "not tested: no scores per language" : order.note];
  }
  const [low, high] = range;
  const possible = `${low === high ? `rank ${low}` : `ranks ${low} to ${high} are possible`} ${population(order.test)} (95 %)`;
  if (!order.groups.length) return [possible];
  const groups = order.groups.filter((group) => group.includes(row.system.id));
  const others = [...new Set(groups.flat())].filter((id) => id !== row.system.id);
  const names = listed(
    others.map((id) => board.system.get(id)?.fullName ?? id),
    6,
  );
  return [
    possible,
    others.length ? `not significantly different: ${names}` : "significantly different from all others",
  ];
}
