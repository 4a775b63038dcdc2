import { cellMetricText, cellScore, cellTitle, hasScores, languageName, metricsText, metricTitle } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { languageHeads } from "../board/families.js";
import { rankingBy } from "../board/rank_words.js";
import { cellTip, crumbs, nothing } from "../board/parts.js";
import { columnScale } from "../board/score_scale.js";
import { directedPaint } from "../charts/colour.js";
import { heatTables, scoreKey } from "../charts/heatmap.js";
import { pointsOf } from "../charts/strip_chart.js";
import { averageInterval, systemTable } from "../leaderboard/system_table.js";
import { countText, element, link, missing, plural } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { taskLanguagePage } from "./page_task_language.js";
import { pseudoOfTask } from "./pseudo_scores.js";
import { servedText, taskHead } from "./task_head.js";
import { languagesSection } from "./task_languages.js";

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
    columns: taskColumns(board, task, codes).slice(ranked.length ? 0 : 1),
    main: ranked.length ? "mean" : codes[0],
    name: `task-${id}`,
    label: `Systems on ${task.name}`,
    task: id,
  };
  const served = servedText(board, task);
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(link("#/", "Leaderboard"), task.name),
    taskHead(board, task, ranked, served),
    languagesSection(board, task, codes, params),
    pseudoOfTask(board, task),
    taskHeatMap(board, task, codes, ranked.length ? ranked.map(({ system }) => system) : board.systems),
    element("h2", {}, "All systems"),
    systemTable(board, params, table),
  ];
  return { title: task.name, view };
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
    interval: averageInterval(board, task),
    ranking: () => rankingBy(board, task.id),
  },
  ...codes.map((code) => ({
    id: code,
    title: languageName(board, code),
    note: task.cellMetric && metricTitle(task.cellMetric),
    lower: task.lower_is_better,
    hint: [languageName(board, code), cellMetricText(task)],
    of: (/** @type {System} */ system) => cellScore(task, system, code),
    says: (/** @type {System} */ system) => cellTip(board, system, task, code).slice(1),
  })),
];

// Systems by language, for systems with any score, in the given order.
/** @param {Board} board @param {Task} task @param {string[]} codes @param {System[]} ordered */
function taskHeatMap(board, task, codes, ordered) {
  const scored = ordered.filter((system) => codes.some((code) => !missing(cellScore(task, system, code))));
  if (!scored.length) return null;
  const systems = scored.slice(0, MOST_ROWS);
  const languages = codes.map((code) => board.language.get(code)).filter(Boolean);
  const scale = columnScale(board, task.id);
  const paintOf = directedPaint(task.lower_is_better, scale);
  return element(
    "section",
    { id: "cells" },
    element("h2", {}, "Systems by language"),
    scoreKey(...scale, paintOf),
    heatTables({
      rows: systems,
      ...languageHeads(languages, ({ code }) => hashOf(["task", task.id, code])),
      caption: `${cellTitle(task)}: ${systems.length < scored.length ? `the highest ${systems.length} of ${countText(scored.length)} systems` : plural(systems.length, "system")} by language`,
      rowHead: systemWithRegime,
      value: (system, { code }) => cellScore(task, system, code),
      text: (score) => String(Math.round(score)),
      tip: (system, { code }) => cellTip(board, system, task, code),
      paintOf,
    }),
  );
}
