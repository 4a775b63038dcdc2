import { scoreTitle } from "../board/describe.js";
import { lineLegend } from "../charts/plots.js";
import { element, link, missing, nameOf, plural, scoreText } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { hashOf } from "../page/state.js";
import { dateText } from "./dates.js";
import { datedPoints, humanScore, rowsOf, plotScale, wholeBoard } from "./progress_data.js";
import { chosenRegimes, regimeLegend, regimesOf } from "./regimes.js";
import { stepsOf, timeChart } from "./time_chart.js";
import { suitePanels } from "./suite_panels.js";

const TALL = 320;
const SMALL = 210;

/** @param {Board} board @param {URLSearchParams} params @returns {Child[]} */
export function timeView(board, params) {
  const regimes = chosenRegimes(board, params);
  const rows = rowsOf(board, regimes);
  const columns = wholeBoard(board).shown.filter(({ kind }) => kind !== "category");
  const panels = columns.map((column) => ({ column, points: datedPoints(rows, column) }));
  const drawnPanels = panels.filter(({ points }) => points.length);
  const years = yearsOf(drawnPanels.flatMap(({ points }) => points.map(({ x }) => x)));
  const colours = regimesOf(drawnPanels.flatMap(({ points }) => points.map(({ system }) => system)));
  const [whole, tasks] = [0, 1].map((task) => drawnPanels.filter(({ column }) => Number(column.kind === "task") === task));
  /** @param {{ column: ScoreColumn, points: DatedPoint[] }} panel */
  const draw = (panel) => timePanel(board, panel, regimes, years);
  const legend = drawnPanels.length
    ? regimeLegend(colours, [
        lineLegend("steps plain", "M0 12H14V4H28", "best score so far"),
        lineLegend("human-line level", "M0 8H28", "human score"),
      ])
    : element("p", {}, "No system on this board has a date and a complete score.");
  return [
    whole.map(({ points, column }) => risesText(points, regimes, column)),
    legend,
    element("div", { class: "time-panels two" }, whole.map(draw), historyPanels(board, whole)),
    tasks.length ? element("h2", {}, "By task") : null,
    element("div", { class: "time-panels" }, tasks.map(draw)),
    drawnPanels.length ? timeFiles(board, drawnPanels, regimes) : null,
    notesOnTime(rows, panels),
  ];
}

/** @param {Board} board @param {{ points: DatedPoint[] }[]} whole */
const historyPanels = (board, whole) =>
  board.history
    ? suitePanels(
        board,
        board.history,
        whole.flatMap(({ points }) => points),
      )
    : null;

/** @param {Board} board @param {{ column: ScoreColumn, points: DatedPoint[] }} options @param {Regime[]} regimes @param {Interval} years */
function timePanel(board, { column, points }, regimes, years) {
  const { lower } = column;
  const task = column.kind === "task";
  const title = task ? column.part.task.title : board.history ? `${scoreTitle(column)}, on this board` : scoreTitle(column);
  const caption = task ? link(hashOf(["task", column.id]), title) : title;
  return element(
    "figure",
    { class: task ? "time-panel" : "time-panel whole", "data-key": `time-${column.id}` },
    element("figcaption", {}, caption, lower ? element("span", { class: "soft" }, " (lower is better)") : null),
    timeChart({
      points,
      steps: stepsOf(points, regimes, lower),
      years,
      scale: plotScale(board, column),
      human: humanScore(column),
      height: task ? SMALL : TALL,
      title: `${title}, scores over time`,
    }),
  );
}

// Whole years around all points, the same on every panel.
/** @param {number[]} values @returns {Interval} */
export function yearsOf(values) {
  if (!values.length) return [0, 1];
  const [from, to] = [Math.floor(Math.min(...values)), Math.ceil(Math.max(...values) + 0.01)];
  return [from, Math.max(to, from + 2)];
}

// The first and the best score of each regime. The order is that of the scores, which no test confirms.
/** @param {DatedPoint[]} points @param {Regime[]} regimes @param {ScoreColumn} column */
const risesText = (points, regimes, column) =>
  element(
    "ul",
    { class: "rises" },
    stepsOf(points, regimes, column.lower).map(([{ title }, steps]) => {
      const [first, last] = [steps[0], steps.at(-1)];
      const name = (/** @type {DatedPoint} */ { label, href, when, y }) => [
        element("strong", {}, scoreText(y)),
        " (",
        link(href, nameOf(label)),
        `, ${when})`,
      ];
      return element(
        "li",
        {},
        `${scoreTitle(column)}, ${title.toLowerCase()}: `,
        steps.length > 1 ? ["from ", name(first), " to ", name(last)] : ["best score ", name(last)],
      );
    }),
  );

// All points of all panels as files; a step is the best score so far in its regime.
/** @param {Board} board @param {{ column: ScoreColumn, points: DatedPoint[] }[]} panels @param {Regime[]} regimes */
const timeFiles = (board, panels, regimes) =>
  exportButtons("scores-over-time", board, () => ({
    columns: [
      fileColumn("column", "Column", ({ column }) => scoreTitle(column)),
      fileColumn("system", "System", ({ point }) => point.system.name),
      fileColumn("regime", "Regime", ({ point }) => point.system.regime),
      fileColumn("date", "Date", ({ point }) => point.when),
      { ...fileColumn("score", "Score", ({ point }) => point.y, true), score: true },
      { ...fileColumn("low", "95 % low", ({ point }) => point.low, true), score: true },
      { ...fileColumn("high", "95 % high", ({ point }) => point.high, true), score: true },
      fileColumn("step", "Best so far", ({ isStep }) => (isStep ? "yes" : "no")),
    ],
    rows: panels.flatMap(({ column, points }) => {
      const steps = new Set(stepsOf(points, regimes, column.lower).flatMap(([, own]) => own));
      return points.map((point) => ({ column, point, isStep: steps.has(point) }));
    }),
  }));

// What the drawings leave out, and how to read them.
/** @param {Standing[]} rows @param {{ column: ScoreColumn, points: DatedPoint[] }[]} panels */
function notesOnTime(rows, panels) {
  const undated = rows.filter(({ system }) => !dateText(system));
  const empty = panels.filter(({ points }) => !points.length).map(({ column }) => scoreTitle(column));
  const sampledTasks = panels.filter(({ points }) => points.length > 60);
  return element(
    "div",
    { class: "notes" },
    element(
      "p",
      {},
      "A date is the system's own, or the year of its paper, drawn in the middle of that year. Steps show the best score so far; ",
      "whether a step is significant is tested on the leaderboard and in comparisons. ",
      rows.some((row) => !missing(row.figures.get("overall").low)) ? "Lines through marks are 95 % intervals. " : "",
      sampledTasks.length
        ? `Panels show 60 of up to ${Math.max(...sampledTasks.map(({ points }) => points.length))} systems, sampled evenly by rank.`
        : "",
    ),
    empty.length ? element("p", {}, `No dated system has a complete score on: ${empty.join(", ")}.`) : null,
    undated.length
      ? element(
          "details",
          { "data-key": "undated" },
          element("summary", {}, `${plural(undated.length, "system")} without a date, not drawn`),
          element(
            "ul",
            { class: "undated" },
            undated.map(({ system }) => element("li", {}, link(hashOf(["system", system.id]), nameOf(system.fullName)))),
          ),
        )
      : null,
  );
}
