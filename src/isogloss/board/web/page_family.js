import { cellScore, cellTitle, hasScores, tasksWith } from "./decode.js";
import { element, link, listed, plural } from "./dom.js";
import { crumbs, facts, languageLink, nothing, pageHead, taskLink } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { hashOf } from "./state.js";
import { pointsOf, stripChart } from "./strip_chart.js";
import { hasFigures, systemTable } from "./system_table.js";

export function familyPage(board, [name]) {
  const languages = board.languages.filter((each) => each.family === name);
  const tasks = familyTasks(board, languages);
  if (!tasks.length) return nothing("No system has a score in this family.");
  const [mean, ...ofTasks] = familyColumns(board, tasks);
  const table = systemTable(board, {
    columns: [mean, ...ofTasks],
    main: hasFigures(board, mean) ? mean.id : ofTasks[0].id,
    name: `family-${name}`,
    label: `Systems on ${name}`,
  });
  const node = element(
    "div",
    {},
    crumbs(link("#/languages?view=tree", "Languages"), name),
    familyHead(name, languages, tasks),
    familyChart(board, name, languages),
    element("h2", {}, "All systems"),
    table.node,
  );
  return { node, title: name, update: table.update };
}

// The tasks with a score in the family, each with the codes of its languages that are in it.
function familyTasks(board, languages) {
  const codes = new Set(languages.map((each) => each.code));
  return board.tasks
    .map((task) => ({ task, codes: task.languages.filter((code) => codes.has(code)) }))
    .filter(({ task, codes: own }) => own.some((code) => hasScores(board, task, code)));
}

function familyHead(name, languages, tasks) {
  const branches = [...new Set(languages.map(({ branch }) => branch))];
  const inBranch = (branch) => languages.filter((each) => each.branch === branch);
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
      branches.map((branch) => [branch, inBranch(branch).flatMap((each, at) => [at ? ", " : "", languageLink(each)])]),
    ),
  ];
}

function familyColumns(board, tasks) {
  const mean = ({ task, codes }, system) => weightedMean(codes.map((code) => cellScore(task, system, code)));
  return [
    {
      id: "mean",
      title: "Mean",
      hint: ["Mean", "Over the tasks, for systems that have all of them."],
      lower: tasks.every(({ task }) => task.lower_is_better),
      of: (system) => weightedMean(tasks.map((each) => mean(each, system))),
    },
    ...tasks.map(({ task, codes }) => ({
      id: task.id,
      title: cellTitle(task),
      note: `${codes.length}/${task.languages.length}`,
      lower: task.lower_is_better,
      hint: [
        task.name,
        `The mean over ${codes.length} of the task's ${plural(task.languages.length, "language")}: ${listed(
          codes.map((code) => board.language.get(code).name),
          12,
        )}.`,
      ],
      of: (system) => mean({ task, codes }, system),
    })),
  ];
}

// A line for each language: the means over its tasks, of the systems that have all of them.
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
    element("h2", {}, "Its languages"),
    stripChart({ lines, description: `Scores of all systems in the languages of ${name}` }),
    element("p", { class: "soft" }, "One mark for each system with all of a language's tasks, the best one larger."),
  ];
}
