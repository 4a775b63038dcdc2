import { columnChoices } from "./columns.js";
import { boxControl, manyControl, numberControl, selectControl, sliderControl, textControl } from "./controls.js";
import { countText, element, plural } from "./dom.js";
import { CELL_FILTERS, FILTER_KEYS, SYSTEM_FILTERS, systemOptions } from "./filters.js";
import { RANKINGS } from "./ranking.js";
import { changeParams, readRoute } from "./state.js";
import { chosenWeights } from "./standings.js";

const IN_SIGHT = ["q", "task", "language", "complete"];

// What a reader chooses on the leaderboard. Each part has a node that stays, so that focus stays where it is, and
// `sync(params, table)`, which shows in it what the address says.
export const leaderboardControls = (board) => ({
  first: firstControls(board),
  more: moreFilters(board),
  weights: taskWeights(board),
  view: viewTabs(board),
  complete: boxControl("complete", "Only systems complete on these columns"),
  columns: columnBoxes(),
});

const cellControls = (board, keys) =>
  CELL_FILTERS.filter(({ key }) => keys.includes(key)).map((filter) =>
    manyControl(filter.key, filter.label, filter.options(board)),
  );

const nodesOf = (controls) => controls.map(({ node }) => node);
const syncAll = (controls) => (params) => {
  for (const control of controls) control.sync(params);
};

function firstControls(board) {
  const controls = [
    textControl("q", "Find a system", "name, paper…"),
    selectControl(
      "ranking",
      "Ranking",
      RANKINGS.map(({ id, title }) => [id, title]),
      { start: board.rule.name },
    ),
    ...cellControls(board, ["task", "language"]),
  ];
  const node = element(
    "fieldset",
    { class: "controls four" },
    element("legend", { class: "sr" }, "Systems, ranking and cells"),
    nodesOf(controls),
  );
  return { node, sync: syncAll(controls) };
}

// Filters that are used less, behind a line that says how many of them are set.
function moreFilters(board) {
  const controls = [
    ...cellControls(board, ["metric", "family", "script"]),
    ...SYSTEM_FILTERS.map((filter) => manyControl(filter.key, filter.label, systemOptions(board, filter))),
    numberControl("pmin", "Parameters from (millions)"),
    numberControl("pmax", "Parameters to (millions)"),
  ];
  const count = element("span", {});
  const node = element(
    "details",
    { class: "panel filters" },
    element("summary", {}, "More filters", count),
    element("fieldset", { class: "controls" }, element("legend", { class: "sr" }, "More filters"), nodesOf(controls)),
  );
  const sync = (params) => {
    syncAll(controls)(params);
    const active = FILTER_KEYS.filter((key) => !IN_SIGHT.includes(key) && params.has(key)).length;
    count.textContent = active ? ` (${active} active)` : "";
  };
  return { node, sync };
}

// A slider for each task, for the ranking by the reader's own weights.
function taskWeights(board) {
  const sliders = board.tasks.map((task) =>
    sliderControl(
      task.name,
      (params) => chosenWeights(params)[task.id] ?? 1,
      (weight) => {
        const others = readRoute()
          .params.getAll("w")
          .filter((each) => !each.startsWith(`${task.id}:`));
        changeParams({ w: weight === 1 ? others : [...others, `${task.id}:${weight}`] }, { replace: true });
      },
    ),
  );
  const node = element(
    "fieldset",
    { class: "sliders" },
    element("legend", { class: "sr" }, "Weights of the tasks"),
    nodesOf(sliders),
  );
  const sync = (params, table) => {
    syncAll(sliders)(params);
    node.hidden = table.choice.ranking !== "weights";
  };
  return { node, sync };
}

export const chosenView = (params) => (params.get("view") === "plot" ? "plot" : "table");

// Table or plots, and how many systems are shown: a screen reader hears the new count.
function viewTabs(board) {
  const buttons = [
    ["table", "Table"],
    ["plot", "Plots"],
  ].map(([id, text]) => {
    const click = () => changeParams({ view: id === "table" ? null : id });
    return [id, element("button", { type: "button", click }, text)];
  });
  const count = element("output", { class: "count" });
  const node = element(
    "div",
    { class: "tabs", role: "group", "aria-label": "View" },
    buttons.map(([, button]) => button),
    count,
  );
  const sync = (params, { rows }) => {
    for (const [id, button] of buttons) button.setAttribute("aria-pressed", String(chosenView(params) === id));
    const all = plural(board.systems.length, "system");
    count.textContent = rows.length === board.systems.length ? all : `${countText(rows.length)} of ${all}`;
  };
  return { node, sync };
}

// Boxes for columns: what is shown at the start can be hidden, and the other way round. They stay the same boxes while the
// columns do.
function columnBoxes() {
  let boxes = new Map();
  const list = element("div", { class: "options wide" });
  const node = element(
    "details",
    { class: "many columns" },
    element("summary", {}, "Columns"),
    element("fieldset", { class: "choices" }, element("legend", { class: "sr" }, "Columns"), list),
  );
  const sync = (params, table) => {
    const choices = columnChoices(table);
    if (choices.length !== boxes.size || !choices.every(({ id }) => boxes.has(id))) {
      boxes = new Map(choices.map(({ id, start }) => [id, columnBox(id, start)]));
      list.replaceChildren(...choices.map(({ id, title }) => element("label", { class: "box" }, boxes.get(id), title)));
    }
    for (const { id, start } of choices)
      boxes.get(id).checked = start !== params.getAll(start ? "hide" : "also").includes(id);
  };
  return { node, sync };
}

function columnBox(id, start) {
  const key = start ? "hide" : "also";
  const change = () => {
    const others = readRoute()
      .params.getAll(key)
      .filter((each) => each !== id);
    changeParams({ [key]: box.checked === start ? others : [...others, id] });
  };
  const box = element("input", { type: "checkbox", "data-column": id, change });
  return box;
}

// A button for each filter that is set, which takes it away.
export function filterChips(board, params) {
  const chip = (key, value) => {
    const text = filterText(board, key, value);
    return element(
      "button",
      {
        type: "button",
        class: "chip",
        "data-focus": "chip",
        "aria-label": `remove the filter ${text}`,
        click: () => changeParams({ [key]: params.getAll(key).filter((each) => each !== value), page: null }),
      },
      text,
      element("span", { "aria-hidden": "true" }, " ×"),
    );
  };
  const chips = FILTER_KEYS.flatMap((key) => params.getAll(key).map((value) => chip(key, value)));
  const clear = () => changeParams(Object.fromEntries(FILTER_KEYS.map((key) => [key, null])));
  return chips.length > 1
    ? [...chips, element("button", { type: "button", class: "chip clear", click: clear }, "clear all")]
    : chips;
}

function filterText(board, key, value) {
  if (key === "q") return `“${value}”`;
  if (key === "pmin") return `at least ${value} million parameters`;
  if (key === "pmax") return `at most ${value} million parameters`;
  if (key === "complete") return "complete on these columns";
  const { label, options } = [...SYSTEM_FILTERS, ...CELL_FILTERS].find((filter) => filter.key === key);
  const option = options?.(board).find(([name]) => name === value)?.[1] ?? value;
  return `${label}: ${option.replace(/ \([\w ]+\)$/, "")}`;
}
