import { noExamplesText, ownSystems } from "./candidates.js";
import { cellScore } from "../board/decode.js";
import { element, link, missing, nameOf } from "../page/dom.js";
import { hashOf } from "../page/state.js";

const MOST_LINKED = 8;

// Links from a task in a language to its single examples, or the reason why there are none.
/** @param {Board} board @param {Task} task @param {string} code */
export function cellLinks(board, task, code) {
  const cell = { task: task.id, language: code };
  const systems = ownSystems(board).filter(
    (system) => system.has_predictions && !missing(cellScore(task, system, code)),
  );
  const hasExamples = board.examples?.[task.id]?.includes(code);
  /** @param {System[]} chosen */
  const of = (chosen) => ({ system: chosen.map(({ id }) => id), ...cell });
  return element(
    "section",
    { class: "cell-examples" },
    element("h2", {}, "Single examples"),
    systems.length && hasExamples
      ? element(
          "p",
          {},
          "Where they are right and wrong: ",
          systems
            .slice(0, MOST_LINKED)
            .flatMap((system, at) => [
              at ? ", " : "",
              link(hashOf(["analysis", "single"], of([system])), nameOf(system.fullName)),
            ]),
          systems.length > 1
            ? ["; ", link(hashOf(["analysis", "pairwise"], of(systems.slice(0, 2))), "how two systems differ")]
            : "",
          "; ",
          link(hashOf(["analysis", "bias"], cell), "what the test set contains"),
          ".",
        )
      : element("p", { class: "soft" }, `None are shown. ${whyNone(board, systems)}`),
  );
}

/** @param {Board} board @param {System[]} systems */
const whyNone = (board, systems) =>
  systems.length ? board.no_examples || "They need public labels and the board's data." : noExamplesText(board);
