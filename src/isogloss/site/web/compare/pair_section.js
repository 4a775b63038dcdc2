// Everything about one pair of systems: the verdict, where it comes from, and the differences by task and language.
import { population } from "../board/tested_on.js";
import { taskName } from "../board/decode.js";
import { lackText } from "../board/describe.js";
import { plainTable } from "../board/parts.js";
import { element, listed, nameOf, plural, printedScore, scoreText, signedText } from "../page/dom.js";
import { folded } from "../page/fold.js";
import { cellMatrix } from "./cell_matrix.js";
import { columnTable } from "./column_tables.js";
import { contrastCounts } from "./contrast_counts.js";
import { addedParts, againstLeader, explanationWords } from "./explained.js";
import { forestLegend, forestLimit } from "./forest.js";
import { languageForest, taskForest } from "./forest_rows.js";
import { cellsWithExamples } from "./paired.js";
import { countWords, sharedText, untestedReason, verdictDetail, verdictWords } from "./verdict.js";

// More languages are folded on narrow screens.
const MOST_OPEN = 12;
const OVER_LANGUAGES = `Tasks have the leaderboard's verdicts: they hold ${population("languages")} and are corrected over all pairs of the systems ranked on a task.`;

// The limit of the axis that all forest plots of a page share.
/** @param {PairContrasts[]} all */
export const sharedLimit = (all) =>
  forestLimit(
    all.flatMap(({ top, categories, tasks }) => [...(top ? [top] : []), ...categories, ...tasks]),
    all.flatMap(({ cells, languages }) => [...cells, ...languages]),
  );

// The verdict, its test, where each is better, and what explains a conflict: all that a reader needs before the plot.
/** @param {ComparedPair} compared @param {PairContrasts} contrasts */
export function verdictSection(compared, contrasts) {
  const { board, pair } = compared;
  const { top, tasks, cells } = contrasts;
  const reason = untestedReason(compared, contrasts);
  const [taskCounts, cellCounts] = [contrastCounts(tasks), contrastCounts(cells)];
  const untested = taskCounts.untested === taskCounts.all && cellCounts.untested === cellCounts.all;
  const where = [
    tasks.length > 1 ? [countWords(taskCounts, "task", pair), " "] : "",
    cells.length > 1 ? countWords(cellCounts, "cell", pair) : "",
  ];
  return [
    top && element("p", { class: "verdict" }, verdictWords(top, pair)),
    top &&
      element(
        "p",
        { class: "soft verdict-detail" },
        verdictDetail(top, pair),
        " ",
        reason.length ? ["Why it is not tested: ", reason] : "",
      ),
    element(
      "p",
      { class: "lead-text" },
      untested ? "No task and no cell is tested, so the scores below are compared as they are." : where,
      " ",
      cells.length === 1 && tasks.length === 1 ? "" : explanationWords(board, pair, contrasts),
    ),
  ];
}

// What qualifies the comparison, below the plot: the tests, the parts of the difference, coverage and footnotes.
/** @param {ComparedPair} compared @param {PairContrasts} contrasts */
function pairNotes({ board, pair }, contrasts) {
  const ranked = contrasts.tasks.some(({ test, alone }) => test === "languages" && !alone);
  const footnotes = pairFootnotes(board, pair, contrasts.tasks);
  const parts = addedTable(board, pair, contrasts);
  const about = [parts ? "parts of the difference" : "", "coverage", ranked ? "tests" : ""].filter(Boolean);
  if (footnotes.length) about.push(plural(footnotes.length, "footnote"));
  return element(
    "details",
    { class: "panel pair-notes", "data-key": `notes-${pair.map(({ id }) => id).join("-")}` },
    element("summary", {}, `Notes: ${listed(about)}`),
    parts,
    pairCoverage(board, pair, contrasts),
    ranked ? element("p", { class: "soft" }, OVER_LANGUAGES) : null,
    footnotes.length ? element("ul", { class: "notes" }, footnotes) : null,
  );
}

// How much each part of the overall score adds to the difference, if the better average and most other counts disagree.
/** @param {Board} board @param {System[]} pair @param {PairContrasts} contrasts */
function addedTable(board, pair, contrasts) {
  const parts = addedParts(board, contrasts);
  if (!parts.length || !contrasts.top || !againstLeader(contrasts, parts).against.length) return null;
  const number = (/** @type {string} */ text) => element("td", { class: "number" }, text);
  const rows = parts.map((part) => [
    element("th", { scope: "row" }, part.title),
    number(scoreText(part.first)),
    number(scoreText(part.second)),
    number(signedText(part.lead)),
    number(signedText(part.added)),
  ]);
  const { first, second, lead } = contrasts.top;
  const total = [
    element("th", { scope: "row" }, "Overall"),
    number(scoreText(first)),
    number(scoreText(second)),
    number(signedText(lead)),
    number(signedText(lead)),
  ];
  const heads = ["Part", ...pair.map(({ fullName }) => nameOf(fullName)), "Difference", "Adds to overall"];
  return element(
    "div",
    { class: "category-parts" },
    plainTable("Parts of the difference", heads, [...rows, total], { words: 1 }),
  );
}

/** @param {Board} board @param {System[]} pair @param {PairContrasts} contrasts */
function pairCoverage(board, pair, contrasts) {
  const { rows } = columnTable(board, "overall");
  const lacking = pair.filter((system) => rows[system.at].lacking().length);
  return element(
    "p",
    { class: "soft" },
    sharedText(board, pair, contrasts),
    lacking.map((system) => [" ", nameOf(system.fullName), ` – ${lackText(board, rows[system.at])}.`]),
  );
}

// Footnotes that qualify a score of the comparison.
/** @param {Board} board @param {System[]} pair @param {Contrast[]} tasks */
function pairFootnotes(board, pair, tasks) {
  const used = new Set(tasks.map(({ id }) => id));
  const notes = (board.footnotes ?? []).filter(
    ({ system, task }) => pair.some(({ id }) => id === system) && used.has(task),
  );
  return notes.map(({ system, task, text }) =>
    element("li", {}, "† ", nameOf(pair.find(({ id }) => id === system)?.fullName), `, ${taskName(board, task)}: `, text),
  );
}

// In how many languages each system has the better figure, as printed, and where it leads by most. Not a test.
/** @param {Contrast[]} languages @param {System[]} pair @returns {Child[]} */
function aheadWords(languages, pair) {
  return pair.flatMap((system, side) => {
    const sign = side ? -1 : 1;
    const ahead = languages.filter(({ lead }) => sign * printedScore(lead) > 0);
    if (!ahead.length) return [];
    const most = ahead.reduce((best, next) => (sign * next.lead > sign * best.lead ? next : best));
    return [
      nameOf(system.fullName),
      ` has the better score in ${ahead.length} of ${plural(languages.length, "language")}`,
      ahead.length > 1 ? `, by most in ${most.title} (${scoreText(Math.abs(most.lead))}). ` : `: ${most.title} (${scoreText(Math.abs(most.lead))}). `,
    ];
  });
}

/** @param {ComparedPair} compared @param {PairContrasts} contrasts @param {number} limit @param {URLSearchParams} params */
export function forestSections(compared, contrasts, limit, params) {
  const { board, pair, systems } = compared;
  const { cells, languages } = contrasts;
  const colours = pair.map((system) => systems.indexOf(system));
  const examples = cellsWithExamples(pair);
  const options = { pair, colours, limit, examples };
  const alone = systems.length === 2;
  const byLanguage = languages.length ? languageForest(board, contrasts, options, params) : null;
  const several = languages.some(({ parts }) => (parts?.length ?? 0) > 1);
  const hint = several
    ? "Means over the tasks that both have in a language. Hollow dots: a mean over several tasks has no test of its own. "
    : "The difference in the only task that both have in a language. ";
  const matrix =
    alone && cells.some(({ test }) => test)
      ? [element("h3", {}, "Every task in every language"), cellMatrix(board, pair, contrasts, examples)]
      : null;
  return [
    forestLegend(pair, colours, contrasts),
    taskForest(board, contrasts, options, params),
    pairNotes(compared, contrasts),
    byLanguage && alone
      ? [
          element("h2", {}, "By language"),
          element("p", {}, aheadWords(languages, pair), element("span", { class: "soft" }, hint)),
          languages.length > MOST_OPEN ? folded(plural(languages.length, "language"), 0, byLanguage) : byLanguage,
        ]
      : null,
    byLanguage && !alone
      ? element(
          "details",
          { class: "pair-languages", "data-key": `languages-${pair.map(({ id }) => id).join("-")}` },
          element("summary", {}, `By language: ${plural(languages.length, "language")}`),
          byLanguage,
        )
      : null,
    matrix,
  ];
}
