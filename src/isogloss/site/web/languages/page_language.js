import { basisOf, figureShare, isSingle, wholeShare } from "./basis.js";
import { cellMetricText, cellScore, cellTitle, hasScores, tasksWith } from "../board/decode.js";
import { dotRows } from "./dot_rows.js";
import { languageChart } from "./language_chart.js";
import { populationText, tipLines } from "./language_words.js";
import { countText, element, link, missing, partText, plural, scriptName } from "../page/dom.js";
import { autonym, cellTip, crumbs, facts, familyLink, nothing, pageHead } from "../board/parts.js";
import { SERVED_SHARE } from "../board/relative.js";
import { hashOf } from "../page/state.js";
import { segmentedTable } from "../leaderboard/segmented_table.js";

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function languagePage(board, [code]) {
  const language = board.language.get(code);
  const tasks = tasksWith(board, code).filter((task) => hasScores(board, task, code));
  if (!language) return nothing("No task has this language.");
  if (!tasks.length) return unscoredPage(board, language);
  const table = {
    tasks: languageColumns(board, tasks, code),
    mean: "Mean over these tasks in this language.",
    name: `language-${code}`,
    label: `Systems in ${language.name}`,
  };
  const basis = basisOf(board);
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(link("#/languages", "Languages"), familyLink(language.family), language.name),
    pageHead([language.name, " ", autonym(language)], languageHeadline(board, language, tasks, basis)),
    element("h2", {}, "Best score by task"),
    languageChart(board, language, tasks, basis),
    similarLanguages(board, language, basis),
    languageFacts(language),
    element("h2", {}, "Systems"),
    segmentedTable(board, params, table),
  ];
  return { title: language.name, view };
}

// A language of the suite without any score.
/** @param {Board} board @param {Language} language @returns {Page} */
const unscoredPage = (board, language) => ({
  title: language.name,
  view: () => [
    crumbs(link("#/languages", "Languages"), familyLink(language.family), language.name),
    pageHead(
      [language.name, " ", autonym(language)],
      element("p", { class: "headline" }, "No system has a score in this language yet."),
    ),
    similarLanguages(board, language, basisOf(board)),
    languageFacts(language),
  ],
});

// "93.1 % of the best score in English, the mean over 3 tasks (XNLI 91 % to TyDiQA-GoldP F1 99 %): served at 80 %. …".
/** @param {Board} board @param {Language} language @param {Task[]} tasks @param {Basis} basis */
function languageHeadline(board, { code, speakers }, tasks, basis) {
  const tested = board.systems.filter((system) => tasks.some((task) => !missing(cellScore(task, system, code)))).length;
  return element(
    "p",
    { class: "headline" },
    shareSentence(basis, code),
    board.systems.length > 1
      ? ` ${partText(tested, board.systems.length, "system", ["has", "have"])} a score, on ${plural(tasks.length, "task")}. `
      : ` Tested on ${plural(tasks.length, "task")}. `,
    missing(speakers) ? "" : `${populationText(speakers)} speakers.`,
  );
}

/** @param {Basis} basis @param {string} code @returns {Child} */
function shareSentence(basis, code) {
  const own = basis.relative.get(code);
  if (code === "en") return "The language that others are compared with.";
  if (!own) return `Tested on no task with ${basis.reference}, so that its scores cannot be compared.`;
  const parts = [...own.parts].sort((a, b) => a.share - b.share);
  const [lowest, highest] = [parts[0], parts[parts.length - 1]];
  const reach = own.share >= SERVED_SHARE ? "served" : "not served";
  return [
    element("strong", {}, figureShare(own.share)),
    ` of the best score in ${basis.reference}`,
    parts.length > 1
      ? `, the mean over ${plural(parts.length, "task")} (from ${cellTitle(lowest.task)} ${wholeShare(lowest.share)} to ${cellTitle(highest.task)} ${wholeShare(highest.share)})`
      : `, on ${cellTitle(lowest.task)}${isSingle(basis, code) ? " alone" : ""}`,
    ": ",
    link(hashOf(["languages"]), `${reach} at ${wholeShare(SERVED_SHARE)}`),
    ".",
  ];
}

// The language among those most similar to it.
/** @param {Board} board @param {Language} language @param {Basis} basis */
function similarLanguages(board, language, basis) {
  const near = language.near.map((code) => board.language.get(code)).filter(Boolean);
  const compared = [language, ...near].filter(({ code }) => basis.relative.has(code));
  if (!near.length) return null;
  const most = Math.max(100, ...compared.map(({ code }) => 100 * (basis.relative.get(code)?.share ?? 0)));
  return [
    element("h2", {}, "Most similar languages"),
    dotRows(
      [language, ...near].map((one) => {
        const own = basis.relative.get(one.code);
        return {
          label: one.name,
          href: one === language ? undefined : hashOf(["language", one.code]),
          figure: { value: own ? 100 * own.share : NaN },
          text: own ? `${figureShare(own.share)} · ${plural(own.parts.length, "task")}` : "no score to compare",
          short: own ? figureShare(own.share) : "–",
          lines: tipLines(basis, one),
        };
      }),
      {
        scale: [0, 10 * Math.ceil(most / 10)],
        unit: " %",
        description: `${language.name} and similar languages by share of ${basis.reference}`,
      },
    ),
    element("p", { class: "soft" }, `Best score as a share of the best score in ${basis.reference} on the same tasks.`),
  ];
}

/** @param {Maybe<number>} value */
const articles = (value) =>
  missing(value)
    ? "unknown"
    : value >= 1
      ? `${value} million articles`
      : value >= 0.001
        ? `${countText(Math.round(value * 1000))} thousand articles`
        : `${countText(Math.round(value * 1e6))} articles`;

/** @param {Language} language */
const languageFacts = (language) => [
  element("h2", {}, "About the language"),
  facts([
    ["Family", familyLink(language.family)],
    ["Branch", language.branch],
    ["Script", link(hashOf([], { script: language.script }), scriptName(language.script))],
    ["Code", language.code],
    ["Speakers", populationText(language.speakers)],
    ["Wikipedia", articles(language.articles)],
  ]),
];

/** @param {Board} board @param {Task[]} tasks @param {string} code @returns {SystemColumn[]} */
const languageColumns = (board, tasks, code) =>
  tasks.map((task) => ({
    id: task.id,
    title: cellTitle(task),
    lower: task.lower_is_better,
    hint: [task.title, cellMetricText(task)],
    of: (/** @type {System} */ system) => cellScore(task, system, code),
    says: (/** @type {System} */ system) => cellTip(board, system, task, code).slice(1),
  }));
