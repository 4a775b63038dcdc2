import { selectControl, textControl } from "../page/controls.js";
import { cellTitle, hasScores, scoresIn } from "../board/decode.js";
import { element, listed, missing, plural } from "../page/dom.js";
import { heatView } from "./language_heat_map.js";
import { listView, mapView, scoreIn, treeView } from "./language_views.js";
import { pageHead } from "../board/parts.js";
import { changeParams } from "../page/state.js";

const VIEWS = [
  ["heat", "Heat map"],
  ["map", "Map"],
  ["tree", "Family tree"],
  ["list", "List"],
];

/** @param {Board} board @returns {Page} */
export function languagesPage(board) {
  const scored = board.tasks.filter((task) => task.languages.some((code) => hasScores(board, task, code)));
  const start = startTask(board, scored);
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const mode = VIEWS.find(([id]) => id === params.get("view"))?.[0] ?? "heat";
    // Views start with different tasks, so the address always names a chosen task.
    const task = params.get("task") ?? (mode === "heat" ? start : "all");
    const tasks = task === "all" ? scored : board.tasks.filter(({ id }) => id === task);
    return [
      languagesHead(board),
      element("div", { class: "tabs", role: "group", "aria-label": "View" }, viewButtons(mode)),
      languageControls(board, scored, params, mode, task),
      element("div", { class: `view-${mode}` }, languagesView(board, mode, tasks, params), unscoredLanguages(board)),
    ];
  };
  return { title: "Languages", view };
}

// Few published systems cover all tasks: start with the task with the most scores unless enough do.
/** @param {Board} board @param {Task[]} tasks */
function startTask(board, tasks) {
  const whole = board.systems.filter(
    (system) =>
      board.languages.filter(({ code }) => !missing(scoreIn(tasks, system, code))).length > board.languages.length / 2,
  ).length;
  if (whole >= Math.min(8, board.systems.length / 2)) return "all";
  return tasks.reduce((best, task) => (scoresIn(task.cells) > scoresIn(best.cells) ? task : best), tasks[0]).id;
}

/** @param {Board} options */
function languagesHead({ languages }) {
  /** @param {'family' | 'script'} key */
  const count = (key) => new Set(languages.map((language) => language[key])).size;
  return pageHead(
    "Languages",
    element(
      "p",
      { class: "headline" },
      `${plural(languages.length, "language")} from ${plural(count("family"), "family", "families")} in ${plural(count("script"), "script")}.`,
    ),
  );
}

// The heat map shows all systems; the other views show one, or the best in each language.
/**
 * @param {Board} board
 * @param {Task[]} scored
 * @param {URLSearchParams} params
 * @param {string} mode
 * @param {string} task
 */
function languageControls(board, scored, params, mode, task) {
  const tasks = [["all", "Mean over tasks"], ...scored.map((item) => [item.id, cellTitle(item)])];
  const systems = board.systems
    .filter(({ cells }) => cells)
    .map(({ id, name, regime }) => [id, regime ? `${name} (${regime})` : name]);
  const orders = [
    ["", "by family"],
    ["score", "by score"],
    ["name", "by name"],
  ];
  return element(
    "div",
    { class: "controls" },
    selectControl("task", "Score", tasks, task),
    mode === "heat"
      ? [
          selectControl("order", "Language order", orders, params.get("order") ?? "", ""),
          textControl(params, "q", "Find a system", "name…"),
        ]
      : selectControl("system", "System", [["", "best in each language"], ...systems], params.get("system") ?? "", ""),
  );
}

/** @param {string} view */
const viewButtons = (view) =>
  VIEWS.map(([id, text]) =>
    element(
      "button",
      {
        type: "button",
        "data-key": `view-${id}`,
        "aria-pressed": String(view === id),
        click: () => changeParams({ view: id === "heat" ? null : id }),
      },
      text,
    ),
  );

/** @param {Board} board @param {string} view @param {Task[]} tasks @param {URLSearchParams} params */
function languagesView(board, view, tasks, params) {
  const languages = board.languages.filter(({ code }) => tasks.some((task) => task.place.has(code)));
  if (view === "heat") return heatView(board, tasks, languages, params);
  const only = board.system.get(params.get("system") ?? "");
  const choice = { tasks, systems: only ? [only] : board.systems };
  return (view === "map" ? mapView : view === "tree" ? treeView : listView)(languages, choice);
}

// Languages without any score, which have no page.
/** @param {Board} board */
function unscoredLanguages(board) {
  const without = board.languages.filter(({ code }) => !board.tasks.some((task) => hasScores(board, task, code)));
  return without.length
    ? [element("p", { class: "soft" }, `No scores yet in ${listed(without.map(({ name }) => name))}.`)]
    : [];
}
