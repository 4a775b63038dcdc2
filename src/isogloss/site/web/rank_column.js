import { lackText, shortScoreTitle } from "./describe.js";
import { element, listed } from "./dom.js";
import { tieLetters } from "./standings.js";

/** @type {Record<string, string>} */
const TIED_BY = {
  paired: "by a paired test",
  intervals: "as intervals overlap",
  both: "by a paired test, or as intervals overlap",
};

// Ranks by the column that sorts the table, with their intervals and tie letters.
/** @param {Standings} table @returns {TableColumn<Standing>} */
export function rankColumn(table) {
  const letters = tieLetters(table.board);
  const byOverall =
    table.by.id === "overall" && table.choice.ranking === table.board.rule.name && !table.choice.narrowed;
  /** @param {Standing} row */
  const ties = (row) => (byOverall ? (letters.get(row.system?.id) ?? []) : []);
  const by = shortScoreTitle(table.by);
  return {
    id: "rank",
    title: `Rank by ${by}`,
    head: element("span", {}, "Rank", element("span", { class: "of" }, `by ${by}`)),
    numeric: true,
    fixed: true,
    className: "rank",
    tip: (row) => rankTip(table, row, by, ties(row)),
    value: (row) => row.rank,
    show: (row) =>
      row.rank === null ? element("span", { class: "soft" }, row.human ? "" : "–") : shownRank(row, ties(row)),
  };
}

/** @param {Standing} row @param {Tie[]} ties */
const shownRank = (row, ties) => [
  element("b", {}, row.rank),
  element(
    "span",
    { class: "range" },
    row.range && row.range[0] !== row.range[1] ? `${row.range[0]}–${row.range[1]}` : "",
  ),
  ties.length ? element("sup", { class: "tie" }, ties.map(({ letter }) => letter).join("")) : null,
];

/** @param {Standings} table @param {Standing} row @param {string} by @param {Tie[]} ties */
function rankTip(table, row, by, ties) {
  if (row.human) return ["Human performance", "For reference; not ranked."];
  if (row.rank === null)
    return ["Not ranked", lackText(table.board, row, table.by), `${row.cells} of ${table.board.cellCount} cells`];
  /** @param {string[]} group */
  const others = (group) =>
    listed(
      group.filter((id) => id !== row.system.id).map((id) => table.board.system.get(id)?.fullName ?? id),
      6,
    );
  return [
    `Rank ${row.rank} of ${table.ranked} by ${by}`,
    row.range
      ? `${row.range[0] === row.range[1] ? `rank ${row.range[0]}` : `ranks ${row.range[0]} to ${row.range[1]}`}: ${table.rangeHint}`
      : "no rank interval: needs predictions or score intervals",
    ...ties.map(
      ({ letter, group, how }) => `group ${letter}: statistically tied ${TIED_BY[how ?? ""] ?? ""}: ${others(group)}`,
    ),
  ];
}
