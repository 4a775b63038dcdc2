import { selectControl, textControl } from "./controls.js";
import { cellTitle, hasScores } from "./decode.js";
import { element, listed, missing, plural } from "./dom.js";
import { heatView } from "./language_heat_map.js";
import { listView, mapView, scoreIn, treeView } from "./language_views.js";
import { pageHead } from "./parts.js";
import { changeParams } from "./state.js";

const VIEWS = [
  ["heat", "Heat map"],
  ["map", "Map"],
  ["tree", "Family tree"],
  ["list", "List"],
];

export function languagesPage(board) {
  const scored = board.tasks.filter((task) => task.languages.some((code) => hasScores(board, task, code)));
  const start = startTask(board, scored);
  const controls = languageControls(board, scored);
  const place = element("div");
  const tabs = element("div", { class: "tabs", role: "group", "aria-label": "View" });
  const node = element("div", {}, languagesHead(board), tabs, controls.node, place);
  const update = (params) => {
    const view = VIEWS.find(([id]) => id === params.get("view"))?.[0] ?? "heat";
    // Each view has its own start, so the address names the task that was chosen, whichever it is.
    const wanted = params.get("task") ?? (view === "heat" ? start : "all");
    controls.sync(params, view, wanted);
    tabs.replaceChildren(...viewButtons(view));
    const tasks = wanted === "all" ? scored : board.tasks.filter(({ id }) => id === wanted);
    place.replaceChildren(...languagesView(board, view, tasks, params), ...unscoredLanguages(board));
  };
  return { node, title: "Languages", update };
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

function languagesHead({ languages }) {
  const count = (key) => new Set(languages.map((language) => language[key])).size;
  return pageHead(
    "Languages",
    element(
      "p",
      { class: "headline" },
      `${plural(languages.length, "language")} of ${plural(count("family"), "family", "families")} in ${plural(count("script"), "script")}.`,
    ),
  );
}

// What to show; a heat map has all systems, and the other views one, or the best.
function languageControls(board, scored) {
  const task = selectControl("task", "Score", [
    ["all", "Mean over tasks"],
    ...scored.map((each) => [each.id, cellTitle(each)]),
  ]);
  const system = selectControl("system", "System", [
    ["", "the best in each language"],
    ...board.systems
      .filter(({ cells }) => cells)
      .map(({ id, name, regime }) => [id, regime ? `${name} (${regime})` : name]),
  ]);
  const order = selectControl("order", "Order of languages", [
    ["", "by family"],
    ["score", "by score"],
    ["name", "by name"],
  ]);
  const find = textControl("q", "Find a system", "name…");
  const controls = [task, system, order, find];
  const sync = (params, view, wanted) => {
    for (const control of controls) control.sync(params);
    task.node.querySelector("select").value = wanted;
    for (const control of [order, find]) control.node.hidden = view !== "heat";
    system.node.hidden = view === "heat";
  };
  return {
    node: element(
      "div",
      { class: "controls" },
      controls.map((control) => control.node),
    ),
    sync,
  };
}

const viewButtons = (view) =>
  VIEWS.map(([id, text]) =>
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
  );

function languagesView(board, view, tasks, params) {
  const languages = board.languages.filter(({ code }) => tasks.some((each) => each.place.has(code)));
  if (view === "heat") return heatView(board, tasks, languages, params);
  const only = board.system.get(params.get("system"));
  const choice = { tasks, systems: only ? [only] : board.systems };
  return { map: mapView, tree: treeView, list: listView }[view](board, languages, choice);
}

// Languages of the suite in which no system has a score: they are on no page of their own.
function unscoredLanguages(board) {
  const without = board.languages.filter(({ code }) => !board.tasks.some((task) => hasScores(board, task, code)));
  return without.length
    ? [element("p", { class: "soft" }, `No system has a score yet in ${listed(without.map(({ name }) => name))}.`)]
    : [];
}
