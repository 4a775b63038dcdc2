import { cellScore, cellTitle, hasScores, languageName, tasksWith } from "../board/decode.js";
import { element, link, listed, plural } from "../page/dom.js";
import { crumbs, facts, languageLink, nothing, pageHead, taskLink } from "../board/parts.js";
import { weightedMean } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { pointsOf, stripChart } from "../charts/strip_chart.js";
import { hasFigures, systemTable } from "../leaderboard/system_table.js";

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function familyPage(board, [name]) {
  const languages = board.languages.filter(({ family }) => family === name);
  const tasks = familyTasks(board, languages);
  if (!tasks.length) return nothing("No system has a score in this family.");
  const [mean, ...ofTasks] = familyColumns(board, tasks);
  const table = {
    columns: [mean, ...ofTasks],
    main: hasFigures(board, mean) ? mean.id : ofTasks[0].id,
    name: `family-${name}`,
    label: `Systems on ${name}`,
  };
  /** @param {URLSearchParams} params */
  const view = (params) => [
    crumbs(link("#/languages?view=tree", "Languages"), name),
    familyHead(name, languages, tasks),
    familyChart(board, name, languages),
    element("h2", {}, "All systems"),
    systemTable(board, params, table),
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

/** @param {string} name @param {Language[]} languages @param {SharedCells[]} tasks */
function familyHead(name, languages, tasks) {
  const branches = [...new Set(languages.map(({ branch }) => branch))];
  /** @param {string} branch */
  const inBranch = (branch) => languages.filter((language) => language.branch === branch);
  return [
    pageHead(
      name,
      element(
        "p",
        { class: "headline" },
        `${plural(languages.length, "language")}${branches.length > 1 ? ` in ${branches.length} branches` : ""}, ${plural(tasks.length, "task")}: `,
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
  return [
    {
      id: "mean",
      title: "Mean",
      hint: ["Mean", "Mean over tasks, for systems with all of them."],
      lower: tasks.every(({ task }) => task.lower_is_better),
      of: (system) => weightedMean(tasks.map((part) => mean(part, system))),
    },
    ...tasks.map(({ task, codes }) => ({
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
    })),
  ];
}

// A line per language: the mean over its tasks, for systems with all of them.
/** @param {Board} board @param {string} name @param {Language[]} languages */
function familyChart(board, name, languages) {
  const lines = languages
    .map((language) => ({
      language,
      own: tasksWith(board, language.code).filter((task) => hasScores(board, task, language.code)),
    }))
    .filter(({ own }) => own.length)
    .map(({ language, own }) => ({
      label: language.name,
      href: hashOf(["language", language.code]),
      points: pointsOf(
        board,
        (system) => weightedMean(own.map((task) => cellScore(task, system, language.code))),
        `mean of ${listed(own.map((task) => task.name))}`,
        own.every((task) => task.lower_is_better),
      ),
    }))
    .filter(({ points }) => points.length);
  if (!lines.length) return null;
  return [
    element("h2", {}, "Languages"),
    stripChart({ lines, description: `Scores of all systems in the languages of ${name}` }),
    element("p", { class: "soft" }, "One mark per system with all tasks of a language; the best is larger."),
  ];
}
