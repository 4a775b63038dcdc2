import { differencePaint } from "../charts/colour.js";
import { heatTable, scoreKey } from "../charts/heatmap.js";
import { languageHeads } from "../board/families.js";
import { element, link, nameOf, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { examplesHash } from "./paired.js";
import { gapText, pValueText } from "./verdict.js";

// Points at which the colour is full, on every board.
const FULL_COLOUR = 20;

/** @param {Contrast} cell @returns {Paint} */
function leadPaint({ test, winner, lead }) {
  if (!test) return { fill: "", ink: "", mark: "untested" };
  return winner ? differencePaint(lead, FULL_COLOUR) : { fill: "", ink: "", mark: "tied" };
}

// Tasks by languages: significant differences in the winner's colour, all others grey, untested ones hatched. Cells lead to
// their examples if the board has them.
/** @param {Board} board @param {System[]} pair @param {PairContrasts} contrasts @param {Set<string>} examples */
export function cellMatrix(board, pair, { cells }, examples) {
  const [first, second] = pair;
  const byId = new Map(cells.map((cell) => [cell.id, cell]));
  const rows = board.tasks.filter(({ id }) => cells.some(({ task }) => task?.id === id));
  const columns = board.languages.filter(({ code }) => cells.some((cell) => cell.code === code));
  /** @param {Task} task @param {Language} language */
  const cellOf = (task, language) => byId.get(`${task.id}/${language.code}`);
  const rounded = (/** @type {number} */ lead) =>
    Math.round(lead) ? `${lead > 0 ? "+" : "−"}${Math.abs(Math.round(lead))}` : "0";
  return [
    element(
      "p",
      { class: "soft" },
      "Blue: ",
      nameOf(first.fullName),
      " is significantly better; orange: ",
      nameOf(second.fullName),
      "; grey: not distinguishable; hatched: not tested.",
    ),
    scoreKey(
      -FULL_COLOUR,
      FULL_COLOUR,
      (value) => differencePaint(value, FULL_COLOUR),
      "points of difference; larger ones have the colour of the ends",
    ),
    heatTable({
      caption: "Differences in points",
      rows,
      ...languageHeads(columns, ({ code }) => hashOf(["language", code])),
      rowHead: (task) => link(hashOf(["task", task.id]), task.name),
      value: (task, language) => cellOf(task, language)?.lead,
      text: rounded,
      href: (task, { code }) =>
        examples.has(`${task.id}/${code}`) ? examplesHash(pair, task.id, code) : hashOf(["task", task.id, code]),
      paintOf: (_, task, language) => leadPaint(/** @type {Contrast} */ (cellOf(task, language))),
      tip: (task, language) => {
        const cell = /** @type {Contrast} */ (cellOf(task, language));
        return [
          `${task.name} in ${language.name}: ${gapText(cell)}`,
          `${first.fullName}: ${scoreText(cell.first)}; ${second.fullName}: ${scoreText(cell.second)}`,
          examples.has(cell.id) ? "Select to show examples" : "",
          cell.p === null
            ? "not tested"
            : `${pValueText(cell.p)}, ${cell.winner ? "significant" : "not distinguishable"}`,
        ];
      },
    }),
  ];
}
