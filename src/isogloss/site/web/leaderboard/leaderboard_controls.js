import { columnChoices } from "./columns.js";
import { boxControl, manyControl, numberControl, selectControl, sliderControl, textControl } from "../page/controls.js";
import { countText, element, link, plural } from "../page/dom.js";
import { CELL_FILTERS, FILTER_KEYS, SYSTEM_FILTERS, systemOptions } from "../board/filters.js";
import { RANKINGS } from "../board/ranking.js";
import { changeParams, hashOf } from "../page/state.js";
import { chosenWeights } from "../board/standings.js";

const ALWAYS_VISIBLE = ["q", "task", "language", "complete"];

/** @param {Board} board @param {URLSearchParams} params @param {string[]} keys */
const cellControls = (board, params, keys) =>
  CELL_FILTERS.filter(({ key }) => keys.includes(key)).map(({ key, label, options }) =>
    manyControl(params, key, label, options(board)),
  );

/** @param {Board} board @param {URLSearchParams} params */
export const mainControls = (board, params) =>
  element(
    "fieldset",
    { class: "controls four" },
    element("legend", { class: "sr" }, "Systems, ranking and cells"),
    textControl(params, "q", "Find a system", "name, paper…"),
    selectControl(
      "ranking",
      "Ranking",
      RANKINGS.map(({ id, title }) => [id, title]),
      params.get("ranking") ?? board.rule.name,
      board.rule.name,
    ),
    cellControls(board, params, ["task", "language"]),
  );

/** @param {Board} board @param {URLSearchParams} params */
export function moreFilters(board, params) {
  const active = FILTER_KEYS.filter((key) => !ALWAYS_VISIBLE.includes(key) && params.has(key)).length;
  return element(
    "details",
    { class: "panel filters" },
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
/** @param {Board} board @param {URLSearchParams} params @param {boolean} hidden */
export function taskWeights(board, params, hidden) {
  /** @param {Task} options */
  const slider = ({ id, name }) =>
    sliderControl(name, chosenWeights(params)[id] ?? 1, (weight) => {
      const others = params.getAll("w").filter((item) => !item.startsWith(`${id}:`));
      changeParams({ w: weight === 1 ? others : [...others, `${id}:${weight}`] }, { replace: true });
    });
  return element(
    "fieldset",
    { class: "sliders", hidden },
    element("legend", { class: "sr" }, "Task weights"),
    board.tasks.map(slider),
  );
}

// The number of matching systems, which screen readers announce, and the way to their plots.
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
    link(hashOf(["progress"], { view: "size" }), "Size and cost"),
  );
}

/** @param {URLSearchParams} params */
export const completeBox = (params) => boxControl(params, "complete", "Hide partial results");

// A box per column: `hide` lists hidden default columns, `also` lists additional ones.
/** @param {URLSearchParams} params @param {Standings} table */
export function columnBoxes(params, table) {
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
  if (key === "complete") return "no partial results";
  const { label = key, options } = [...SYSTEM_FILTERS, ...CELL_FILTERS].find((filter) => filter.key === key) ?? {};
  const option = options?.(board).find(([name]) => name === value)?.[1] ?? value;
  return `${label}: ${option.replace(/ \([\w ]+\)$/, "")}`;
}
