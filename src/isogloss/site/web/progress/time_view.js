import { scoreTitle } from "../board/describe.js";
import { lineLegend, styledMark } from "../charts/plots.js";
import { countText, drawn, element, link, missing, nameOf, partText, plural, scoreText } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { hashOf } from "../page/state.js";
import { dateText } from "./dates.js";
import { bestUndated, datedPoints, humanScore, rowsOf, plotScale, wholeBoard } from "./progress_data.js";
import { chosenRegimes, regimeLegend, regimesOf } from "./regimes.js";
import { stepsOf, timeChart } from "./time_chart.js";
import { suitePanels } from "./suite_panels.js";

const TALL = 270;
const SMALL = 210;
// Around the averages of both suites.
/** @type {Interval} */
const HISTORY_SCALE = [50, 90];

/** @param {Board} board @param {URLSearchParams} params @returns {Child[]} */
export function timeView(board, params) {
  const regimes = chosenRegimes(board, params);
  const rows = rowsOf(board, regimes);
  const columns = wholeBoard(board).shown.filter(({ kind }) => kind !== "category");
  const panels = columns.map((column) => {
    const points = datedPoints(rows, column);
    return { column, points, undated: bestUndated(rows, column, points) };
  });
  const drawnPanels = panels.filter(({ points }) => points.length);
  const dates = drawnPanels.flatMap(({ points }) => points.map(({ x }) => x));
  const years = yearsOf(dates);
  const newest = Math.max(...dates);
  const colours = regimesOf(
    drawnPanels.flatMap(({ points, undated }) => [...points, ...(undated ? [undated] : [])].map(({ system }) => system)),
  );
  const [whole, tasks] = [0, 1].map((task) => drawnPanels.filter(({ column }) => Number(column.kind === "task") === task));
  const shared = averagesScale(board, whole.map(({ column }) => column));
  /** @param {TimePanel} panel */
  const draw = (panel) => timePanel(board, panel, regimes, { years, newest, shared });
  const legend = drawnPanels.length
    ? regimeLegend(colours, [
        lineLegend("steps plain", "M0 12H14V4H28", "best score so far"),
        lineLegend("human-line level", "M0 8H28", "human score"),
        drawnPanels.some(({ undated }) => undated) ? hollowLegend("best of all, without a date") : null,
      ])
    : element("p", {}, "No system on this board has a date and a complete score.");
  return [
    whole.map(({ points, column }) => risesText(points, regimes, column)),
    legend,
    element("div", { class: "time-panels two" }, whole.map(draw), historyPanels(board, whole, shared)),
    tasks.length ? element("h2", {}, "By task") : null,
    element("div", { class: "time-panels" }, tasks.map(draw)),
    drawnPanels.length ? timeFiles(board, drawnPanels, regimes) : null,
    notesOnTime(rows, panels),
  ];
}

/** @typedef {{ column: ScoreColumn, points: DatedPoint[], undated: DatedPoint | null }} TimePanel */

/** @param {string} text */
const hollowLegend = (text) =>
  element(
    "span",
    {},
    drawn("svg", { width: 16, height: 16, "aria-hidden": "true" }, styledMark(["var(--soft)", "circle"], 8, 8, 5, true)),
    text,
  );

// Both suites have one scale of averages, so that their charts show equal steps as equal.
/** @param {Board} board @param {ScoreColumn[]} columns @returns {Interval} */
function averagesScale(board, columns) {
  const scales = columns.map((column) => plotScale(board, column));
  if (board.history) scales.push(HISTORY_SCALE);
  return [Math.min(...scales.map(([from]) => from)), Math.max(...scales.map(([, to]) => to))];
}

/** @param {Board} board @param {TimePanel[]} whole @param {Interval} scale */
const historyPanels = (board, whole, scale) =>
  board.history
    ? suitePanels(
        board,
        board.history,
        whole.flatMap(({ points }) => points),
        scale,
        TALL,
      )
    : null;

/** @param {Board} board @param {TimePanel} panel @param {Regime[]} regimes @param {{ years: Interval, newest: number, shared: Interval }} axes */
function timePanel(board, { column, points, undated }, regimes, { years, newest, shared }) {
  const { lower } = column;
  const task = column.kind === "task";
  const title = task ? column.part.task.title : board.history ? `${scoreTitle(column)}, on this board` : scoreTitle(column);
  const last = Math.max(...points.map(({ x }) => x));
  const caption = task ? link(hashOf(["task", column.id]), title) : title;
  return element(
    "figure",
    { class: task ? "time-panel" : "time-panel whole", "data-key": `time-${column.id}` },
    element("figcaption", {}, caption, lower ? element("span", { class: "soft" }, " (lower is better)") : null),
    timeChart({
      points,
      undated,
      steps: stepsOf(points, regimes, lower),
      years,
      scale: task ? plotScale(board, column) : shared,
      human: humanScore(column),
      height: task ? SMALL : TALL,
      title: `${title}, scores over time`,
      after: !task && !undated && last <= newest - 1 ? "no newer complete system" : "",
      hasValues: !task,
    }),
    task ? null : element("p", { class: "insight" }, datedText(board, points, last)),
  );
}

/** @param {Board} board @param {DatedPoint[]} points */
const datedCount = ({ systems, tasks }, points) =>
  points.length === systems.length
    ? `Every system has a date and a score on all ${plural(tasks.length, "task")}`
    : `${partText(points.length, systems.length, "system", ["has", "have"])} a date and a score on all ${plural(tasks.length, "task")}`;

// How few systems an average rests on.
/** @param {Board} board @param {DatedPoint[]} points @param {number} last */
const datedText = (board, points, last) =>
  `${datedCount(board, points)}${points.length > 1 ? `; the latest is from ${Math.floor(last)}` : ""}.${
    points.length < board.systems.length ? " The others lack a date or some tasks." : ""
  }${
    board.history ? " XTREME and XTREME-R average other tasks and languages: compare the steps, not the levels." : ""
  }`;

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
/** @param {Board} board @param {TimePanel[]} panels @param {Regime[]} regimes */
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
    rows: panels.flatMap(({ column, points, undated }) => {
      const steps = new Set(stepsOf(points, regimes, column.lower).flatMap(([, own]) => own));
      return [...points, ...(undated ? [undated] : [])].map((point) => ({ column, point, isStep: steps.has(point) }));
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
    panels.every(({ points }) => !points.length) ? null : element(
      "p",
      {},
      "A date is the system's own, or the year of its paper, drawn in the middle of that year. Steps show the best score so far; ",
      "whether a step is significant is tested on the leaderboard and in comparisons. ",
      rows.some((row) => !missing(row.figures.get("overall").low)) ? "Lines through marks are 95 % intervals. " : "",
      sampledTasks.length
        ? `Panels show 60 of up to ${countText(Math.max(...sampledTasks.map(({ points }) => points.length)))} systems, sampled evenly by rank.`
        : "",
    ),
    empty.length ? element("p", {}, `No dated system has a complete score on: ${empty.join(", ")}.`) : null,
    undated.length
      ? element(
          "details",
          { "data-key": "undated" },
          element("summary", {}, `${plural(undated.length, "system")} without a date, not on the time axis`),
          element(
            "ul",
            { class: "undated" },
            undated.map(({ system }) => element("li", {}, link(hashOf(["system", system.id]), nameOf(system.fullName)))),
          ),
        )
      : null,
  );
}
