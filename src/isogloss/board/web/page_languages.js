import { directedPaint } from "./colour.js";
import { selectControl, textControl } from "./controls.js";
import { cellScore, cellTitle } from "./decode.js";
import { systemWithRegime } from "./describe.js";
import { element, link, listed, missing, plural, scoreText } from "./dom.js";
import { heatTable, scoreKey, scoreRange } from "./heatmap.js";
import { allLower, listView, mapView, scoreIn, treeView } from "./language_views.js";
import { cellTip, pageHead } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { changeParams, hashOf } from "./state.js";
import { withTip } from "./tips.js";

const ROWS = 40;
const VIEWS = [
  ["heat", "Heat map"],
  ["map", "Map"],
  ["tree", "Family tree"],
  ["list", "List"],
];

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
  const task = selectControl("task", "Score", [
    ["all", "Mean over tasks"],
    ...scored.map((each) => [each.id, cellTitle(each)]),
  ]);
  const sort = selectControl("order", "Order of languages", [
    ["", "by family"],
    ["score", "by score"],
    ["name", "by name"],
  ]);
  const find = textControl("q", "Find a system", "name…");
  const system = selectControl("system", "System", [
    ["", "the best in each language"],
    ...board.systems
      .filter(({ cells }) => cells)
      .map(({ id, name, regime }) => [id, regime ? `${name} (${regime})` : name]),
  ]);
  const controls = [task, system, sort, find];
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
    const view = VIEWS.find(([id]) => id === params.get("view"))?.[0] ?? "heat";
    tabs.replaceChildren(
      ...VIEWS.map(([id, text]) =>
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
    // Each view has its own start, so the address names the task that was chosen, whichever it is.
    const wanted = params.get("task") ?? (view === "heat" ? start : "all");
    task.node.querySelector("select").value = wanted;
    const tasks = wanted === "all" ? scored : board.tasks.filter(({ id }) => id === wanted);
    const languages = board.languages.filter(({ code }) => tasks.some((each) => each.place.has(code)));
    for (const control of [sort, find]) control.node.hidden = view !== "heat";
    system.node.hidden = view === "heat";
    const only = board.system.get(params.get("system"));
    const choice = { tasks, systems: only ? [only] : board.systems };
    place.replaceChildren(
      ...(view === "heat"
        ? heatView(board, tasks, languages, params)
        : { map: mapView, tree: treeView, list: listView }[view](board, languages, choice)),
      ...nobody(board),
    );
  };
  return { node, title: "Languages", update };
}

// Languages of the suite in which no system has a score: they are on no page of their own.
function nobody(board) {
  const without = board.languages.filter(({ code }) =>
    board.tasks.every((task) => board.systems.every((each) => missing(cellScore(task, each, code)))),
  );
  return without.length
    ? [element("p", { class: "soft" }, `No system has a score yet in ${listed(without.map(({ name }) => name))}.`)]
    : [];
}

function named(board, params) {
  const words = (params.get("q") ?? "").toLowerCase();
  return words ? board.systems.filter(({ name }) => name.toLowerCase().includes(words)) : board.systems;
}

function heatView(board, tasks, languages, params) {
  const better = allLower(tasks) ? -1 : 1;
  const rows = named(board, params)
    .map((system) => {
      const values = languages.map(({ code }) => scoreIn(tasks, system, code)).filter((value) => !missing(value));
      return { system, n: values.length, mean: weightedMean(values) };
    })
    .filter(({ n }) => n)
    .sort((a, b) => b.n - a.n || better * (b.mean - a.mean));
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
      ? (a, b) => better * (means.get(b.code) - means.get(a.code))
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
    scoreKey(...range, directedPaint(allLower(tasks), range)),
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
      paintOf: directedPaint(allLower(tasks), range),
      tip: ({ system }, language, score) =>
        tasks.length === 1
          ? cellTip(board, system, tasks[0], language.code)
          : [
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
