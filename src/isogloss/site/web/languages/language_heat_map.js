import { bestInCell, englishPercent, isRelative } from "../board/best_cells.js";
import { cellScore, cellTitle } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { familyBands, languageHeads } from "../board/families.js";
import { cellTip } from "../board/parts.js";
import { weightedMean } from "../board/ranking.js";
import { columnScale } from "../board/score_scale.js";
import { directedPaint } from "../charts/colour.js";
import { heatTables, scoreKey, untestedKey } from "../charts/heatmap.js";
import { element, listed, missing, scoreText } from "../page/dom.js";
import { exportButtons, fileColumn } from "../page/export.js";
import { paged } from "../page/pager.js";
import { hashOf } from "../page/state.js";
import { SHARE_SCALE } from "./basis.js";

const SYSTEMS_PER_PAGE = 40;

/** @typedef {(system: System, code: string) => number} ScoreOf */

// Systems by languages: the score on one task; over several, the mean score relative to English.
/** @param {Board} board @param {Task[]} tasks @param {Language[]} languages @param {URLSearchParams} params */
export function heatView(board, tasks, languages, params) {
  const counted = tasks.length > 1 ? tasks.filter((task) => isRelative(board, task)) : tasks;
  const scoreOf = scoreFunction(board, counted);
  const isLower = counted.length === 1 && counted[0].lower_is_better;
  const rows = systemsByCoverage(board, scoreOf, languages, params.get("q") ?? "", isLower);
  const { shown, pager } = paged(rows, SYSTEMS_PER_PAGE, params, "System pages");
  const order = params.get("order") ?? "";
  const isOrdered = ["score", "name"].includes(order);
  const columns = orderedLanguages(board, counted, languages, order);
  const words = "Systems with the most languages come first.";
  const relative =
    "Per cent of the best score in English on the same task, averaged over the tasks that a system has in a language.";
  const figures = counted.length > 1 ? relative : cellTitle(counted[0]);
  const files = exportButtons("languages-by-system", board, () => ({
    columns: heatColumns(isOrdered ? columns : familyBands(columns).flatMap(({ languages: own }) => own), scoreOf),
    rows,
    more: { figures },
  }));
  return [
    element("p", { class: "soft" }, counted.length > 1 ? `${relative} ${words}` : words),
    ...languageHeatMap(board, { tasks: counted, systems: shown }, scoreOf, columns, isOrdered),
    pager,
    files,
  ];
}

/** @param {Language[]} languages @param {ScoreOf} scoreOf @returns {TableColumn<System>[]} */
const heatColumns = (languages, scoreOf) => [
  fileColumn("system", "System", ({ name }) => name),
  fileColumn("regime", "Regime", ({ regime }) => regime ?? ""),
  ...languages.map(({ code, name }) => ({
    ...fileColumn(code, name, (system) => scoreOf(system, code), true),
    score: true,
  })),
];

/** @param {Board} board @param {Task[]} tasks @returns {ScoreOf} */
const scoreFunction = (board, tasks) => (system, code) =>
  tasks.length === 1
    ? cellScore(tasks[0], system, code)
    : weightedMean(
        heatTasks(tasks, system, code).map((task) => englishPercent(board, task, cellScore(task, system, code))),
      );

/** @param {Task[]} tasks @param {System} system @param {string} code */
const heatTasks = (tasks, system, code) => tasks.filter((task) => !missing(cellScore(task, system, code)));

// The matching systems, by number of languages, then by mean score.
/** @param {Board} board @param {ScoreOf} scoreOf @param {Language[]} languages @param {string} words @param {boolean} isLower */
function systemsByCoverage(board, scoreOf, languages, words, isLower) {
  return board.systems
    .filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()))
    .map((system) => {
      const scores = languages.map(({ code }) => scoreOf(system, code)).filter((score) => !missing(score));
      return { system, n: scores.length, mean: weightedMean(scores) };
    })
    .filter(({ n }) => n)
    .sort((a, b) => b.n - a.n || (isLower ? a.mean - b.mean : b.mean - a.mean))
    .map(({ system }) => system);
}

// Languages by name, or by the best scores relative to English; families are the heat map's own order.
/** @param {Board} board @param {Task[]} tasks @param {Language[]} languages @param {string} order */
function orderedLanguages(board, tasks, languages, order) {
  if (order === "name") return [...languages].sort((a, b) => a.name.localeCompare(b.name));
  if (order !== "score") return languages;
  /** @param {Language} language */
  const best = ({ code }) =>
    weightedMean(
      tasks
        .map((task) => englishPercent(board, task, bestInCell(board, task, code).value))
        .filter((value) => !missing(value)),
    );
  const means = new Map(languages.map((language) => [language, best(language)]));
  return [...languages].sort((a, b) => (means.get(b) || 0) - (means.get(a) || 0));
}

/** @param {Board} board @param {LanguageChoice} choice @param {ScoreOf} scoreOf @param {Language[]} languages @param {boolean} ordered */
function languageHeatMap(board, { tasks, systems }, scoreOf, languages, ordered) {
  const one = tasks.length === 1 ? tasks[0] : null;
  const scale = one ? columnScale(board, one.id) : SHARE_SCALE;
  const paintOf = directedPaint(one?.lower_is_better ?? false, scale);
  /** @param {System} system @param {Language} language @param {number} score */
  const tip = (system, { code, name }, score) =>
    one
      ? cellTip(board, system, one, code)
      : [
          `${system.name} in ${name}: ${scoreText(score)} % of the best score in English`,
          listed(heatTasks(tasks, system, code).map(cellTitle)),
        ];
  const lacking = one ? "not tested" : "no score to compare";
  return [
    scoreKey(...scale, paintOf, untestedKey(lacking), !one),
    heatTables({
      lacking,
      rows: systems,
      ...languageHeads(languages, ({ code }) => hashOf(["language", code]), { ordered }),
      caption: "Systems by language",
      rowHead: systemWithRegime,
      value: (system, { code }) => scoreOf(system, code),
      text: (score) => String(Math.round(score)),
      paintOf,
      tip,
    }),
  ];
}
