import { categoryTitle, systemWithRegime } from "../board/describe.js";
import { directedPaint } from "../charts/colour.js";
import { cellMetricText, cellScore, cellTitle, hasScores, languageName, metricsText, metricTitle } from "../board/decode.js";
import { countText, element, link, missing, plural, scoreText } from "../page/dom.js";
import { heatTable, scoreKey, scoreRange } from "../charts/heatmap.js";
import { firstPlace } from "../leaderboard/leaderboard_words.js";
import { taskLanguagePage } from "./page_task_language.js";
import { cellTip, crumbs, facts, nothing, pageHead } from "../board/parts.js";
import { pseudoOfTask } from "./pseudo_scores.js";
import { standings } from "../board/standings.js";
import { hashOf } from "../page/state.js";
import { pointsOf, stripChart } from "../charts/strip_chart.js";
import { systemTable } from "../leaderboard/system_table.js";
import { withTip } from "../page/tips.js";

const MOST_ROWS = 40;

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function taskPage(board, [id, chosen]) {
  const task = board.task.get(id);
  if (!task) return nothing("This board has no such task.");
  if (chosen !== undefined) return taskLanguagePage(board, task, chosen);
  const ranked = pointsOf(board, (system) => board.averages.get(id)?.value[system.at], task.name, task.lower_is_better);
  const codes = task.languages.filter((code) => hasScores(board, task, code));
  if (!ranked.length && !codes.length) return nothing("No system has a score on this task.");
  const table = {
    columns: taskColumns(board, task, codes),
    main: ranked.length ? "mean" : codes[0],
    name: `task-${id}`,
    label: `Systems on ${task.name}`,
    task: id,
  };
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(link("#/", "Leaderboard"), task.name),
    taskHead(task, ranked, testedBy(board, id)),
    taskChart(board, task, codes),
    pseudoOfTask(board, task),
    taskHeatMap(board, task, codes, ranked.length ? ranked.map(({ system }) => system) : board.systems),
    element("h2", {}, "All systems"),
    systemTable(board, params, table),
  ];
  return { title: task.name, view };
}

// The systems ranked and tested by a task.
/** @param {Board} board @param {string} id */
function testedBy(board, id) {
  const table = standings(board, new URLSearchParams({ sort: id }));
  table.testRanks?.();
  return table;
}

/** @param {Task} task @param {Point[]} ranked @param {Standings} table */
function taskHead(task, ranked, table) {
  const { verb, before, after } = firstPlace(table);
  return pageHead(
    task.title,
    ranked[0]
      ? element(
          "p",
          { class: "headline" },
          systemWithRegime(ranked[0].system),
          ` ${verb}${before} `,
          element("strong", {}, scoreText(ranked[0].value)),
          `, out of ${plural(ranked.length, "system")} with results in all ${plural(task.languages.length, "language")}`,
          after ? `; ${after}.` : ".",
          missing(task.human) ? "" : ` Human performance: ${scoreText(task.human)}.`,
        )
      : null,
    facts([
      ["Category", categoryTitle(task.category)],
      ["Metric", `${metricsText(task)}; ${task.lower_is_better ? "lower" : "higher"} is better`],
      ["Languages", countText(task.languages.length)],
      ["Test examples", sizesText(task.n.filter(Boolean))],
    ]),
  );
}

/** @param {number[]} sizes */
function sizesText(sizes) {
  if (!sizes.length) return null;
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return `${least === most ? countText(least) : `${countText(least)} to ${countText(most)}`} per language`;
}

/** @param {Board} board @param {Task} task @param {string[]} codes @returns {SystemColumn[]} */
const taskColumns = (board, task, codes) => [
  {
    id: "mean",
    title: "Mean",
    note: task.cellMetric ? metricsText(task) : "",
    hint: ["Mean", `${metricsText(task)}, averaged over ${plural(task.languages.length, "language")}.`],
    lower: task.lower_is_better,
    of: (system) => board.averages.get(task.id)?.value[system.at],
  },
  ...codes.map((code) => ({
    id: code,
    title: code,
    note: task.cellMetric && metricTitle(task.cellMetric),
    lower: task.lower_is_better,
    hint: [languageName(board, code), cellMetricText(task)],
    of: (/** @type {System} */ system) => cellScore(task, system, code),
    says: (/** @type {System} */ system) => cellTip(board, system, task, code).slice(1),
  })),
];

/** @param {Board} board @param {Task} task @param {string[]} codes */
function taskChart(board, task, codes) {
  const lines = codes
    .map((code) => ({
      label: languageName(board, code),
      href: hashOf(["task", task.id, code]),
      points: pointsOf(board, (system) => cellScore(task, system, code), task.name, task.lower_is_better),
    }))
    .sort((a, b) => (task.lower_is_better ? -1 : 1) * (b.points[0].value - a.points[0].value));
  return [
    element("h2", {}, `Languages, easiest first${task.cellMetric ? ` (${metricTitle(task.cellMetric)})` : ""}`),
    stripChart({ lines, description: `Scores of all systems on ${task.name}, by language` }),
  ];
}

// Systems by language, for systems with any score, in the given order.
/** @param {Board} board @param {Task} task @param {string[]} codes @param {System[]} ordered */
function taskHeatMap(board, task, codes, ordered) {
  const scored = ordered.filter((system) => codes.some((code) => !Number.isNaN(cellScore(task, system, code))));
  const systems = scored.slice(0, MOST_ROWS);
  const range = scoreRange(systems.flatMap((system) => codes.map((code) => cellScore(task, system, code))));
  const paintOf = directedPaint(task.lower_is_better, range);
  return [
    element("h2", {}, "Systems by language"),
    scoreKey(...range, paintOf),
    heatTable({
      rows: systems,
      columns: codes,
      caption: `${cellTitle(task)}: ${systems.length < scored.length ? `the best ${systems.length} of ${scored.length} systems` : "systems"} by language`,
      rowHead: systemWithRegime,
      columnHead: (code) => withTip(link(hashOf(["task", task.id, code]), code), () => [languageName(board, code)]),
      value: (system, code) => cellScore(task, system, code),
      tip: (system, code) => cellTip(board, system, task, code),
      paintOf,
    }),
  ];
}
