import { basisOf, figureShare, wholeShare } from "./basis.js";
import { cellScore, cellTitle, hasScores, languageName } from "../board/decode.js";
import { dotRows } from "./dot_rows.js";
import { relativeText } from "./language_words.js";
import { element, link, listed, plural } from "../page/dom.js";
import { crumbs, facts, languageLink, nothing, pageHead, taskLink } from "../board/parts.js";
import { weightedMean } from "../board/ranking.js";
import { SERVED_SHARE, serviceOf } from "../board/relative.js";
import { hashOf } from "../page/state.js";
import { segmentedTable } from "../leaderboard/segmented_table.js";

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function familyPage(board, [name]) {
  const languages = board.languages.filter(({ family }) => family === name);
  const tasks = familyTasks(board, languages);
  if (!tasks.length) return nothing("No system has a score in this family.");
  const table = {
    tasks: familyColumns(board, tasks),
    mean: "Mean over these tasks, each averaged over its languages of the family.",
    name: `family-${name}`,
    label: `Systems on ${name}`,
  };
  const basis = basisOf(board);
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(link("#/languages?view=tree", "Languages"), name),
    familyHead(name, languages, tasks, basis),
    familyCharts(languages, tasks, basis),
    element("h2", {}, "Systems"),
    segmentedTable(board, params, table),
  ];
  return { title: name, view };
}

// The tasks with scores in the family, each with its languages of the family.
/** @param {Board} board @param {Language[]} languages */
function familyTasks(board, languages) {
  const codes = new Set(languages.map(({ code }) => code));
  return board.tasks
    .map((task) => ({ task, codes: task.languages.filter((code) => codes.has(code)) }))
    .filter(({ task, codes: own }) => own.some((code) => hasScores(board, task, code)));
}

/** @param {string} name @param {Language[]} languages @param {SharedCells[]} tasks @param {Basis} basis */
function familyHead(name, languages, tasks, basis) {
  const branches = [...new Set(languages.map(({ branch }) => branch))];
  /** @param {string} branch */
  const inBranch = (branch) => languages.filter((language) => language.branch === branch);
  const { served, unserved, untested } = serviceOf(languages, basis.relative);
  const counts = [
    `${served.languages.length} served at ${wholeShare(SERVED_SHARE)} of the best score in ${basis.reference}`,
    `${unserved.languages.length} not`,
    untested.languages.length ? `${untested.languages.length} not compared` : "",
  ].filter(Boolean);
  return [
    pageHead(
      name,
      element(
        "p",
        { class: "headline" },
        element(
          "strong",
          {},
          `${plural(languages.length, "language")}${branches.length > 1 ? ` in ${branches.length} branches` : ""}`,
        ),
        `: ${listed(counts)}. Tested on `,
        tasks.flatMap(({ task }, at) => [at ? ", " : "", taskLink(task)]),
        ".",
      ),
    ),
    facts(
      branches.map((branch) => [
        branch,
        inBranch(branch).flatMap((language, at) => [at ? ", " : "", languageLink(language)]),
      ]),
    ),
  ];
}

/** @param {Board} board @param {SharedCells[]} tasks @returns {SystemColumn[]} */
function familyColumns(board, tasks) {
  /** @param {SharedCells} options @param {System} system */
  const mean = ({ task, codes }, system) => weightedMean(codes.map((code) => cellScore(task, system, code)));
  return tasks.map(({ task, codes }) => ({
    id: task.id,
    title: cellTitle(task),
    note: `${codes.length}/${task.languages.length}`,
    lower: task.lower_is_better,
    hint: [
      task.name,
      `Mean over ${codes.length} of ${plural(task.languages.length, "language")}: ${listed(
        codes.map((code) => languageName(board, code)),
        12,
      )}.`,
    ],
    of: (/** @type {System} */ system) => mean({ task, codes }, system),
  }));
}

// A chart per language, all with the same tasks on the same axis.
/** @param {Language[]} languages @param {SharedCells[]} tasks @param {Basis} basis */
function familyCharts(languages, tasks, basis) {
  const compared = tasks.map(({ task }) => task).filter((task) => task.place.has("en"));
  const most = Math.max(
    1,
    ...languages.flatMap(({ code }) => basis.relative.get(code)?.parts.map(({ share }) => share) ?? []),
  );
  if (!compared.length) return null;
  const scale = /** @type {Interval} */ ([0, 10 * Math.ceil(10 * most)]);
  const sorted = [...languages].sort((a, b) => shareIn(basis, b) - shareIn(basis, a));
  return [
    element("h2", {}, `Best scores as a share of ${basis.reference}`),
    compared.length === 1
      ? dotRows(
          sorted.map((language) => panelRow(language, compared[0], basis, language.name)),
          { scale, unit: " %", description: `Languages by ${cellTitle(compared[0])}` },
        )
      : element(
          "div",
          { class: "charts" },
          sorted.map((language) => languagePanel(language, compared, basis, scale)),
        ),
    element("p", { class: "soft" }, `The best score on each task, as a share of the best score in ${basis.reference} on the same task; hatched tasks are untested.`),
  ];
}

/** @param {Basis} basis @param {Language} language */
const shareIn = ({ relative }, { code }) => relative.get(code)?.share ?? -1;

// A language's share on a task.
/** @param {Language} language @param {Task} task @param {Basis} basis @param {string} label @returns {MarkedRow} */
function panelRow({ code }, task, { relative, reference }, label) {
  const part = relative.get(code)?.parts.find((one) => one.task === task);
  return {
    label,
    href: part && hashOf(["task", task.id, code]),
    figure: { value: part ? 100 * part.share : NaN },
    marks: [{ value: 100, className: "reference", lines: [`As good as in ${reference}`] }],
    text: part ? wholeShare(part.share) : "–",
    lines: part ? [relativeText(part)] : [],
  };
}

/** @param {Language} language @param {Task[]} tasks @param {Basis} basis @param {Interval} scale */
function languagePanel(language, tasks, basis, scale) {
  const own = basis.relative.get(language.code);
  return element(
    "figure",
    { "data-key": `panel-${language.code}` },
    element(
      "figcaption",
      {},
      languageLink(language),
      element("span", { class: "soft" }, own ? ` ${figureShare(own.share)}, ${plural(own.parts.length, "task")}` : " no score to compare"),
    ),
    dotRows(
      tasks.map((task) => panelRow(language, task, basis, cellTitle(task))),
      { scale, unit: " %", description: `${language.name}, by task`, room: 0.45 },
    ),
  );
}
