import { element } from "../page/dom.js";
import { changeParams, hashOf } from "../page/state.js";

// The cells with per-example results of every system.
/** @param {Detail[]} details */
export function analysedCells(details) {
  const [first, ...others] = details.map((detail) => detail?.examples ?? []);
  return (first ?? [])
    .filter((cell) => others.every((cells) => cells.includes(cell)))
    .map((cell) => {
      const at = cell.lastIndexOf("/");
      return { task: cell.slice(0, at), language: cell.slice(at + 1) };
    });
}

/** @param {any[]} options */
const singleBar = ([name, edges, n, value, low, high, ids]) => ({ name, edges, n, value, low, high, ids });
/** @param {any[]} options */
const pairBar = ([name, edges, n, own, other, value, low, high, p, flips, ids]) => ({
  name,
  edges,
  n,
  own,
  other,
  value,
  low,
  high,
  p,
  flips,
  ids,
});

// The charts by isogloss explain for one system, or for a pair.
/** @param {string} mode @param {System[]} systems @param {Detail[]} details @returns {Chart[]} */
export function builtCharts(mode, systems, details) {
  const analyses = details[0]?.analyses;
  const charts = (mode === "pairwise" ? analyses?.pairwise?.[systems[1]?.id] : analyses?.single) ?? [];
  const bar = mode === "pairwise" ? pairBar : singleBar;
  return charts.map((chart) => ({ ...chart, bars: chart.bars.map(bar) }));
}

// Compare and the three analyses, for the selected rows: each page chooses the systems that are not selected.
/** @type {[string, string, number][]} */
const BUTTONS = [
  ["compare", "Compare", 4],
  ["single", "Analyse", 1],
  ["pairwise", "Analyse differences", 2],
  ["bias", "Dataset bias", 0],
];

/** @param {Board} board @param {URLSearchParams} params */
export function analysisBar(board, params) {
  const systems = params
    .getAll("tick")
    .map((id) => board.system.get(id))
    .filter(Boolean);
  /** @param {[string, string, number]} options */
  const button = ([mode, title, most]) => {
    const used = systems.slice(0, most).map(({ id }) => id);
    const path = mode === "compare" ? ["compare"] : ["analysis", mode];
    return element(
      "button",
      { type: "button", "data-mode": mode, click: () => (location.hash = hashOf(path, { system: used })) },
      most && systems.length > most ? `${title} (first ${most > 1 ? most : "one"})` : title,
    );
  };
  return element(
    "div",
    { class: "actions", role: "group", "aria-label": "Selected systems" },
    element("span", { class: "soft" }, systems.length ? `${systems.length} selected:` : "Select systems, or open:"),
    BUTTONS.map(button),
    systems.length
      ? element(
          "button",
          { type: "button", class: "chip clear", click: () => changeParams({ tick: null }) },
          "clear selection",
        )
      : "",
  );
}
