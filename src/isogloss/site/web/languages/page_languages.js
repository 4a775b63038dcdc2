import { basisOf, scoredTasks, servedAt, shareOf, withoutReference } from "./basis.js";
import { selectControl, textControl } from "../page/controls.js";
import { cellTitle, hasScores, scoresIn } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { countText, element, link, listed, missing, plural } from "../page/dom.js";
import { folded } from "../page/fold.js";
import { isoglossMap } from "./isogloss_map.js";
import { heatView } from "./language_heat_map.js";
import { languageFiles, listView, scoreIn, treeView } from "./language_views.js";
import { partOfPopulation } from "./language_words.js";
import { pageHead } from "../board/parts.js";
import { serviceLists } from "./service_lists.js";
import { shareSlider } from "./share_slider.js";
import { shareSwarm } from "./share_swarm.js";
import { changeParams, hashOf, readRoute } from "../page/state.js";

const VIEWS = [
  ["map", "Map"],
  ["heat", "Heat map"],
  ["tree", "Family tree"],
  ["list", "List"],
];

/** @param {URLSearchParams} params */
const chosenView = (params) => VIEWS.find(([id]) => id === params.get("view")) ?? VIEWS[0];

/** @param {Board} board @returns {Page} */
export function languagesPage(board) {
  let shown = "";
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const [mode] = chosenView(params);
    const show = params.get("show") ?? "";
    if (show === "unserved" && shown !== show) requestAnimationFrame(showUnserved);
    shown = show;
    return mode === "heat" ? heatPage(board, params) : sharePage(board, mode, params);
  };
  return { title: (params) => `Languages: ${chosenView(params)[1]}`, view };
}

function showUnserved() {
  const heading = document.getElementById("unserved");
  heading?.scrollIntoView();
  heading?.focus({ preventScroll: true });
}

/** @param {string} mode @param {...Child} parts @returns {Child[]} */
const languagesFrame = (mode, ...parts) => [
  element(
    "div",
    { class: "line title-line" },
    pageHead("Languages"),
    element("div", { class: "tabs", role: "group", "aria-label": "View" }, viewButtons(mode)),
  ),
  parts,
];

// The map, the tree and the list compare languages on one basis.
/** @param {Board} board @param {string} mode @param {URLSearchParams} params */
function sharePage(board, mode, params) {
  const basis = basisOf(board, params);
  const share = shareOf(params);
  const service = servedAt(basis, share);
  const views = {
    map: () => [
      element(
        "div",
        { class: "map-head" },
        countLine(basis, service),
        shareSlider(share, basis),
        languageChoices(board, basis, params),
      ),
      isoglossMap(board, basis, share, "Map of languages"),
      mapNotes(basis),
      element("div", { class: "line" }, element("h2", {}, `Languages by share of ${basis.reference}`), languageFiles(board, basis)),
      shareSwarm(basis, share),
      serviceLists(board, basis, service, share),
    ],
    tree: () => [
      languageChoices(board, basis, params),
      element("p", { class: "soft" }, basisText(basis)),
      treeView(board, basis),
      languageFiles(board, basis),
    ],
    list: () => [
      languageChoices(board, basis, params),
      element("p", { class: "soft" }, basisText(basis)),
      listView(board, basis, params),
    ],
  };
  return languagesFrame(
    mode,
    element("div", { class: `view-${mode}` }, views[/** @type {keyof typeof views} */ (mode)]()),
  );
}

// "31 of 50 languages served", "4.8 of 7.8 billion speakers · 18 not served · 1 not comparable".
/** @param {Basis} basis @param {Service} service */
function countLine(basis, { served: reached, unserved, untested }) {
  const apart = withoutReference(basis).length;
  const unknown = untested.languages.length - apart;
  const all = reached.speakers + unserved.speakers + untested.speakers;
  return element(
    "p",
    { class: "map-count", role: "status", "data-key": "count" },
    element("strong", {}, `${reached.languages.length} of ${plural(basis.languages.length, "language")} served`),
    " ",
    element(
      "span",
      {},
      `${partOfPopulation(reached.speakers, all)} speakers`,
      unserved.languages.length > 0 && [
        " · ",
        link(
          hashOf(["languages"], new URLSearchParams({ ...Object.fromEntries(readRoute().params), show: "unserved" })),
          `${unserved.languages.length} not served`,
        ),
      ],
      unknown > 0 && ` · ${unknown} untested`,
      apart > 0 && ` · ${apart} not comparable`,
    ),
  );
}

// What the figures are, in a sentence.
/** @param {Basis} basis @returns {Child} */
function basisText({ task, tasks, system, own, reference, systems }) {
  const english = own && system ? ["its own score in ", reference] : ["the best score in ", reference];
  const who = system ? ["Scores of ", systemWithRegime(system)] : [systems.length > 1 ? `Best score of ${countText(systems.length)} systems in each language` : "Score of the only system in each language"];
  if (task) return [who, ` on ${cellTitle(task)}, compared with `, english, "."];
  const compared = tasks.filter((one) => one.place.has("en"));
  if (compared.length === 1) return [who, ` on ${cellTitle(compared[0])}, as a share of `, english, "."];
  return [
    who,
    ", on each task as a share of ",
    english,
    ` on the same task; a language's figure is the mean over its tasks (of ${plural(compared.length, "task")} with ${reference}).`,
  ];
}

/** @param {Basis} basis */
function mapNotes(basis) {
  const others = basis.languages.filter(({ place }) => !place);
  return element(
    "div",
    { class: "notes map-notes" },
    element("p", {}, element("b", {}, "Colour. "), basisText(basis)),
    element(
      "p",
      {},
      element("b", {}, "Speakers "),
      "are first- and second-language speakers, estimated in 2012 (Ronen et al. 2014) for XTREME-R's languages and by Unicode CLDR 48 for others. A person counts in each language that they speak.",
    ),
    element(
      "p",
      {},
      element("b", {}, "Served "),
      "means that the best score reaches the share; its uncertainty is not counted.",
    ),
    element(
      "p",
      {},
      element("b", {}, "The line "),
      "is interpolated between the points where languages are mainly spoken or come from: it is not a dialect boundary. Land farther than 1,800 km from any tested language is left blank. Equal-area map; coastlines are approximate and imply no borders.",
      others.length ? ` Not on the map: ${listed(others.map(({ name }) => name))}.` : "",
    ),
  );
}

/** @param {Board} board @param {Basis} basis @param {URLSearchParams} params */
function languageChoices(board, { system, own }, params) {
  const tasks = [["", "All tasks, as % of English"], ...scoredTasks(board).map((task) => [task.id, cellTitle(task)])];
  const systems = board.systems.filter(({ cells }) => cells).map(({ id, fullName }) => [id, fullName]);
  const bases = [
    ["", "the best score in English"],
    ["own", "its own score in English"],
  ];
  const active = ["task", "system", "base"].filter((key) => params.has(key)).length;
  return folded(
    "Tasks and system",
    active,
    element(
      "div",
      { class: "controls roomy" },
      selectControl("task", "Score", tasks, params.get("task") ?? "", ""),
      selectControl("system", "System", [["", "best in each language"], ...systems], params.get("system") ?? "", ""),
      system ? selectControl("base", "Relative to", bases, own ? "own" : "", "") : null,
    ),
  );
}

// The heat map shows all systems.
/** @param {Board} board @param {URLSearchParams} params */
function heatPage(board, params) {
  const scored = scoredTasks(board);
  const chosen = params.get("task") ?? startTask(board, scored);
  const tasks = chosen === "all" ? scored : board.tasks.filter(({ id }) => id === chosen);
  const options = [["all", "Mean over tasks"], ...scored.map((item) => [item.id, cellTitle(item)])];
  const orders = [
    ["", "by family"],
    ["score", "by score"],
    ["name", "by name"],
  ];
  const languages = board.languages.filter(({ code }) => tasks.some((task) => task.place.has(code)));
  return languagesFrame(
    "heat",
      folded(
        "Score and order",
        ["task", "order", "q"].filter((key) => params.has(key)).length,
        element(
          "div",
          { class: "controls" },
          selectControl("task", "Score", options, chosen),
          selectControl("order", "Language order", orders, params.get("order") ?? "", ""),
          textControl(params, "q", "Find a system", "name…"),
        ),
      ),
      element("div", { class: "view-heat" }, heatView(board, tasks, languages, params), unscoredLanguages(board)),
  );
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

/** @param {string} view */
const viewButtons = (view) =>
  VIEWS.map(([id, text]) =>
    element(
      "button",
      {
        type: "button",
        "data-key": `view-${id}`,
        "aria-pressed": String(view === id),
        click: () => changeParams({ view: id === "map" ? null : id }),
      },
      text,
    ),
  );

// Languages without any score, which have no column.
/** @param {Board} board */
function unscoredLanguages(board) {
  const without = board.languages.filter(({ code }) => !board.tasks.some((task) => hasScores(board, task, code)));
  return without.length
    ? [element("p", { class: "soft" }, `No scores yet in ${listed(without.map(({ name }) => name))}.`)]
    : [];
}
