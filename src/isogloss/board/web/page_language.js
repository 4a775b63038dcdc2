import { cellMetricText, cellScore, cellTitle, tasksWith } from "./decode.js";
import { countText, element, link, listed, missing, nameOf, plural, scoreText, scriptName } from "./dom.js";
import { kindLegend } from "./plots.js";
import {
  autonym,
  cellTip,
  crumbs,
  facts,
  familyLink,
  languageLink,
  nothing,
  pageHead,
  pointsOf,
  stripChart,
  systemTable,
  taskLink,
} from "./parts.js";
import { weightedMean } from "./ranking.js";
import { hashOf } from "./state.js";

const people = (value) =>
  missing(value)
    ? "not known"
    : value >= 1e6
      ? `${countText(Number((value / 1e6).toPrecision(2)))} million`
      : countText(value);
const articles = (value) =>
  missing(value)
    ? "not known"
    : value >= 1
      ? `${value} million articles`
      : `${countText(Math.round(value * 1000))} thousand articles`;
const scored = (board, task, code) => board.systems.some((system) => !Number.isNaN(cellScore(task, system, code)));

function bestSentence(board, tasks, code) {
  const best = tasks
    .map((task) => ({
      task,
      top: pointsOf(board, (system) => cellScore(task, system, code), "", task.lower_is_better)[0],
    }))
    .filter(({ top }) => top);
  return element(
    "p",
    { class: "headline" },
    "Best here: ",
    best.flatMap(({ task, top }, at) => [
      at ? ", " : "",
      link(hashOf(["task", task.id, code]), cellTitle(task)),
      " ",
      element("strong", {}, scoreText(top.value)),
      " (",
      link(hashOf(["system", top.system.id]), nameOf(top.system.name)),
      // Figures of different regimes stand side by side here: each says which it is of.
      top.system.regime ? `, ${top.system.regime})` : ")",
    ]),
    ".",
  );
}

export function languagePage(board, [code]) {
  const language = board.language.get(code);
  const tasks = language ? tasksWith(board, code).filter((task) => scored(board, task, code)) : [];
  if (!tasks.length) return nothing("No system has a score in this language.");
  const near = language.near.map((each) => board.language.get(each)).filter(Boolean);
  const head = pageHead(
    [language.name, " ", autonym(language)],
    bestSentence(board, tasks, code),
    facts([
      ["Family", familyLink(language.family)],
      ["Branch", language.branch],
      ["Script", link(hashOf([], { script: language.script }), scriptName(language.script))],
      ["Code", language.code],
      ["Speakers", people(language.speakers)],
      ["Wikipedia", articles(language.articles)],
      ["Nearest", near.length ? near.flatMap((each, at) => [at ? ", " : "", languageLink(each)]) : null],
    ]),
  );
  const english = code === "en" ? null : "en";
  const lines = tasks.map((task) => ({
    label: cellTitle(task),
    href: hashOf(["task", task.id, code]),
    points: pointsOf(board, (system) => cellScore(task, system, code), task.name, task.lower_is_better),
    reference: english && task.place.has("en") ? englishBest(board, task) : null,
  }));
  const columns = [
    {
      id: "mean",
      title: "Mean",
      hint: ["Mean", "Over the tasks in this language, for systems that have all of them."],
      lower: tasks.every((task) => task.lower_is_better),
      of: (system) => weightedMean(tasks.map((task) => cellScore(task, system, code))),
    },
    ...tasks.map((task) => ({
      id: task.id,
      title: cellTitle(task),
      lower: task.lower_is_better,
      hint: [task.title, cellMetricText(task)],
      of: (system) => cellScore(task, system, code),
      says: (system) => cellTip(board, system, task, code).slice(1),
    })),
  ];
  const place = element("div");
  const node = element(
    "div",
    {},
    crumbs(link("#/languages", "Languages"), familyLink(language.family), language.name),
    head,
    element("h2", {}, "Where the field stands"),
    kindLegend([...new Set(board.systems.map(({ kind }) => kind))], false),
    stripChart({ lines, description: `Scores of all systems in ${language.name}, by task` }),
    english
      ? element(
          "p",
          { class: "soft" },
          "One mark for each system, the best one larger. The tall line is the best system's score in English.",
        )
      : null,
    element("h2", {}, "All systems, all tasks"),
    place,
  );
  return {
    node,
    title: language.name,
    update: (params) =>
      place.replaceChildren(
        systemTable(board, {
          columns,
          main:
            tasks.length > 1 && board.systems.some((system) => !Number.isNaN(columns[0].of(system)))
              ? "mean"
              : tasks[0].id,
          params,
          name: `language-${code}`,
          label: `Systems in ${language.name}`,
        }).node,
      ),
  };
}

function englishBest(board, task) {
  const top = pointsOf(board, (system) => cellScore(task, system, "en"), "", task.lower_is_better)[0];
  return top ? { value: top.value, lines: [`English, ${task.name}: ${scoreText(top.value)}`, top.system.name] } : null;
}

export function familyPage(board, [name]) {
  const languages = board.languages.filter((each) => each.family === name);
  const codes = new Set(languages.map((each) => each.code));
  const tasks = board.tasks
    .map((task) => ({ task, codes: task.languages.filter((code) => codes.has(code)) }))
    .filter(({ task, codes: own }) => own.some((code) => scored(board, task, code)));
  if (!tasks.length) return nothing("No system has a score in this family.");
  const mean =
    ({ task, codes: own }) =>
    (system) =>
      weightedMean(own.map((code) => cellScore(task, system, code)));
  const columns = [
    {
      id: "mean",
      title: "Mean",
      hint: ["Mean", "Over the tasks, for systems that have all of them."],
      lower: tasks.every(({ task }) => task.lower_is_better),
      of: (system) => weightedMean(tasks.map((each) => mean(each)(system))),
    },
    ...tasks.map((each) => ({
      id: each.task.id,
      title: cellTitle(each.task),
      note: `${each.codes.length}/${each.task.languages.length}`,
      lower: each.task.lower_is_better,
      hint: [
        each.task.name,
        `The mean over ${each.codes.length} of the task's ${plural(each.task.languages.length, "language")}: ${listed(
          each.codes.map((code) => board.language.get(code).name),
          12,
        )}.`,
      ],
      of: mean(each),
    })),
  ];
  const lines = languages
    .map((language) => ({
      language,
      own: tasksWith(board, language.code).filter((task) => scored(board, task, language.code)),
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
  const place = element("div");
  const branches = [...new Set(languages.map(({ branch }) => branch))];
  const node = element(
    "div",
    {},
    crumbs(link("#/languages?view=tree", "Languages"), name),
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
        languages.filter((each) => each.branch === branch).flatMap((each, at) => [at ? ", " : "", languageLink(each)]),
      ]),
    ),
    lines.length
      ? [
          element("h2", {}, "Its languages"),
          stripChart({ lines, description: `Scores of all systems in the languages of ${name}` }),
          element(
            "p",
            { class: "soft" },
            "One mark for each system with all of a language's tasks, the best one larger.",
          ),
        ]
      : null,
    element("h2", {}, "All systems"),
    place,
  );
  const main = board.systems.some((system) => !Number.isNaN(columns[0].of(system))) ? "mean" : tasks[0].task.id;
  return {
    node,
    title: name,
    update: (params) =>
      place.replaceChildren(
        systemTable(board, { columns, main, params, name: `family-${name}`, label: `Systems on ${name}` }).node,
      ),
  };
}
