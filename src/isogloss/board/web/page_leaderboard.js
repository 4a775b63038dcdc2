import { analysisBar } from "./analyses.js";
import { humanRow, leaderboardColumns } from "./columns.js";
import { element } from "./dom.js";
import { exportButtons } from "./export.js";
import { chosenView, filterChips, leaderboardControls } from "./leaderboard_controls.js";
import { leaderSentence, leaderboardNotes, rankingText } from "./leaderboard_words.js";
import { plotPanel } from "./page_plots.js";
import { standings } from "./standings.js";
import { dataTable } from "./table.js";

export function leaderboardPage(board) {
  const controls = leaderboardControls(board);
  const place = Object.fromEntries(
    ["lead", "explains", "chips", "content", "bar"].map((name) => [name, element("div", { class: name })]),
  );
  let seen = { columns: [], rows: [] };
  const files = exportButtons("leaderboard", board, () => seen);
  const drawRanges = rangeDrawing(place.lead);
  const update = (params) => {
    const table = standings(board, params);
    for (const control of Object.values(controls)) control.sync(params, table);
    place.lead.replaceChildren(leaderSentence(table));
    place.explains.replaceChildren(element("p", { class: "soft" }, rankingText(table)));
    place.chips.replaceChildren(...filterChips(board, params));
    place.bar.replaceChildren(analysisBar(board, params));
    const view = chosenView(params);
    const { nodes, ...shown } = view === "plot" ? plotView(table, params) : tableView(table, params);
    seen = shown;
    place.content.replaceChildren(...nodes);
    drawRanges(view === "table" ? table : null);
  };
  return { node: pageLayout(controls, place, files), update, title: "Leaderboard" };
}

const pageLayout = ({ first, more, weights, view, complete, columns }, place, files) =>
  element(
    "div",
    {},
    element("h1", { class: "sr" }, "Leaderboard"),
    place.lead,
    first.node,
    element("div", { class: "line start" }, more.node, place.explains),
    weights.node,
    place.chips,
    element("div", { class: "line" }, view.node, complete.node, columns.node, files),
    place.bar,
    place.content,
  );

// What is shown below the controls, and the columns and rows that files of it hold.
const plotView = (table, params) => ({
  columns: leaderboardColumns(table, params),
  rows: table.rows,
  nodes: [plotPanel(table, params)],
});

function tableView(table, params) {
  const columns = leaderboardColumns(table, params);
  const human = humanRow(table);
  const ticked = new Set(params.getAll("tick"));
  const { node, sorted } = dataTable({
    columns,
    rows: table.rows,
    params,
    start: "overall",
    label: "Leaderboard",
    before: human ? [human] : [],
    fallback: (a, b) => b.cells - a.cells,
    rowClass: (row) =>
      [row.rank === null ? "unranked" : "", ticked.has(row.system.id) ? "ticked" : ""].join(" ").trim() || null,
  });
  return { columns, rows: sorted, nodes: [node, leaderboardNotes(table)] };
}

// Rank intervals that take longer than a filter may are filled in when the table is on the screen, unless the next change
// came first.
function rangeDrawing(lead) {
  let later = 0;
  return (table) => {
    clearTimeout(later);
    if (!table?.drawRanges) return;
    later = setTimeout(() => {
      if (!table.drawRanges()) return;
      for (const row of table.rows) row.showRange?.();
      lead.replaceChildren(leaderSentence(table));
    }, 60);
  };
}
