import { scorePaint } from "./colour.js";
import { selectControl, textControl } from "./controls.js";
import { cellScore, cellTitle } from "./decode.js";
import { systemWithRegime } from "./describe.js";
import { element, link, listed, missing, nameOf, plural, scoreText } from "./dom.js";
import { heatTable, scoreKey, scoreRange } from "./heatmap.js";
import { autonym, languageLink, pageHead } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { changeParams, hashOf } from "./state.js";
import { familyTree } from "./tree.js";
import { withTip } from "./tips.js";

const ROWS = 40;

// The score of a system in a language: one task's, or the mean over all tasks that the language has.
function scoreIn(tasks, system, code) {
  const own = tasks.filter((task) => task.place.has(code));
  return own.length ? weightedMean(own.map((task) => cellScore(task, system, code))) : undefined;
}

// Most systems of papers have few tasks: then the task with most scores is the better start than an empty mean.
function startTask(board, tasks) {
  const whole = board.systems.filter(
    (system) =>
      board.languages.filter(({ code }) => !missing(scoreIn(tasks, system, code))).length > board.languages.length / 2,
  ).length;
  if (whole >= Math.min(8, board.systems.length / 2)) return "all";
  const count = (each) => each.cells.reduce((sum, score) => sum + !Number.isNaN(score), 0);
  return tasks.reduce((best, each) => (count(each) > count(best) ? each : best), tasks[0]).id;
}

export function languagesPage(board) {
  const scored = board.tasks.filter((task) =>
    board.systems.some((system) => task.languages.some((code) => !Number.isNaN(cellScore(task, system, code)))),
  );
  const start = startTask(board, scored);
  const task = selectControl(
    "task",
    "Score",
    [["all", "Mean over tasks"], ...scored.map((each) => [each.id, cellTitle(each)])],
    { start },
  );
  const sort = selectControl("order", "Order of languages", [
    ["", "by family"],
    ["score", "by score"],
    ["name", "by name"],
  ]);
  const find = textControl("q", "Find a system", "name…");
  const controls = [task, sort, find];
  const place = element("div");
  const tabs = element("div", { class: "tabs", role: "group", "aria-label": "View" });
  const node = element(
    "div",
    {},
    pageHead(
      "Languages",
      element(
        "p",
        { class: "headline" },
        `${plural(board.languages.length, "language")} of ${plural(new Set(board.languages.map(({ family }) => family)).size, "family", "families")} in ${plural(new Set(board.languages.map(({ script }) => script)).size, "script")}.`,
      ),
    ),
    tabs,
    element(
      "div",
      { class: "controls" },
      controls.map((control) => control.node),
    ),
    place,
  );
  const update = (params) => {
    for (const control of controls) control.sync(params);
    const view = params.get("view") ?? "heat";
    tabs.replaceChildren(
      ...[
        ["heat", "Heat map"],
        ["tree", "Family tree"],
        ["list", "List"],
      ].map(([id, text]) =>
        element(
          "button",
          {
            type: "button",
            "data-focus": `view-${id}`,
            "aria-pressed": String(view === id),
            click: () => changeParams({ view: id === "heat" ? null : id }),
          },
          text,
        ),
      ),
    );
    const wanted = params.get("task") ?? (view === "heat" ? start : "all");
    if (!params.has("task") && view !== "heat") task.node.querySelector("select").value = "all";
    const tasks = wanted === "all" ? scored : board.tasks.filter(({ id }) => id === wanted);
    const languages = board.languages.filter(({ code }) => tasks.some((each) => each.place.has(code)));
    sort.node.hidden = view !== "heat";
    place.replaceChildren(
      ...(view === "tree"
        ? treeView(board, tasks, languages, params)
        : view === "list"
          ? listView(board, tasks, languages)
          : heatView(board, tasks, languages, params)),
    );
  };
  return { node, title: "Languages", update };
}

const bestIn = (board, tasks, code, systems = board.systems) =>
  systems.reduce(
    (best, system) => {
      const value = scoreIn(tasks, system, code);
      return !missing(value) && (missing(best.value) || value > best.value) ? { value, system } : best;
    },
    { value: NaN, system: null },
  );

function named(board, params) {
  const words = (params.get("q") ?? "").toLowerCase();
  return words ? board.systems.filter(({ name }) => name.toLowerCase().includes(words)) : board.systems;
}

function heatView(board, tasks, languages, params) {
  const rows = named(board, params)
    .map((system) => {
      const values = languages.map(({ code }) => scoreIn(tasks, system, code)).filter((value) => !missing(value));
      return { system, n: values.length, mean: weightedMean(values) };
    })
    .filter(({ n }) => n)
    .sort((a, b) => b.n - a.n || b.mean - a.mean);
  const order = params.get("order");
  const means = new Map(
    languages.map(({ code }) => [
      code,
      weightedMean(
        rows
          .slice(0, ROWS)
          .map(({ system }) => scoreIn(tasks, system, code))
          .filter((value) => !missing(value)),
      ),
    ]),
  );
  const columns = [...languages].sort(
    order === "score"
      ? (a, b) => means.get(b.code) - means.get(a.code)
      : order === "name"
        ? (a, b) => a.name.localeCompare(b.name)
        : (a, b) =>
            a.family.localeCompare(b.family) || a.branch.localeCompare(b.branch) || a.name.localeCompare(b.name),
  );
  const page = Math.max(1, Number(params.get("page")) || 1);
  const shown = rows.slice((page - 1) * ROWS, page * ROWS);
  const range = scoreRange(shown.flatMap(({ system }) => columns.map(({ code }) => scoreIn(tasks, system, code))));
  const turn = (to, text) =>
    element(
      "button",
      {
        type: "button",
        "data-focus": `page-${text}`,
        disabled: to < 1 || (to - 1) * ROWS >= rows.length,
        click: () => changeParams({ page: to === 1 ? null : to }),
      },
      text,
    );
  return [
    element(
      "p",
      { class: "soft" },
      tasks.length > 1
        ? "A cell is the mean over all tasks of its language, for systems that have all of them; those with most languages come first."
        : "Systems with most languages come first.",
    ),
    scoreKey(...range),
    heatTable({
      rows: shown,
      columns,
      caption: "Systems by language",
      rowHead: ({ system }) => systemWithRegime(system),
      columnHead: (language) =>
        withTip(link(hashOf(["language", language.code]), language.code), () => [
          language.name,
          `${language.family}, ${language.branch}`,
          language.script,
        ]),
      value: ({ system }, { code }) => scoreIn(tasks, system, code),
      text: (score) => String(Math.round(score)),
      paintOf: (score) => scorePaint(score, ...range),
      tip: ({ system }, language, score) => [
        `${system.name} in ${language.name}: ${scoreText(score)}`,
        listed(tasks.filter((each) => each.place.has(language.code)).map(cellTitle)),
      ],
    }),
    rows.length > ROWS
      ? element(
          "nav",
          { class: "pager", "aria-label": "Pages of systems" },
          turn(page - 1, "← Previous"),
          element("span", {}, `${(page - 1) * ROWS + 1}–${Math.min(rows.length, page * ROWS)} of ${rows.length}`),
          turn(page + 1, "Next →"),
        )
      : "",
  ];
}

function treeView(board, tasks, languages, params) {
  const systems = named(board, params);
  const note =
    systems.length === 1
      ? ["Scores of ", nameOf(systems[0].name), "."]
      : [
          `The best of ${plural(systems.length, "system")} in each language, over ${tasks.length === 1 ? cellTitle(tasks[0]) : "all tasks of the language"}.`,
        ];
  return [
    element("p", { class: "soft" }, note, " Choose a language or a family to see more."),
    scoreKey(),
    familyTree(
      languages,
      ({ code }) => bestIn(board, tasks, code, systems).value,
      "Families, branches and languages, with the best score in each language",
    ),
  ];
}

function listView(board, tasks, languages) {
  const head = ["Language", "Own name", "Family", "Branch", "Script", "Tasks", "Best"].map((title) =>
    element("th", { scope: "col" }, title),
  );
  return [
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Languages" },
      element(
        "table",
        { class: "data plain" },
        element("thead", {}, element("tr", {}, head)),
        element(
          "tbody",
          {},
          languages.map((language) => {
            const best = bestIn(board, tasks, language.code);
            return element(
              "tr",
              {},
              element("th", { scope: "row" }, languageLink(language)),
              element("td", {}, autonym(language) ?? language.name),
              element("td", {}, link(hashOf(["family", language.family]), language.family)),
              element("td", {}, language.branch),
              element("td", {}, language.script),
              element("td", { class: "number" }, tasks.filter((task) => task.place.has(language.code)).length),
              element(
                "td",
                {},
                best.system
                  ? [scoreText(best.value), " ", systemWithRegime(best.system)]
                  : "–",
              ),
            );
          }),
        ),
      ),
    ),
  ];
}
