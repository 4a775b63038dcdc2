import { directedPaint } from "../charts/colour.js";
import { cellTitle } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { element, link, listed, missing, scoreText } from "../page/dom.js";
import { heatTable, scoreKey, scoreRange } from "../charts/heatmap.js";
import { allLower, scoreIn } from "./language_views.js";
import { paged } from "../page/pager.js";
import { byFamily, cellTip } from "../board/parts.js";
import { weightedMean } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

const SYSTEMS_PER_PAGE = 40;

// Systems by languages: the score on one task, or the mean over tasks.
/** @param {Board} board @param {Task[]} tasks @param {Language[]} languages @param {URLSearchParams} params */
export function heatView(board, tasks, languages, params) {
  const rows = systemsByCoverage(board, tasks, languages, params.get("q") ?? "");
  const { shown, pager } = paged(rows, SYSTEMS_PER_PAGE, params, "System pages");
  const columns = orderedLanguages(languages, tasks, rows.slice(0, SYSTEMS_PER_PAGE), params.get("order"));
  return [
    element(
      "p",
      { class: "soft" },
      tasks.length > 1
        ? "Mean over all tasks of a language, for systems with all of them. Systems with the most languages come first."
        : "Systems with the most languages come first.",
    ),
    ...languageHeatMap(board, tasks, shown, columns),
    pager,
  ];
}

/** @param {Task[]} tasks @param {[System, string][]} pairs @returns {number[]} */
const scoresOf = (tasks, pairs) =>
  pairs.map(([system, code]) => scoreIn(tasks, system, code)).filter((score) => !missing(score));

// The matching systems, by number of languages, then by mean score.
/** @param {Board} board @param {Task[]} tasks @param {Language[]} languages @param {string} words */
function systemsByCoverage(board, tasks, languages, words) {
  const better = allLower(tasks) ? -1 : 1;
  return board.systems
    .filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()))
    .map((system) => {
      const scores = scoresOf(
        tasks,
        languages.map(({ code }) => [system, code]),
      );
      return { system, n: scores.length, mean: weightedMean(scores) };
    })
    .filter(({ n }) => n)
    .sort((a, b) => b.n - a.n || better * (b.mean - a.mean))
    .map(({ system }) => system);
}

// Languages by mean score, by name or by family.
/** @param {Language[]} languages @param {Task[]} tasks @param {System[]} systems @param {string | null} order */
function orderedLanguages(languages, tasks, systems, order) {
  if (order === "name") return [...languages].sort((a, b) => a.name.localeCompare(b.name));
  if (order !== "score") return [...languages].sort(byFamily);
  const better = allLower(tasks) ? -1 : 1;
  /** @param {Language} options */
  const mean = ({ code }) =>
    weightedMean(
      scoresOf(
        tasks,
        systems.map((system) => [system, code]),
      ),
    );
  const means = new Map(languages.map((language) => [language, mean(language)]));
  return [...languages].sort((a, b) => better * ((means.get(b) ?? NaN) - (means.get(a) ?? NaN)));
}

/** @param {Board} board @param {Task[]} tasks @param {System[]} systems @param {Language[]} languages */
function languageHeatMap(board, tasks, systems, languages) {
  const range = scoreRange(systems.flatMap((system) => languages.map(({ code }) => scoreIn(tasks, system, code))));
  const paintOf = directedPaint(allLower(tasks), range);
  /** @param {System} system @param {Language} language @param {number} score */
  const tip = (system, language, score) =>
    tasks.length === 1
      ? cellTip(board, system, tasks[0], language.code)
      : [
          `${system.name} in ${language.name}: ${scoreText(score)}`,
          listed(tasks.filter((task) => task.place.has(language.code)).map(cellTitle)),
        ];
  return [
    scoreKey(...range, paintOf),
    heatTable({
      rows: systems,
      columns: languages,
      caption: "Systems by language",
      rowHead: systemWithRegime,
      columnHead: (language) =>
        withTip(link(hashOf(["language", language.code]), language.code), () => [
          language.name,
          `${language.family}, ${language.branch}`,
          language.script,
        ]),
      value: (system, { code }) => scoreIn(tasks, system, code),
      text: (score) => String(Math.round(score)),
      paintOf,
      tip,
    }),
  ];
}
