import { element } from "../page/dom.js";
import { MOST_LANES } from "./brackets.js";
import { isStripped } from "./score_column.js";

// A line below a table that explains its signs: only those that it has.
/** @param {{ untested?: boolean, partial?: boolean, footnotes?: boolean, intervals?: boolean, brackets?: boolean, openRank?: string, places?: boolean, reported?: boolean, hidden?: boolean }} signs */
export function tableLegend({ untested, partial, footnotes, intervals, brackets, openRank, places, reported, hidden }) {
  /** @param {Child} sign @param {string} text */
  const item = (sign, text) => element("span", {}, sign, text);
  return element(
    "p",
    { class: "legend signs" },
    item(
      element("i", { class: "ramp", "aria-hidden": "true" }),
      "worse to better, on one scale per column, whichever rows are shown",
    ),
    untested ? item(element("i", { class: "swatch untested", "aria-hidden": "true" }), "not tested, or not reported") : null,
    intervals
      ? item(element("i", { class: "strip whiskered", "aria-hidden": "true" }), "score and its 95 % interval")
      : null,
    brackets
      ? item(
          element("i", { class: "bracket", "aria-hidden": "true" }),
          `joins systems that are not significantly different${hidden ? " (+1: in one more such group)" : ""}`,
        )
      : null,
    openRank ? item(element("b", { class: "open-rank" }, openRank), "not tested: any rank is possible") : null,
    places ? item(element("b", { class: "open-rank" }, "1, 2"), "places by the score alone") : null,
    partial ? item(element("b", {}, "°"), "partial average, not ranked") : null,
    footnotes ? item(element("b", {}, "†"), "footnote") : null,
    reported ? item(null, "All scores are reported by their sources, not scored here.") : null,
  );
}

// Where all scores are reported, the legend says so instead of every row.
/** @param {{ system: System }[]} rows */
export const allReported = (rows) => rows.length > 0 && rows.every(({ system }) => system.reported);

// The signs of a column of ranks.
/** @param {Pick<RankedTable, "order" | "ranked" | "testRanks">} table @param {boolean} isOrdered */
export const rankSigns = ({ order, ranked, testRanks }, isOrdered) => ({
  openRank: order.untested.size ? `1–${ranked}` : "",
  places: ranked > 1 && !order.test && !testRanks,
  brackets: isOrdered && order.groups.some((group) => group.length > 1),
  hidden: order.groups.length > MOST_LANES,
});

// The legend of the leaderboard.
/** @param {Standings} table @param {boolean} isOrdered */
export function leaderboardLegend(table, isOrdered) {
  const { board, rows, shown } = table;
  const ids = new Set(rows.map(({ system }) => system.id));
  /** @param {(figure: Figure, column: ScoreColumn) => boolean} test */
  const some = (test) => rows.some(({ figures }) => shown.some((column) => test(figures.get(column.id), column)));
  return tableLegend({
    untested: some(({ value }, { kind }) => kind === "task" && Number.isNaN(value)),
    partial: some(({ partial = false }) => partial),
    footnotes: (board.footnotes ?? []).some(({ system, task }) => task && ids.has(system)),
    intervals: some(({ low }, column) => isStripped(table, column) && !Number.isNaN(low)),
    ...rankSigns(table, isOrdered),
    reported: allReported(rows),
  });
}
