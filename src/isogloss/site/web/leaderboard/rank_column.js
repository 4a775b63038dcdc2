import { lackText, shortScoreTitle } from "../board/describe.js";
import { element, listed } from "../page/dom.js";
import { fileColumn } from "../page/export.js";
import { letterOf } from "../statistics/ordering.js";
import { population, testedOn } from "../board/tested_on.js";
import { bracketLanes, drawnLanes } from "./brackets.js";

// Maximum number of systems in a tip, and in the text for screen readers.
const MOST_NAMES = 6;
const MOST_READ = 3;
// Of a bold digit, in rem: the cells of a column have several fonts, and thus widths of 1ch.
const DIGIT_WIDTH = 0.62;

// Ranks by the column that sorts the table: those that the test leaves open. Brackets join systems that are not significantly
// different, if the rows are in the order of the ranks.
/** @param {RankedTable} table @param {boolean} isOrdered @returns {TableColumn<any>} */
export function rankColumn(table, isOrdered) {
  const by = shortScoreTitle(table.by);
  const noun = rankNoun(table);
  let brackets = bracketLanes([], []);
  return {
    id: "rank",
 title: `${noun} by ${by}`,
    head: element("span", {}, noun, element("span", { class: "of" }, `by ${by}`)),
    numeric: true,
    fixed: true,
    className: "rank",
    prepare: (_, sorted) => {
      const ids = sorted.map(({ system }) => system.id);
      brackets = bracketLanes(isOrdered ? table.order.groups : [], ids);
    },
    tip: (row) => rankTip(table, row, by),
    value: (row) => row.rank,
    show: (row) =>
      row.rank === null
        ? element("span", { class: "soft" }, row.human ? "" : "–")
        : [shownRank(table, row), drawnLanes(brackets.rows.get(row.system.id))],
    latex: (row) => latexRank(table, row),
    sizes: (rows) => ({
      "--rank-text": `${(DIGIT_WIDTH * Math.max(3, ...rows.map((row) => rankText(table, row).length))).toFixed(2)}rem`,
      "--lane-count": String(brackets.count),
    }),
  };
}

// An order without a test has places.
/** @param {RankedTable} table */
const rankNoun = ({ order, ranked, testRanks }) => (order.test || testRanks || ranked < 2 ? "Rank" : "Place");

// In files: the best and worst rank that the test leaves open, the letters, and the test.
/** @param {RankedTable} table @returns {TableColumn<any>[]} */
export function rankColumnsInFiles({ order }) {
  /** @param {RankedRow} row */
  const range = (row) => order.ranges.get(row.system.id);
  return [
    fileColumn("rank_low", "Best rank", (row) => range(row)?.[0], true),
    fileColumn("rank_high", "Worst rank", (row) => range(row)?.[1], true),
    fileColumn("rank_letters", "Letters", (row) => lettersOf(order, row)),
    fileColumn("rank_test", "Tested", (row) =>
      row.rank === null || !order.note ? "" : isTested(order, row) ? testedOn(order.test) : "not tested",
    ),
  ].map((column) => ({ ...column, onlyInFiles: true }));
}

// The letters of a system's groups; systems that share one are not significantly different.
/** @param {TestedOrder} order @param {RankedRow} row */
function lettersOf({ groups }, row) {
  const letters = groups.flatMap((group, at) => (group.includes(row.system.id) ? [letterOf(at)] : []));
  return letters.join(groups.length > 26 ? " " : "");
}

/** @param {TestedOrder} order @param {RankedRow} row */
const isTested = ({ ranges, untested }, { system: { id } }) => ranges.has(id) && !untested.has(id);

// Ranks that are not tested are in italics.
/** @param {RankedTable} table @param {RankedRow} row */
function latexRank(table, row) {
  if (row.rank === null) return "--";
  const rank = rankText(table, row).replace("–", "--");
  const letters = lettersOf(table.order, row);
  return isPlain(table, row)
    ? `\\textit{${rank}}`
    : `${rank}${letters && `$^{\\mathrm{${letters.replaceAll(" ", "\\,")}}}$`}`;
}

// The rank or place is not tested, or not yet.
/** @param {RankedTable} table @param {RankedRow} row */
const isPlain = ({ order, ranked }, row) => ranked > 1 && !isTested(order, row);

/** @param {RankedTable} table @param {RankedRow} row @param {number} most */
function tiedWith({ board, order }, row, most) {
  const groups = order.groups.filter((group) => group.includes(row.system.id));
  const others = [...new Set(groups.flat())].filter((id) => id !== row.system.id);
  return listed(
    others.map((id) => board.system.get(id)?.fullName ?? id),
    most,
  );
}

/** @param {RankedTable} table @param {RankedRow} row */
function rankText({ order }, { system, rank }) {
  const [low, high] = order.ranges.get(system.id) ?? [rank, rank];
  return low === high ? String(rank ?? "–") : `${low}–${high}`;
}

// The ranks that the test leaves open; screen readers hear the rank by the score, too.
/** @param {RankedTable} table @param {RankedRow} row */
function shownRank(table, row) {
  const [low, high] = table.order.ranges.get(row.system.id) ?? [];
  const tied = tiedWith(table, row, MOST_READ);
  const isOpen = low !== undefined && low !== high;
  const read = [
    table.order.untested.has(row.system.id) ? "not tested" : "",
    isOpen ? `${row.rank}, ranks ${low} to ${high} possible` : "",
    tied && `not significantly different from ${tied}`,
  ];
  return [
    element("b", { class: isPlain(table, row) ? "open-rank" : null, "aria-hidden": isOpen ? "true" : null }, rankText(table, row)),
    read.some(Boolean) ? element("span", { class: "sr" }, ` ${read.filter(Boolean).join("; ")}`) : null,
  ];
}

/** @param {RankedTable} table @param {RankedRow} row @param {string} by */
function rankTip(table, row, by) {
  if (row.human) return ["Human performance", "For reference; not ranked."];
  if (row.rank === null)
    return ["Not ranked", lackText(table.board, row, table.by), `${row.cells} of ${table.board.cellCount} cells`];
  return [`${isPlain(table, row) ? "Place" : "Rank"} ${row.rank} of ${table.ranked} by ${by}`, ...testLines(table, row)];
}

/** @param {RankedTable} table @param {RankedRow} row */
function testLines(table, row) {
  const { order, ranked, testRanks } = table;
  const range = order.ranges.get(row.system.id);
  if (!range) return ranked < 2 ? [] : [testRanks ? "testing …" : order.note || "not tested"];
  if (order.untested.has(row.system.id)) return ["not tested, as it lacks scores per language: any rank is possible"];
  const [low, high] = range;
  const possible = `${low === high ? `rank ${low}` : `ranks ${low} to ${high} are possible`} ${population(order.test)} (95 %)`;
  if (!order.groups.length) return [possible];
  const names = tiedWith(table, row, MOST_NAMES);
  return [possible, names ? `not significantly different: ${names}` : `significantly different from all other${order.untested.size ? " tested systems" : "s"}`];
}
