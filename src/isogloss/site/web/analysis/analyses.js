import { loadedDetail } from "../board/decode.js";
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

// The reason why systems cannot be analysed, or "".
/** @param {Board} board @param {string} mode @param {System[]} systems */
function obstacle(board, mode, systems) {
  const details = systems.map(({ id, reported }) => (reported ? null : loadedDetail(id)));
  /** @param {Detail} detail */
  const isEmpty = (detail) => !analysedCells([detail]).length && !builtCharts("single", [], [detail]).length;
  const empty = systems[details.findIndex((detail) => detail !== undefined && isEmpty(detail))];
  if (empty && !empty.has_predictions)
    return `${empty.fullName}: no predictions, only ${empty.reported ? "reported " : ""}scores`;
  if (empty) return `${empty.fullName}: no analyses on this board (${board.no_examples || "run isogloss explain"})`;
  if (details.some((detail) => detail === undefined)) return "loading…";
  if (mode !== "pairwise" || analysedCells(details).length || builtCharts(mode, systems, details).length) return "";
  return "no common examples were analysed";
}

/** @param {System[]} systems @param {number} from @param {number} to @param {string} words */
const countObstacle = (systems, from, to, words) =>
  systems.length < from || systems.length > to
    ? `select ${words}${systems.length > to ? `; ${systems.length} are selected` : ""}`
    : "";

// The reason why each button is disabled, or "".
/** @param {Board} board @param {System[]} systems @returns {Record<string, string>} */
function obstacles(board, systems) {
  const hasData = board.has_bias || Object.keys(board.examples ?? {}).length;
  return {
    compare: countObstacle(systems, 2, 4, "2 to 4 systems"),
    bias: hasData
      ? ""
      : countObstacle(systems, 1, Infinity, "a system") || obstacle(board, "bias", systems.slice(0, 1)),
    single: countObstacle(systems, 1, 1, "one system") || obstacle(board, "single", systems),
    pairwise: countObstacle(systems, 2, 2, "two systems") || obstacle(board, "pairwise", systems),
  };
}

/** @type {Option[]} */
const BUTTONS = [
  ["compare", "Compare"],
  ["bias", "Dataset bias"],
  ["single", "Single analysis"],
  ["pairwise", "Pairwise analysis"],
];

// Compare and the paper's three analyses, for the selected rows.
/** @param {Board} board @param {URLSearchParams} params */
export function analysisBar(board, params) {
  const systems = params
    .getAll("tick")
    .map((id) => board.system.get(id))
    .filter(Boolean);
  const why = obstacles(board, systems);
  /** @param {string} mode */
  const target = (mode) =>
    hashOf(mode === "compare" ? ["compare"] : ["analysis", mode], { system: systems.map(({ id }) => id) });
  /** @param {Option} options */
  const button = ([mode, title]) =>
    element(
      "span",
      { class: "action" },
      element(
        "button",
        {
          type: "button",
          "aria-disabled": why[mode] ? "true" : null,
          "aria-describedby": why[mode] ? `why-${mode}` : null,
          "data-mode": mode,
          click: () => {
            if (!why[mode]) location.hash = target(mode);
          },
        },
        title,
      ),
      why[mode] ? element("small", { id: `why-${mode}` }, why[mode]) : "",
    );
  return element(
    "div",
    { class: "actions", role: "group", "aria-label": "Selected systems" },
    element("span", { class: "soft" }, systems.length ? `${systems.length} selected:` : "Select systems to compare:"),
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
