import { directedPaint } from "../charts/colour.js";
import { cellScore, cellTitle } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { element, link, listed, missing, nameOf, plural, scoreText, scriptName } from "../page/dom.js";
import { scoreKey, scoreRange } from "../charts/heatmap.js";
import { languageMap } from "./map.js";
import { autonym, languageLink, plainTable } from "../board/parts.js";
import { weightedMean } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { familyTree } from "./tree.js";

const EMPTY_DOT = "empty dots have no score";

// A system's score in a language: the mean over the given tasks that have it.
/** @param {Task[]} tasks @param {System} system @param {string} code @returns {number | undefined} */
export function scoreIn(tasks, system, code) {
  const own = tasks.filter((task) => task.place.has(code));
  return own.length ? weightedMean(own.map((task) => cellScore(task, system, code))) : undefined;
}

/** @param {Task[]} tasks */
export const allLower = (tasks) => tasks.every((task) => task.lower_is_better);

// The best system in a language.
/** @param {LanguageChoice} options @param {string} code @returns {Best} */
function bestIn({ tasks, systems }, code) {
  const lower = allLower(tasks);
  /** @type {Best} */
  let best = { value: NaN, system: null };
  for (const system of systems) {
    const value = scoreIn(tasks, system, code) ?? NaN;
    const isBetter = missing(best.value) || (lower ? value < best.value : value > best.value);
    if (!missing(value) && isBetter) best = { value, system };
  }
  return best;
}

/** @param {LanguageChoice} options */
const scoresText = ({ tasks, systems }) => {
  const score = tasks.length === 1 ? cellTitle(tasks[0]) : "mean over all tasks of each language";
  const caution = tasks.length === 1 ? "" : " Languages have different tasks; select one for a fair comparison.";
  return systems.length === 1
    ? ["Scores of ", nameOf(systems[0].name), `: ${score}.${caution}`]
    : [`Best of ${plural(systems.length, "system")} in each language: ${score}.${caution}`];
};

/** @param {Language[]} languages @param {LanguageChoice} choice @returns {BestByLanguage} */
const bestByLanguage = (languages, choice) =>
  Object.fromEntries(languages.map((language) => [language.code, bestIn(choice, language.code)]));

/** @param {Language[]} languages @param {LanguageChoice} choice */
export function mapView(languages, choice) {
  const best = bestByLanguage(languages, choice);
  const [placed, others] = [languages.filter(({ place }) => place), languages.filter(({ place }) => !place)];
  /** @param {Language} language */
  const lines = (language) => {
    const { value, system } = best[language.code];
    return [
      `${language.name}${language.autonym && language.autonym !== language.name ? ` · ${language.autonym}` : ""}: ${scoreText(value)}`,
      system ? `${system.name}${system.regime ? ` (${system.regime})` : ""}` : "no score",
      `${language.family}, ${language.branch}; ${scriptName(language.script)}`,
    ];
  };
  const range = scoreRange(Object.values(best).map(({ value }) => value));
  const paintOf = directedPaint(allLower(choice.tasks), range);
  return [
    element("p", { class: "soft" }, scoresText(choice), " Select a dot to open the language."),
    scoreKey(...range, paintOf, EMPTY_DOT),
    placed.length
      ? languageMap(placed, {
          figureOf: (language) => ({ value: best[language.code].value, lines: lines(language) }),
          paintOf,
          description: "Map of languages by score",
        })
      : "",
    element(
      "p",
      { class: "soft" },
      "Dots mark where a language is mainly spoken or comes from. Locations and coastlines are approximate.",
      others.length ? ` Not on the map: ${listed(others.map(({ name }) => name))}.` : "",
    ),
    element("details", {}, element("summary", {}, "Show as a table"), languageTable(languages, choice, best)),
  ];
}

/** @param {Language[]} languages @param {LanguageChoice} choice */
export function treeView(languages, choice) {
  const best = bestByLanguage(languages, choice);
  const paintOf = directedPaint(allLower(choice.tasks), [0, 100]);
  return [
    element("p", { class: "soft" }, scoresText(choice), " Select a language or family to open it."),
    scoreKey(0, 100, paintOf, EMPTY_DOT),
    familyTree(
      languages,
      ({ code }) => best[code].value,
      paintOf,
      "Families, branches and languages, with the score in each language",
    ),
  ];
}

/** @param {Language[]} languages @param {LanguageChoice} choice */
export const listView = (languages, choice) => [
  element("p", { class: "soft" }, scoresText(choice)),
  languageTable(languages, choice, bestByLanguage(languages, choice)),
];

/** @param {Language[]} languages @param {LanguageChoice} options1 @param {BestByLanguage} best */
const languageTable = (languages, { tasks }, best) =>
  plainTable(
    "Languages",
    ["Language", "Native name", "Family", "Branch", "Script", "Tasks", "Score", "System"],
    languages.map((language) => {
      const { value, system } = best[language.code];
      return [
        element("th", { scope: "row" }, languageLink(language)),
        element("td", {}, autonym(language) ?? language.name),
        element("td", {}, link(hashOf(["family", language.family]), language.family)),
        element("td", {}, language.branch),
        element("td", {}, scriptName(language.script)),
        element("td", { class: "number" }, tasks.filter((task) => task.place.has(language.code)).length),
        element("td", { class: "number" }, scoreText(value)),
        element("td", {}, system ? systemWithRegime(system) : "–"),
      ];
    }),
  );
