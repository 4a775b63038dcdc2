import { directedPaint } from "./colour.js";
import { cellScore, cellTitle } from "./decode.js";
import { systemWithRegime } from "./describe.js";
import { element, link, listed, missing, nameOf, plural, scoreText, scriptName } from "./dom.js";
import { scoreKey, scoreRange } from "./heatmap.js";
import { languageMap } from "./map.js";
import { autonym, languageLink, plainTable } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { hashOf } from "./state.js";
import { familyTree } from "./tree.js";

const EMPTY_DOT = "an empty dot is not scored";

// The score of a system in a language: one task's, or the mean over all tasks that the language has.
export function scoreIn(tasks, system, code) {
  const own = tasks.filter((task) => task.place.has(code));
  return own.length ? weightedMean(own.map((task) => cellScore(task, system, code))) : undefined;
}

export const allLower = (tasks) => tasks.every((task) => task.lower_is_better);

// The best of some systems in a language, where a task's lower figures are better too.
function bestIn({ tasks, systems }, code) {
  const lower = allLower(tasks);
  return systems.reduce(
    (best, system) => {
      const value = scoreIn(tasks, system, code);
      const better = missing(best.value) || (lower ? value < best.value : value > best.value);
      return !missing(value) && better ? { value, system } : best;
    },
    { value: NaN, system: null },
  );
}

const whoseScores = ({ tasks, systems }) => {
  const what =
    tasks.length === 1
      ? cellTitle(tasks[0])
      : "the mean over all tasks of the language. Languages have different tasks: choose one to compare them fairly";
  return systems.length === 1
    ? ["Scores of ", nameOf(systems[0].name), `: ${what}.`]
    : [`The best of ${plural(systems.length, "system")} in each language: ${what}.`];
};

const foundIn = (board, languages, choice) =>
  new Map(languages.map((language) => [language.code, bestIn(choice, language.code)]));

export function mapView(board, languages, choice) {
  const found = foundIn(board, languages, choice);
  const [placed, others] = [languages.filter(({ place }) => place), languages.filter(({ place }) => !place)];
  const lines = (language) => {
    const { value, system } = found.get(language.code);
    return [
      `${language.name}${language.autonym && language.autonym !== language.name ? ` · ${language.autonym}` : ""}: ${scoreText(value)}`,
      system ? `${system.name}${system.regime ? ` (${system.regime})` : ""}` : "no score",
      `${language.family}, ${language.branch}; ${scriptName(language.script)}`,
    ];
  };
  const range = scoreRange([...found.values()].map(({ value }) => value));
  const paintOf = directedPaint(allLower(choice.tasks), range);
  return [
    element("p", { class: "soft" }, whoseScores(choice), " Choose a dot to see the language."),
    scoreKey(...range, paintOf, EMPTY_DOT),
    placed.length
      ? languageMap(placed, {
          figureOf: (language) => ({ value: found.get(language.code).value, lines: lines(language) }),
          paintOf,
          description: "Languages where they are spoken, by score",
        })
      : "",
    element(
      "p",
      { class: "soft" },
      "A dot stands near where a language is chiefly spoken or comes from. Places and coasts are approximate, drawn for this map.",
      others.length ? ` Not on the map: ${listed(others.map(({ name }) => name))}.` : "",
    ),
    element("details", {}, element("summary", {}, "The same as a table"), languageTable(languages, choice, found)),
  ];
}

export function treeView(board, languages, choice) {
  const found = foundIn(board, languages, choice);
  const paintOf = directedPaint(allLower(choice.tasks), [0, 100]);
  return [
    element("p", { class: "soft" }, whoseScores(choice), " Choose a language or a family to see more."),
    scoreKey(0, 100, paintOf, EMPTY_DOT),
    familyTree(
      languages,
      ({ code }) => found.get(code).value,
      paintOf,
      "Families, branches and languages, with the score in each language",
    ),
  ];
}

export const listView = (board, languages, choice) => [
  element("p", { class: "soft" }, whoseScores(choice)),
  languageTable(languages, choice, foundIn(board, languages, choice)),
];

const languageTable = (languages, { tasks }, found) =>
  plainTable(
    "Languages",
    ["Language", "Own name", "Family", "Branch", "Script", "Tasks", "Score", "System"],
    languages.map((language) => {
      const { value, system } = found.get(language.code);
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
