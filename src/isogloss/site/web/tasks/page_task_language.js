import { cellLinks } from "../analysis/cell_links.js";
import { systemWithRegime } from "../board/describe.js";
import { cellMetricText, cellOf, cellScore, cellTitle, metricsText } from "../board/decode.js";
import { autonym, cellTip, crumbs, languageLink, nothing, pageHead, taskLink } from "../board/parts.js";
import { standings } from "../board/standings.js";
import { dotChart, dotLegend } from "../charts/dot_chart.js";
import { pointsOf } from "../charts/strip_chart.js";
import { cellVerdict } from "../finder/verdict.js";
import { firstPlace } from "../leaderboard/leaderboard_words.js";
import { averageInterval, systemTable } from "../leaderboard/system_table.js";
import { countText, element, missing, plural, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { detailsTogether } from "./loaded_details.js";
import { englishLine, englishReference, taskAxis } from "../board/best_cells.js";

const MOST_DRAWN = 40;
const MOST_IN_PAIRS = 3;

/** @param {Board} board @param {Task} task @param {string} code @returns {Page} */
export function taskLanguagePage(board, task, code) {
  const language = board.language.get(code);
  const points = pointsOf(board, (system) => cellScore(task, system, code), "", task.lower_is_better);
  if (!language || !points.length) return nothing("No system has a score on this task in this language.");
  const table = {
    main: "score",
    name: `${task.id}-${code}`,
    label: `Systems on ${task.name} in ${language.name}`,
    task: task.id,
  };
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const drawn = points.slice(0, MOST_DRAWN);
    // Intervals are in each system's file: the page is drawn again once they are loaded.
    const details = detailsTogether(drawn.map(({ system }) => system));
    return [
    crumbs(taskLink(task), languageLink(language)),
    cellHead(board, task, language, points),
    cellChart(board, task, language, drawn, details),
    points.length > MOST_DRAWN
      ? element("p", { class: "soft" }, `Showing the highest ${MOST_DRAWN}; the table has all ${countText(points.length)}.`)
      : null,
    element("h2", {}, "All systems"),
    systemTable(board, params, { ...table, columns: cellColumns(board, task, code, details) }),
    cellLinks(board, task, code),
    ];
  };
  return { title: `${task.name} in ${language.name}`, view };
}

/** @param {Board} board @param {Task} task @param {Language} language @param {Point[]} points */
function cellHead(board, task, language, points) {
  const [best] = points;
  const size = task.n[task.languages.indexOf(language.code)];
  const { verb, before, after, tests } = taskCellVerdict(board, task, language, points);
  return pageHead(
    [`${cellTitle(task)} in ${language.name} `, autonym(language)],
    element(
      "p",
      { class: "headline" },
      systemWithRegime(best.system),
      ` ${verb}${before} `,
      element("strong", {}, scoreText(best.value)),
      points.length > 1 ? `, out of ${countText(points.length)} systems` : ", the only system",
      size ? ` on ${plural(size, "test example")}` : "",
      after ? `; ${after}.` : ".",
      tests ? ` ${tests}` : "",
      missing(task.human) || task.cellMetric ? "" : ` Human performance on the task: ${scoreText(task.human)}.`,
    ),
  );
}

// The paired tests of the best systems, or else the test of a ranking by this cell alone; both need the metric of the rankings.
/** @param {Board} board @param {Task} task @param {Language} language @param {Point[]} points */
function taskCellVerdict(board, task, language, points) {
  if (points.length === 1) return { verb: "scores", before: "", after: "", tests: "" };
  const best = { verb: "has the best score", before: ",", tests: "" };
  if (task.cellMetric) return { ...best, after: "the order is not tested" };
  const picks = points.slice(0, MOST_IN_PAIRS);
  if (picks.every(({ system }) => system.has_predictions))
    return { ...best, after: "", tests: cellVerdict({ tasks: [task], picks }, language).text };
  const table = standings(board, new URLSearchParams({ task: task.id, language: language.code }));
  return table.ranked === points.length ? { ...firstPlace(table), tests: "" } : { ...best, after: "the order is not tested" };
}

/** @param {Board} board @param {Task} task @param {string} code @param {Map<string, SystemDetail | null>} details @returns {SystemColumn[]} */
function cellColumns(board, task, code, details) {
  const average = board.averages.get(task.id);
  /** @type {SystemColumn} */
  const score = {
    id: "score",
    title: cellTitle(task),
    hint: [task.title, cellMetricText(task)],
    lower: task.lower_is_better,
    of: (system) => cellScore(task, system, code),
    interval: ({ id }) => cellOf(details.get(id), task, code),
    says: (system) => cellTip(board, system, task, code).slice(1),
  };
  /** @type {SystemColumn} */
  const mean = {
    id: "mean",
    title: "All languages",
    note: task.cellMetric ? metricsText(task) : "",
    hint: ["All languages", `The task average: ${metricsText(task)}.`],
    lower: task.lower_is_better,
    of: (system) => average?.value[system.at],
    interval: averageInterval(board, task),
  };
  return average ? [score, mean] : [score];
}

// Scores with their intervals, beside the best score in English.
/** @param {Board} board @param {Task} task @param {Language} language @param {Point[]} points @param {Map<string, SystemDetail | null>} details */
function cellChart(board, task, { code, name }, points, details) {
  const rows = points.map(({ system, value }) => {
    const { low = null, high = null } = cellOf(details.get(system.id), task, code) ?? {};
    return {
      label: system.fullName,
      href: hashOf(["system", system.id]),
      figure: { value, low, high },
      text: scoreText(value),
      lines: cellTip(board, system, task, code),
    };
  });
  const hasIntervals = rows.some(({ figure }) => !missing(figure.low));
  return [
    dotChart({
      bands: [{ name: "", rows }],
      scale: taskAxis(board, task),
      lines: englishReference(board, task).code === code ? [] : englishLine(board, task),
      description: `Scores on ${task.name} in ${name}, best first`,
    }),
    hasIntervals ? dotLegend({ dot: "score with its 95 % interval; no line where it is not known" }) : null,
  ];
}
