import { analysisBar } from "../analysis/analyses.js";
import { humanRow, isInRankOrder, leaderboardColumns } from "./columns.js";
import { element } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import {
  columnBoxes,
  completeBox,
  filterChips,
  mainControls,
  moreFilters,
  taskWeights,
  matchCount,
} from "./leaderboard_controls.js";
import { leaderSentence, leaderboardNotes, rankingText } from "./leaderboard_words.js";
import { leaderboardLegend } from "./table_legend.js";
import { standings } from "../board/standings.js";
import { redraw } from "../page/state.js";
import { dataTable } from "../page/table.js";

const MOST_FIRST = 10;

/** @param {Board} board @returns {Page} */
export function leaderboardPage(board) {
  const testLater = delayedTest();
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const table = standings(board, params);
    const { nodes, files } = tableView(table, params);
    testLater(table);
    const explains = element("div", { class: "explains" }, element("p", { class: "soft" }, rankingText(table)));
    return [
      element("h1", { class: "sr" }, "Leaderboard"),
      element("div", { class: "lead" }, leaderSentence(table)),
      mainControls(board, params),
      element("div", { class: "line start" }, moreFilters(board, params), explains),
      taskWeights(board, params, table.choice.ranking !== "weights"),
      filterChips(board, params),
      element(
        "div",
        { class: "line" },
        matchCount(board, table),
        completeBox(params),
        columnBoxes(params, table),
        files,
      ),
      element("div", { class: "bar" }, analysisBar(board, params)),
      element("div", { class: "content" }, nodes),
    ];
  };
  return { title: "Leaderboard", view };
}

/** @param {Standings} table @param {URLSearchParams} params */
function tableView(table, params) {
  const columns = leaderboardColumns(table, params);
  const human = humanRow(table);
  const selected = new Set(params.getAll("tick"));
  // Next to systems from papers, a few scored here come first: their owner looks for them, wherever they rank.
  const own = table.board.systems.filter(({ reported }) => !reported).length;
  const pinned = own <= MOST_FIRST && own < table.board.systems.length;
  const isOwn = (/** @type {Standing} */ { system }) => pinned && !system.reported;
  const { node, sorted } = dataTable({
    columns,
    rows: table.rows,
    params,
    start: "overall",
    label: "Leaderboard",
    before: human ? [human] : [],
    first: { is: isOwn, title: "Scored here", rest: "Published" },
    legend: leaderboardLegend(table, isInRankOrder(table, params)),
    fallback: (a, b) => b.cells - a.cells,
    rowKey: (row) => row.system.id,
    rowClass: (row) =>
      [row.rank === null ? "unranked" : "", selected.has(row.system.id) ? "ticked" : "", isOwn(row) ? "own" : ""]
        .filter(Boolean)
        .join(" ") || null,
  });
  const current = () => ({ columns, rows: sorted, more: { test: table.order.note } });
  return { nodes: [node, leaderboardNotes(table)], files: exportButtons("leaderboard", table.board, current) };
}

// Slow tests run after the table is drawn, unless another change comes first.
function delayedTest() {
  let timer = 0;
  return (/** @type {Standings} */ table) => {
    clearTimeout(timer);
    if (!table.testRanks) return;
    timer = window.setTimeout(() => {
      table.testRanks?.();
      redraw();
    }, 60);
  };
}
