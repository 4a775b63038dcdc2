import { systemDetail } from "./decode.js";
import { element } from "./dom.js";
import { changeParams, hashOf } from "./state.js";

// What the files of ticked systems turned out to have; asked for once each.
const askedDetails = new Map();

function askFor(system, again) {
  if (askedDetails.has(system.id) || system.reported) return;
  askedDetails.set(system.id, null);
  systemDetail(system.id).then((detail) => {
    askedDetails.set(system.id, detail ?? {});
    again();
  });
}

// The cells in which it is known how each of some systems did on every example.
export function analysedCells(details) {
  const [first, ...others] = details.map((detail) => detail?.examples ?? []);
  return (first ?? [])
    .filter((cell) => others.every((cells) => cells.includes(cell)))
    .map((cell) => {
      const at = cell.lastIndexOf("/");
      return { task: cell.slice(0, at), language: cell.slice(at + 1) };
    });
}

const singleBar = ([name, edges, n, value, low, high, ids]) => ({ name, edges, n, value, low, high, ids });
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

// The charts that isogloss explain made of one system, or of two as a pair.
export function builtCharts(mode, systems, details) {
  const found = details[0]?.analyses;
  const charts = (mode === "pairwise" ? found?.pairwise?.[systems[1]?.id] : found?.single) ?? [];
  const bar = mode === "pairwise" ? pairBar : singleBar;
  return charts.map((chart) => ({ ...chart, bars: chart.bars.map(bar) }));
}

// Why systems cannot be analysed: one by one, then together.
function silence(board, mode, systems) {
  const details = systems.map(({ id, reported }) => (reported ? {} : askedDetails.get(id)));
  const has = (detail) => analysedCells([detail]).length || builtCharts("single", [], [detail]).length;
  const silent = systems[details.findIndex((detail) => detail && !has(detail))];
  if (silent && !silent.has_predictions)
    return `${silent.fullName}: no answers to analyse, only ${silent.reported ? "reported " : ""}figures`;
  if (silent)
    return `${silent.fullName}: no analyses on this board (${board.no_examples || "isogloss explain makes them"})`;
  if (details.some((detail) => !detail)) return "looking for analyses…";
  if (mode !== "pairwise" || analysedCells(details).length || builtCharts(mode, systems, details).length) return "";
  return "these two were not analysed on the same examples";
}

const ticksWanted = (ticked, from, to, words) =>
  ticked.length < from || ticked.length > to
    ? `tick ${words}${ticked.length > to ? `: ${ticked.length} are ticked` : ""}`
    : "";

// Why a button cannot be pressed now; "" if it can.
function reasons(board, ticked) {
  const known = board.has_bias || Object.keys(board.examples ?? {}).length;
  return {
    compare: ticksWanted(ticked, 2, 4, "2 to 4 systems"),
    bias: known ? "" : ticksWanted(ticked, 1, Infinity, "a system") || silence(board, "bias", ticked.slice(0, 1)),
    single: ticksWanted(ticked, 1, 1, "one system") || silence(board, "single", ticked),
    pairwise: ticksWanted(ticked, 2, 2, "two systems") || silence(board, "pairwise", ticked),
  };
}

const BUTTONS = [
  ["compare", "Compare"],
  ["bias", "Dataset bias"],
  ["single", "Single analysis"],
  ["pairwise", "Pairwise analysis"],
];

// The paper's three buttons and Compare, for the rows that are ticked.
export function analysisBar(board, params) {
  const ids = params.getAll("tick");
  const ticked = ids.map((id) => board.system.get(id)).filter(Boolean);
  const bar = element("div", { class: "actions", role: "group", "aria-label": "Ticked systems" });
  const draw = () => {
    const why = reasons(board, ticked);
    const target = (mode) =>
      hashOf(mode === "compare" ? ["compare"] : ["analysis", mode], { system: ticked.map(({ id }) => id) });
    bar.replaceChildren(
      element("span", { class: "soft" }, ticked.length ? `${ticked.length} ticked:` : "Tick rows to"),
      ...BUTTONS.map(([mode, title]) =>
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
        ),
      ),
      ticked.length
        ? element(
            "button",
            { type: "button", class: "chip clear", click: () => changeParams({ tick: null }) },
            "untick all",
          )
        : "",
    );
  };
  for (const system of ticked) askFor(system, draw);
  draw();
  return bar;
}
