import { directedPaint } from "./colour.js";
import { cellTitle } from "./decode.js";
import { systemWithRegime } from "./describe.js";
import { element, link, listed, missing, scoreText } from "./dom.js";
import { heatTable, scoreKey, scoreRange } from "./heatmap.js";
import { allLower, scoreIn } from "./language_views.js";
import { paged } from "./pager.js";
import { byFamily, cellTip } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { hashOf } from "./state.js";
import { withTip } from "./tips.js";

const SYSTEMS_PER_PAGE = 40;

// Systems by languages: the score on one task, or the mean over all.
export function heatView(board, tasks, languages, params) {
  const rows = systemsByCoverage(board, tasks, languages, params.get("q") ?? "");
  const { shown, pager } = paged(rows, SYSTEMS_PER_PAGE, params, "Pages of systems");
  const columns = orderedLanguages(languages, tasks, rows.slice(0, SYSTEMS_PER_PAGE), params.get("order"));
  return [
    element(
      "p",
      { class: "soft" },
      tasks.length > 1
        ? "A cell is the mean over all tasks of its language, for systems that have all of them; those with most languages come first."
        : "Systems with most languages come first.",
    ),
    ...languageHeatMap(board, tasks, shown, columns),
    pager,
  ];
}

const knownScores = (tasks, pairs) =>
  pairs.map(([system, code]) => scoreIn(tasks, system, code)).filter((score) => !missing(score));

// The systems whose names have the words, those with most languages first, and the better ones among equals.
function systemsByCoverage(board, tasks, languages, words) {
  const better = allLower(tasks) ? -1 : 1;
  return board.systems
    .filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()))
    .map((system) => {
      const scores = knownScores(
        tasks,
        languages.map(({ code }) => [system, code]),
      );
      return { system, n: scores.length, mean: weightedMean(scores) };
    })
    .filter(({ n }) => n)
    .sort((a, b) => b.n - a.n || better * (b.mean - a.mean))
    .map(({ system }) => system);
}

// Languages by the mean of some systems, the best first; by name; or by family.
function orderedLanguages(languages, tasks, systems, order) {
  if (order === "name") return [...languages].sort((a, b) => a.name.localeCompare(b.name));
  if (order !== "score") return [...languages].sort(byFamily);
  const better = allLower(tasks) ? -1 : 1;
  const mean = ({ code }) =>
    weightedMean(
      knownScores(
        tasks,
        systems.map((system) => [system, code]),
      ),
    );
  const means = new Map(languages.map((language) => [language, mean(language)]));
  return [...languages].sort((a, b) => better * (means.get(b) - means.get(a)));
}

function languageHeatMap(board, tasks, systems, languages) {
  const range = scoreRange(systems.flatMap((system) => languages.map(({ code }) => scoreIn(tasks, system, code))));
  const paintOf = directedPaint(allLower(tasks), range);
  const tip = (system, language, score) =>
    tasks.length === 1
      ? cellTip(board, system, tasks[0], language.code)
      : [
          `${system.name} in ${language.name}: ${scoreText(score)}`,
          listed(tasks.filter((each) => each.place.has(language.code)).map(cellTitle)),
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
