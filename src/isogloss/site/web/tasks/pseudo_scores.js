import { taskName } from "../board/decode.js";
import { drawn, element, link, nameOf, scoreText } from "../page/dom.js";
import { plainTable } from "../board/parts.js";
import { mark } from "../charts/plots.js";
import { hashOf } from "../page/state.js";
import { stripChart } from "../charts/strip_chart.js";

// Scores on pseudo test sets: English test sets, machine-translated. No average, rank or test includes them.
const NOTE = "Pseudo test sets: machine-translated from English, in no average or ranking.";

/** @param {string} kind */
const legend = (kind) =>
  element(
    "p",
    { class: "legend" },
    element(
      "span",
      {},
      drawn("svg", { width: 16, height: 16, "aria-hidden": "true" }, mark(kind, 8, 8, 5, true)),
      `° ${NOTE}`,
    ),
  );

/** @param {Board} board @param {PseudoScores} options1 @param {(system: System) => boolean} wanted @returns {Point[]} */
const points = (board, { task, name, scores }, wanted) =>
  scores
    .map(([at, value]) => ({ system: board.systems[at], value }))
    .filter(({ system }) => wanted(system))
    .sort((a, b) => b.value - a.value)
    .map(({ system, value }) => ({
      value,
      kind: system.kind,
      system,
      lines: [`${system.fullName}: ${scoreText(value)}`, `${taskName(board, task)}, ${name}`, "Pseudo test set"],
    }));

/**
 * Return the pseudo test sets of a task as a chart with hollow marks, or null if it has none.
 * @param {Board} board
 * @param {Task} task
 */
export function pseudoOfTask(board, task) {
  const sets = (board.pseudo ?? []).filter((each) => each.task === task.id);
  if (!sets.length) return null;
  const lines = sets.map((each) => ({
    label: `${each.name} °`,
    points: points(board, each, () => true),
    hollow: true,
  }));
  return element(
    "section",
    { id: "pseudo" },
    element("h2", {}, "Pseudo test sets"),
    legend(lines[0].points[0].kind),
    stripChart({ lines, description: `Scores of all systems on pseudo test sets of ${task.name}, by language` }),
  );
}

/**
 * Return the scores of a system on pseudo test sets, or null if it has none.
 * @param {Board} board
 * @param {System} system
 */
export function pseudoOfSystem(board, system) {
  const rows = (board.pseudo ?? []).flatMap((each) =>
    each.scores.filter(([at]) => at === system.at).map(([, value]) => ({ ...each, value })),
  );
  if (!rows.length) return null;
  return element(
    "section",
    { id: "pseudo" },
    element("h2", {}, "Pseudo test sets"),
    legend(system.kind),
    plainTable(
      "Scores on pseudo test sets",
      ["Task", "Language", "Score"],
      rows.map(({ task, name, value }) => [
        element("td", {}, link(hashOf(["task", task]), taskName(board, task))),
        element("td", {}, nameOf(name)),
        element("td", { class: "number" }, `${scoreText(value)}°`),
      ]),
      { words: 2 },
    ),
  );
}
