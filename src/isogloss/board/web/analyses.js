import { systemDetail } from "./decode.js";
import { element } from "./dom.js";
import { changeParams, hashOf } from "./state.js";

// What the files of ticked systems turned out to have; asked for once each.
const analysed = new Map();

function askFor(system, again) {
  if (analysed.has(system.id) || !system.has_predictions) return;
  analysed.set(system.id, null);
  systemDetail(system.id).then((detail) => {
    analysed.set(system.id, Boolean(detail?.analyses?.single?.length));
    again();
  });
}

function silence(system) {
  if (!system.has_predictions)
    return `${system.name}: no answers to analyse, only ${system.reported ? "reported " : ""}figures`;
  if (analysed.get(system.id) === null) return "looking for analyses…";
  return analysed.get(system.id) ? "" : `${system.name}: no analyses on this board (isogloss explain makes them)`;
}

// Why a button cannot be pressed now; "" if it can.
function reasons(board, ticked) {
  const without = ticked.map(silence).find(Boolean) ?? "";
  return {
    compare: ticked.length < 2 ? "tick 2 to 4 systems" : ticked.length > 4 ? "tick 4 systems at most" : "",
    bias: board.has_bias ? "" : ticked.length ? without : "tick a system",
    single: ticked.length === 1 ? without : "tick one system",
    pairwise: ticked.length === 2 ? without : "tick two systems",
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
