import { cellMetricText, cellScore, cellTitle, hasScores, tasksWith } from "../board/decode.js";
import { countText, element, link, missing, nameOf, scoreText, scriptName } from "../page/dom.js";
import { autonym, cellTip, crumbs, facts, familyLink, languageLink, nothing, pageHead } from "../board/parts.js";
import { kindLegend } from "../charts/plots.js";
import { weightedMean } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { pointsOf, stripChart } from "../charts/strip_chart.js";
import { hasFigures, systemTable } from "../leaderboard/system_table.js";

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function languagePage(board, [code]) {
  const language = board.language.get(code);
  const tasks = tasksWith(board, code).filter((task) => hasScores(board, task, code));
  if (!language || !tasks.length) return nothing("No system has a score in this language.");
  const [mean, ...ofTasks] = languageColumns(board, tasks, code);
  const table = {
    columns: [mean, ...ofTasks],
    main: ofTasks.length > 1 && hasFigures(board, mean) ? mean.id : ofTasks[0].id,
    name: `language-${code}`,
    label: `Systems in ${language.name}`,
  };
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(link("#/languages", "Languages"), familyLink(language.family), language.name),
    languageHead(board, language, tasks),
    element("h2", {}, "Scores by task"),
    languageChart(board, language, tasks),
    element("h2", {}, "All systems, all tasks"),
    systemTable(board, params, table),
  ];
  return { title: language.name, view };
}

/** @param {Maybe<number>} value */
const people = (value) =>
  missing(value)
    ? "unknown"
    : value >= 1e6
      ? `${countText(Number((value / 1e6).toPrecision(2)))} million`
      : countText(value);
/** @param {Maybe<number>} value */
const articles = (value) =>
  missing(value)
    ? "unknown"
    : value >= 1
      ? `${value} million articles`
      : value >= 0.001
        ? `${countText(Math.round(value * 1000))} thousand articles`
        : `${countText(Math.round(value * 1e6))} articles`;

/** @param {Board} board @param {Language} language @param {Task[]} tasks */
function languageHead(board, language, tasks) {
  const near = language.near.map((code) => board.language.get(code)).filter(Boolean);
  return pageHead(
    [language.name, " ", autonym(language)],
    bestSentence(board, tasks, language.code),
    facts([
      ["Family", familyLink(language.family)],
      ["Branch", language.branch],
      ["Script", link(hashOf([], { script: language.script }), scriptName(language.script))],
      ["Code", language.code],
      ["Speakers", people(language.speakers)],
      ["Wikipedia", articles(language.articles)],
      ["Most similar", near.length ? near.flatMap((other, at) => [at ? ", " : "", languageLink(other)]) : null],
    ]),
  );
}

/** @param {Board} board @param {Task[]} tasks @param {string} code */
function bestSentence(board, tasks, code) {
  const best = tasks
    .map((task) => ({
      task,
      top: pointsOf(board, (system) => cellScore(task, system, code), "", task.lower_is_better)[0],
    }))
    .filter(({ top }) => top);
  return element(
    "p",
    { class: "headline" },
    "Best: ",
    best.flatMap(({ task, top }, at) => [
      at ? ", " : "",
      link(hashOf(["task", task.id, code]), cellTitle(task)),
      " ",
      element("strong", {}, scoreText(top.value)),
      " (",
      link(hashOf(["system", top.system.id]), nameOf(top.system.name)),
      // The systems may have different regimes.
      top.system.regime ? `, ${top.system.regime})` : ")",
    ]),
    ".",
  );
}

/** @param {Board} board @param {Task[]} tasks @param {string} code @returns {SystemColumn[]} */
const languageColumns = (board, tasks, code) => [
  {
    id: "mean",
    title: "Mean",
    hint: ["Mean", "Mean over the tasks in this language, for systems with all of them."],
    lower: tasks.every((task) => task.lower_is_better),
    of: (system) => weightedMean(tasks.map((task) => cellScore(task, system, code))),
  },
  ...tasks.map((task) => ({
    id: task.id,
    title: cellTitle(task),
    lower: task.lower_is_better,
    hint: [task.title, cellMetricText(task)],
    of: (/** @type {System} */ system) => cellScore(task, system, code),
    says: (/** @type {System} */ system) => cellTip(board, system, task, code).slice(1),
  })),
];

// A line per task, with the best score in English for comparison.
/** @param {Board} board @param {Language} options1 @param {Task[]} tasks */
function languageChart(board, { code, name }, tasks) {
  const isEnglish = code === "en";
  const lines = tasks.map((task) => ({
    label: cellTitle(task),
    href: hashOf(["task", task.id, code]),
    points: pointsOf(board, (system) => cellScore(task, system, code), task.name, task.lower_is_better),
    reference: !isEnglish && task.place.has("en") ? englishBest(board, task) : null,
  }));
  return [
    kindLegend([...new Set(board.systems.map(({ kind }) => kind))], false),
    stripChart({ lines, description: `Scores of all systems in ${name}, by task` }),
    isEnglish
      ? null
      : element(
          "p",
          { class: "soft" },
          "One mark per system; the best is larger. The vertical line is the best score in English.",
        ),
  ];
}

/** @param {Board} board @param {Task} task */
function englishBest(board, task) {
  const top = pointsOf(board, (system) => cellScore(task, system, "en"), "", task.lower_is_better)[0];
  return top ? { value: top.value, lines: [`English, ${task.name}: ${scoreText(top.value)}`, top.system.name] } : null;
}
