import { columnChoices } from "./columns.js";
import { manyControl, numberControl, selectControl, sliderControl, textControl } from "../page/controls.js";
import { countText, element, link, plural } from "../page/dom.js";
import { CELL_FILTERS, FILTER_KEYS, SYSTEM_FILTERS, systemOptions } from "../board/filters.js";
import { folded } from "../page/fold.js";
import { RANKINGS } from "../board/ranking.js";
import { changeParams, hashOf } from "../page/state.js";
import { axesOf } from "../progress/size_axes.js";
import { MOST_WEIGHT, chosenWeights } from "../board/standings.js";

const ALWAYS_VISIBLE = ["q", "task", "language"];

/** @param {Board} board @param {URLSearchParams} params @param {string[]} keys */
const cellControls = (board, params, keys) =>
  CELL_FILTERS.filter(({ key }) => keys.includes(key)).map(({ key, label, options }) =>
    manyControl(params, key, label, options(board)),
  );

// All controls of the table: a line on wide screens, a button on narrow ones.
/** @param {Board} board @param {URLSearchParams} params @param {Standings} table @param {...Node} more */
export function toolbar(board, params, table, ...more) {
  const filters = FILTER_KEYS.filter((key) => params.has(key)).length;
  const others = ["ranking", "hide", "also", "partial"].filter((key) => params.has(key)).length;
  return folded(
    "Filters and columns",
    filters + others,
    element(
      "fieldset",
      { class: "controls toolbar" },
      element("legend", { class: "sr" }, "Systems, ranking and cells"),
      textControl(params, "q", "Find a system", "name, paper…"),
      selectControl(
        "ranking",
        "Ranking",
        RANKINGS.map(({ id, title }) => [id, title]),
        params.get("ranking") ?? board.rule.name,
        board.rule.name,
      ),
      taskControl(board, params, table.choice.segment),
      cellControls(board, params, ["language"]),
      columnBoxes(params, table),
      moreFilters(board, params),
    ),
    taskWeights(table, params),
    more,
  );
}

// The tasks of the segment; a segment of one task leaves no choice.
/** @param {Board} board @param {URLSearchParams} params @param {Segment} segment */
function taskControl(board, params, { tasks }) {
  /** @type {Option[]} */
  const options = board.tasks.filter(({ id }) => tasks.includes(id)).map(({ id, name }) => [id, name]);
  return options.length > 1 ? manyControl(params, "task", "Task", options) : null;
}

/** @param {Board} board @param {URLSearchParams} params */
function moreFilters(board, params) {
  const active = FILTER_KEYS.filter((key) => !ALWAYS_VISIBLE.includes(key) && params.has(key)).length;
  return element(
    "details",
    { class: "panel filters", "data-key": "more-filters" },
    element("summary", {}, "More filters", element("span", {}, active ? ` (${active} active)` : "")),
    element(
      "fieldset",
      { class: "controls" },
      element("legend", { class: "sr" }, "More filters"),
      cellControls(board, params, ["metric", "family", "script"]),
      SYSTEM_FILTERS.map((filter) => manyControl(params, filter.key, filter.label, systemOptions(board, filter))),
      numberControl(params, "pmin", "Parameters from (millions)"),
      numberControl(params, "pmax", "Parameters to (millions)"),
    ),
  );
}

// A slider per task, for the ranking by the reader's own weights.
/** @param {Standings} table @param {URLSearchParams} params */
function taskWeights({ board, choice }, params) {
  /** @param {Task} options */
  const slider = ({ id, name }) =>
    sliderControl(name, chosenWeights(params)[id] ?? 1, (weight) => {
      const others = params.getAll("w").filter((item) => !item.startsWith(`${id}:`));
      changeParams({ w: weight === 1 ? others : [...others, `${id}:${weight}`] }, { replace: true });
    }, MOST_WEIGHT);
  return element(
    "fieldset",
    { class: "sliders", hidden: choice.ranking !== "weights" },
    element("legend", { class: "sr" }, "Task weights"),
    board.tasks.filter(({ id }) => choice.segment.tasks.includes(id)).map(slider),
  );
}

// The number of rows, which screen readers announce, and the way to their plots.
/** @param {Board} board @param {Standings} options1 */
export function matchCount(board, { rows }) {
  const all = plural(board.systems.length, "system");
  return element(
    "div",
    { class: "tabs" },
    element(
      "output",
      { class: "count" },
      rows.length === board.systems.length ? all : `${countText(rows.length)} of ${all}`,
    ),
    axesOf(board).length ? link(hashOf(["progress"], { view: "size" }), "Size and cost") : null,
  );
}

// A box per column: `hide` lists hidden default columns, `also` lists additional ones.
/** @param {URLSearchParams} params @param {Standings} table */
function columnBoxes(params, table) {
  /** @param {{ id: string, title: string, start: boolean }} options */
  const box = ({ id, title, start }) => {
    const key = start ? "hide" : "also";
    const ids = params.getAll(key);
    /** @param {any} options */
    const change = ({ target }) => {
      const others = ids.filter((other) => other !== id);
      changeParams({ [key]: target.checked === start ? others : [...others, id] });
    };
    const checked = start !== ids.includes(id);
    return element(
      "label",
      { class: "box" },
      element("input", { type: "checkbox", "data-column": id, "data-key": `column-${id}`, checked, change }),
      title,
    );
  };
  return element(
    "details",
    { class: "many columns" },
    element("summary", {}, "Columns"),
    element(
      "fieldset",
      { class: "choices" },
      element("legend", { class: "sr" }, "Columns"),
      element("div", { class: "options wide" }, columnChoices(table).map(box)),
    ),
  );
}

// A button per active filter, which removes it.
/** @param {Board} board @param {URLSearchParams} params */
export function filterChips(board, params) {
  /** @param {string} key @param {string} value */
  const chip = (key, value) => {
    const text = filterText(board, key, value);
    return element(
      "button",
      {
        type: "button",
        class: "chip",
        "data-key": "chip",
        "aria-label": `remove the filter ${text}`,
        click: () => changeParams({ [key]: params.getAll(key).filter((other) => other !== value), page: null }),
      },
      text,
      element("span", { "aria-hidden": "true" }, " ×"),
    );
  };
  const chips = FILTER_KEYS.flatMap((key) => params.getAll(key).map((value) => chip(key, value)));
  const clear = () => changeParams(Object.fromEntries(FILTER_KEYS.map((key) => [key, null])));
  return element(
    "div",
    { class: "chips" },
    chips,
    chips.length > 1 ? element("button", { type: "button", class: "chip clear", click: clear }, "clear all") : null,
  );
}

/** @param {Board} board @param {string} key @param {string} value */
export function filterText(board, key, value) {
  if (key === "q") return `“${value}”`;
  if (key === "pmin") return `at least ${value} million parameters`;
  if (key === "pmax") return `at most ${value} million parameters`;
  const { label = key, options } = [...SYSTEM_FILTERS, ...CELL_FILTERS].find((filter) => filter.key === key) ?? {};
  const option = options?.(board).find(([name]) => name === value)?.[1] ?? value;
  return `${label}: ${option.replace(/ \([\w ]+\)$/, "")}`;
}
