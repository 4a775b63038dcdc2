import { ownSystems } from "./candidates.js";
import { element } from "../page/dom.js";

// A list of the systems that may have analyses.
/** @param {Board} board @param {string} label @param {System | undefined} chosen @param {(id: string) => void} write */
function systemSelect(board, label, chosen, write) {
  const systems = ownSystems(board);
  const offered = !chosen || systems.includes(chosen) ? systems : [chosen, ...systems];
  return element(
    "label",
    { class: "control" },
    element("span", {}, label),
    element(
      "select",
      { change: ({ target }) => write(target.value) },
      offered.map(({ id, fullName }) => element("option", { value: id, selected: id === chosen?.id }, fullName)),
    ),
  );
}

// One list per system of an analysis. Choosing the other one of a pair swaps the two.
/** @param {Board} board @param {System[]} chosen @param {number} count @param {(ids: string[]) => void} write */
export function systemPicker(board, chosen, count, write) {
  const ids = chosen.map(({ id }) => id);
  return Array.from({ length: count }, (_, at) =>
    systemSelect(board, count < 2 ? "System" : at ? "Second system" : "First system", chosen[at], (id) => {
      const next = ids.map((other) => (other === id ? ids[at] : other));
      next[at] = id;
      write(next);
    }),
  );
}
