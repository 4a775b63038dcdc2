import { firstSegment, segmentCounts } from "../board/coverage.js";
import { humanRow, isInRankOrder, leaderboardColumns } from "./columns.js";
import { countText, element, plural } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { FILTER_KEYS } from "../board/filters.js";
import { finderSentence } from "./finder_sentence.js";
import { findings } from "./findings.js";
import { filterChips, matchCount, toolbar } from "./leaderboard_controls.js";
import { coverageSentence, leaderSentence, leaderboardNotes, rankingText } from "./leaderboard_words.js";
import { allReported, leaderboardLegend } from "./table_legend.js";
import { ownElsewhere, scoredHere } from "./scored_here.js";
import { otherSegments, partialResults } from "./partial_results.js";
import { FULL, segmentOf, segmentsOf } from "../board/segments.js";
import { segmentTabs } from "./segment_tabs.js";
import { selectionBar } from "./selection_bar.js";
import { standings } from "../board/standings.js";
import { laterTest } from "../board/later_test.js";
import { changeParams } from "../page/state.js";
import { dataTable } from "../page/table.js";

// The landing page shows the first rows only, until the reader filters, turns pages or asks for all.
const FIRST_ROWS = 10;
// In pixels: the width at which the style sheet folds the controls.
const NARROW = 640;

// The address with the defaults filled in: the segment, and only systems that cover it, if any covers one. A filter of tasks
// or metrics applies to the full benchmark.
/** @param {Board} board @param {URLSearchParams} params */
function withDefaults(board, params) {
  const filled = new URLSearchParams(params);
  const first = firstSegment(board);
  const start = ["task", "metric"].some((key) => params.has(key)) ? FULL : first;
  filled.set("segment", segmentOf(board, params.get("segment") ?? start).id);
  if (params.has("partial") || first === null) filled.delete("complete");
  else filled.set("complete", "1");
  return filled;
}

// The ranking of the finding on who leads: the full benchmark if any system covers it.
/** @param {Board} board */
const leadTable = (board) =>
  standings(
    board,
    withDefaults(board, new URLSearchParams(segmentCounts(board, new URLSearchParams()).get(FULL) ? { segment: FULL } : {})),
  );

// Does a finding already name the leader of this table?
/** @param {Standings} table @param {Standings} lead @param {URLSearchParams} params */
const isSameRanking = (table, lead, params) =>
  lead.ranked > 0 &&
  table.choice.segment === lead.choice.segment &&
  table.choice.ranking === lead.choice.ranking &&
  table.by.id === lead.by.id &&
  !FILTER_KEYS.some((key) => params.has(key));

/** @param {Board} board @returns {Page} */
export function leaderboardPage(board) {
  const testLater = laterTest();
  let isOpen = false;
  /** @param {URLSearchParams} address */
  const view = (address) => {
    if (!isOpen && address.size) requestAnimationFrame(showTable);
    isOpen = true;
    const params = withDefaults(board, address);
    const table = standings(board, params);
    const { nodes, notes, files } = tableView(table, params);
    testLater(table);
    const lead = leadTable(board);
    // On narrow screens the table comes first, and the notes last.
    const ways = finderSentence(board);
    const isNarrow = innerWidth <= NARROW;
    return [
      ...landing(board, lead),
      isNarrow ? null : ways,
      element(
        "div",
        { class: "board-head" },
        element("h2", { class: "board-title" }, "Leaderboard"),
        segmentTabs(board, params),
      ),
      element("div", { class: "lead" }, isSameRanking(table, lead, params) ? coverageSentence(table) : leaderSentence(table)),
      ownElsewhere(table, params),
      element(
        "div",
        { class: "board-controls" },
        matchCount(board, table),
        toolbar(
          board,
          params,
          table,
          element("p", { class: "explains soft" }, rankingText(table)),
          files,
        ),
      ),
      filterChips(board, params),
      element("div", { class: "content" }, nodes),
      isNarrow ? ways : null,
      notes,
      selectionBar(board, params),
    ];
  };
  // The part that comes first depends on the data, so that a citation names it.
  const title = (/** @type {URLSearchParams} */ params) =>
    segmentsOf(board).length > 1
      ? `Leaderboard: ${segmentOf(board, withDefaults(board, params).get("segment")).title}`
      : "Leaderboard";
  return { title, view };
}

// An address with a choice is about the table, which is below the findings.
function showTable() {
  if (scrollY === 0) document.querySelector(".board-head")?.scrollIntoView();
}

// What the board is for, and what it knows.
/** @param {Board} board @param {Standings} lead */
function landing(board, lead) {
  const counts = [
    plural(board.systems.length, "system"),
    plural(board.tasks.length, "task"),
    plural(board.languages.length, "language"),
  ].join(", ");
  return [
    element(
      "header",
      { class: "purpose" },
      element("h1", {}, "Where do multilingual models stop working?"),
      element("p", { class: "soft" }, `${counts}, ranked as far as tests can tell`),
    ),
    findings(board, lead),
  ];
}

/** @param {Standings} table @param {URLSearchParams} params */
function tableView(table, params) {
  const columns = leaderboardColumns(table, params);
  const human = humanRow(table);
  const selected = new Set(params.getAll("tick"));
  const own = new Set(scoredHere(table.board));
  const isOwn = (/** @type {Standing} */ { system }) => own.has(system);
  const { node, sorted } = dataTable({
    columns,
    rows: table.rows,
    params,
    start: table.shown[0].id,
    label: "Leaderboard",
    before: human ? [human] : [],
    first: { is: isOwn, title: "Scored here", rest: "Published" },
    legend: leaderboardLegend(table, isInRankOrder(table, params)),
    className: allReported(table.rows) ? "all-reported" : "",
    most: isBrief(params) ? FIRST_ROWS : undefined,
    fallback: (a, b) => b.cells - a.cells,
    rowKey: (row) => row.system.id,
    rowClass: (row) =>
      [row.rank === null ? "unranked" : "", selected.has(row.system.id) ? "ticked" : "", isOwn(row) ? "own" : ""]
        .filter(Boolean)
        .join(" ") || null,
  });
  const current = () => ({ columns, rows: sorted, more: { test: table.order.note } });
  return {
    files: exportButtons("leaderboard", table.board, current),
    nodes: [
      table.rows.length ? node : otherSegments(table, params),
      moreRows(table, params),
      partialResults(table, params),
    ],
    notes: leaderboardNotes(table),
  };
}

const LONG = ["all", "page", "partial", ...FILTER_KEYS];
/** @param {URLSearchParams} params */
const isBrief = (params) => !LONG.some((key) => params.has(key));

/** @param {Standings} table @param {URLSearchParams} params */
function moreRows({ rows }, params) {
  if (!isBrief(params) || rows.length <= FIRST_ROWS) return null;
  const text = `Show all ${countText(rows.length)} systems`;
  return element(
    "p",
    { class: "more-rows" },
    element("button", { type: "button", "data-key": "all-rows", click: showAll }, text),
  );
}

// The button goes away, so that the keyboard goes on at the first new row.
/** @param {any} event */
function showAll({ detail: isPointed }) {
  const rows = () => document.querySelectorAll(".content tbody:not(.before) tr");
  const first = rows().length;
  changeParams({ all: "1" });
  if (!isPointed) rows()[first]?.querySelector("[tabindex]")?.focus();
}
