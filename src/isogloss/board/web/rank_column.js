import { lackText, shortScoreTitle } from "./describe.js";
import { element, listed } from "./dom.js";
import { tieLetters } from "./standings.js";

const TOLD_BY = {
  paired: "by a paired test",
  intervals: "since intervals overlap",
  both: "by a paired test, or since intervals overlap",
};

// Ranks by the column that the table is sorted by, with their intervals and the letters of ties.
export function rankColumn(table) {
  const letters = tieLetters(table.board);
  const byOverall =
    table.by.id === "overall" && table.choice.ranking === table.board.rule.name && !table.choice.narrowed;
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

const shownRank = (row, ties) => [
  element("b", {}, row.rank),
  rangeText(row),
  ties.length ? element("sup", { class: "tie" }, ties.map(({ letter }) => letter).join("")) : null,
];

// The rank interval beside a rank; it may be known a moment later than the rank, and is filled in then.
function rangeText(row) {
  const node = element("span", { class: "range" });
  row.showRange = () => {
    node.textContent = row.range && row.range[0] !== row.range[1] ? `${row.range[0]}–${row.range[1]}` : "";
  };
  row.showRange();
  return node;
}

function rankTip(table, row, by, ties) {
  if (row.human) return ["Human performance", "A reference, not a rank."];
  if (row.rank === null)
    return ["No rank", lackText(table.board, row, table.by), `${row.cells} of ${table.board.cellCount} cells`];
  const others = (group) =>
    listed(
      group.filter((id) => id !== row.system.id).map((id) => table.board.system.get(id)?.fullName ?? id),
      6,
    );
  return [
    `Rank ${row.rank} of ${table.ranked} by ${by}`,
    row.range
      ? `${row.range[0] === row.range[1] ? `rank ${row.range[0]}` : `ranks ${row.range[0]} to ${row.range[1]}`}: ${table.rangeHint}`
      : "no rank interval: no predictions or intervals are known",
    ...ties.map(({ letter, group, how }) => `group ${letter}: not told apart ${TOLD_BY[how] ?? ""}: ${others(group)}`),
  ];
}
