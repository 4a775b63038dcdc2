import { systemPaint } from "../charts/colour.js";
import { bucketSection } from "./compare_buckets.js";
import { languageWins, taskTable, winMap, wins } from "./compare_tables.js";
import { pairedTests } from "./compare_tests.js";
import { cellScore } from "../board/decode.js";
import { systemWithRegime } from "../board/describe.js";
import { element, nameOf, partText, plural } from "../page/dom.js";
import { pageHead } from "../board/parts.js";
import { changeParams } from "../page/state.js";

const MOST = 4;

// The cells that all systems have, by task.
/** @param {Board} board @param {System[]} systems */
function sharedCells(board, systems) {
  return board.tasks
    .map((task) => ({
      task,
      codes: task.languages.filter((code) => systems.every((system) => !Number.isNaN(cellScore(task, system, code)))),
    }))
    .filter(({ codes }) => codes.length);
}

/** @param {Board} board @returns {Page} */
export function comparePage(board) {
  /** @param {URLSearchParams} params */
  const view = (params) => {
    const chosen = params
      .getAll("system")
      .map((id) => board.system.get(id))
      .filter(Boolean)
      .slice(0, MOST);
    return [
      pageHead("Compare"),
      element("div", { class: "controls roomy" }, pickers(board, chosen)),
      chosen.length < 2
        ? element("p", {}, "Select two to four systems. Only the cells that all of them have are compared.")
        : comparison(board, chosen, params),
    ];
  };
  return { title: "Compare", view };
}

/** @param {Board} board @param {System[]} chosen */
function pickers(board, chosen) {
  const sorted = [...board.systems].sort((a, b) => a.name.localeCompare(b.name));
  const count = Math.min(MOST, Math.max(2, chosen.length + 1));
  return Array.from({ length: count }, (_, at) =>
    element(
      "label",
      { class: "control" },
      element("span", {}, `System ${at + 1}`),
      element(
        "select",
        {
          change: (event) => {
            const ids = chosen.map(({ id }) => id);
            if (event.target.value) ids[at] = event.target.value;
            else ids.splice(at, 1);
            changeParams({ system: [...new Set(ids.filter(Boolean))] });
          },
        },
        element("option", { value: "" }, "–"),
        sorted.map((system) =>
          element(
            "option",
            { value: system.id, selected: chosen[at] === system },
            `${system.name.slice(0, 60)} · ${system.regime}`,
          ),
        ),
      ),
    ),
  );
}

/** @param {Board} board @param {System[]} systems @param {URLSearchParams} params */
function comparison(board, systems, params) {
  const shared = sharedCells(board, systems);
  const count = shared.reduce((sum, { codes }) => sum + codes.length, 0);
  if (!count) return [element("p", { class: "headline" }, "These systems have no common cells to compare.")];
  const won = wins(shared, systems);
  return [
    element(
      "p",
      { class: "headline" },
      `${partText(count, board.cellCount, "cell")} shared. `,
      systems.flatMap((system, at) => [
        at ? ", " : "",
        nameOf(system.fullName),
        " is best in ",
        element("strong", {}, won[at]),
      ]),
      `; ${plural(count - won.reduce((a, b) => a + b, 0), "tie")}.`,
      shared.some(({ task }) => task.lower_is_better)
        ? element("span", { class: "soft" }, ` ${directionText(shared)}`)
        : "",
    ),
    winBar(systems, won, count),
    pairedTests(board, systems),
    taskTable(board, systems, shared, params),
    languageWins(board, systems, shared, params),
    element("h2", {}, "Best system by task and language"),
    winMap(board, systems, shared),
    bucketSection(board, systems, params),
  ];
}

/** @param {System[]} systems @param {number[]} won @param {number} count */
function winBar(systems, won, count) {
  const bar = element("div", { class: "wins", "aria-hidden": "true" });
  systems.forEach((system, at) => {
    const part = element("span", {}, won[at] > count / 20 ? won[at] : "");
    part.style.flexGrow = String(won[at]);
    part.style.backgroundColor = systemPaint(at).fill;
    part.style.color = systemPaint(at).ink;
    bar.append(part);
  });
  return element(
    "div",
    {},
    bar,
    element(
      "p",
      { class: "legend" },
      systems.map((system, at) => {
        const swatch = element("i", { class: "swatch" });
        swatch.style.backgroundColor = systemPaint(at).fill;
        return element(
          "span",
          {},
          swatch,
          systems.length > 2 ? `${String.fromCharCode(65 + at)}:` : "",
          element("bdi", {}, systemWithRegime(system)),
        );
      }),
    ),
  );
}

/** @param {SharedCells[]} shared */
const directionText = (shared) => {
  const lower = shared.filter(({ task }) => task.lower_is_better);
  return lower.length === shared.length
    ? "Lower is better."
    : `Lower is better in ${lower.map(({ task }) => task.name).join(", ")}.`;
};
