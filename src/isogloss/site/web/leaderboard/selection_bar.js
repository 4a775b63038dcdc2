import { element, nameOf, plural } from "../page/dom.js";
import { changeParams, hashOf } from "../page/state.js";

const ACTIONS = [
  ["compare", "Compare"],
  ["single", "Single analysis"],
  ["pairwise", "Pairwise analysis"],
];
const MOST_COMPARED = 4;

// Why an action is not possible with these systems, or "". Analyses need single examples, which reported systems lack.
/** @param {System[]} systems @returns {Record<string, string>} */
export function selectionObstacles(systems) {
  const reported = systems.find((system) => system.reported);
  const lack = reported ? `${reported.fullName} has only reported scores` : "";
  const [one, two] = [systems.length === 1, systems.length === 2];
  return {
    compare:
      systems.length < 2 ? "select another system" : systems.length > MOST_COMPARED ? "select up to 4 systems" : "",
    single: one ? lack : "select one system",
    pairwise: two ? lack : "select two systems",
  };
}

// What can be done with the selected rows, at the bottom of the window; nothing while none is selected.
/** @param {Board} board @param {URLSearchParams} params */
export function selectionBar(board, params) {
  const systems = params
    .getAll("tick")
    .map((id) => board.system.get(id))
    .filter(Boolean);
  if (!systems.length) return null;
  const why = selectionObstacles(systems);
  /** @param {string[]} options */
  const action = ([mode, title]) => {
    const path = mode === "compare" ? ["compare"] : ["analysis", mode];
    const target = hashOf(path, { system: systems.map(({ id }) => id) });
    return element(
      "span",
      { class: "action" },
      why[mode]
        ? element(
            "button",
            { type: "button", "aria-disabled": "true", "aria-describedby": `why-${mode}`, "data-mode": mode },
            title,
          )
        : element("a", { class: "button", href: target, "data-mode": mode }, title),
      why[mode] ? element("small", { id: `why-${mode}` }, why[mode]) : null,
    );
  };
  /** @param {System} system */
  const chip = ({ id, fullName }) =>
    element(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-label": `remove ${fullName} from the selection`,
        click: () => changeParams({ tick: params.getAll("tick").filter((other) => other !== id) }),
      },
      nameOf(fullName),
      element("span", { "aria-hidden": "true" }, " ×"),
    );
  return element(
    "div",
    { class: "selection", role: "region", "aria-label": "Selected systems", "data-key": "selection" },
    element("output", { class: "selected-count" }, `${plural(systems.length, "system")} selected`),
    element("div", { class: "chips" }, systems.map(chip)),
    element("div", { class: "actions" }, ACTIONS.map(action)),
    element("button", { type: "button", class: "chip clear", click: () => changeParams({ tick: null }) }, "Clear"),
  );
}
