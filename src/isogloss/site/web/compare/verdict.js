// The verdict on two systems in words, as `isogloss compare` gives it: never more than the test says.
import { cellScore } from "../board/decode.js";
import { population, testedOn } from "../board/tested_on.js";
import { listed, missing, nameOf, plural, scoreText, signedText } from "../page/dom.js";
import { wholeFigure } from "./column_tables.js";
import { sharedCodes } from "./contrasts.js";

const LEAST_TESTED_LANGUAGES = 5;

/** @param {Contrast} contrast */
export const verdictKind = ({ test, winner }) => (test ? winner || "open" : "untested");

// "+2.1 (+1.4 to +2.8)", seen from one of the systems.
/** @param {Pick<Contrast, "lead" | "low" | "high">} contrast @param {string} [side] */
export function gapText({ lead, low, high }, side = "first") {
  if (side === "second")
    return gapText({ lead: -lead, low: missing(high) ? null : -high, high: missing(low) ? null : -low });
  return `${signedText(lead)}${missing(low) || missing(high) ? "" : ` (${signedText(low)} to ${signedText(high)})`}`;
}

/** @param {number} p */
export const pValueText = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`);

/** @param {System} system */
export const pairName = (system) => nameOf(system.fullName);

// The verdict in one sentence.
/** @param {Contrast} contrast @param {System[]} pair @returns {Child[]} */
export function verdictWords(contrast, [first, second]) {
  const { test, winner, lead } = contrast;
  const where = test === "languages" ? ` ${population(test)}` : "";
  if (winner)
    return [
      pairName(winner === "first" ? first : second),
      ` is significantly better${where}: `,
      gapText(contrast, winner),
    ];
  if (test) return [`Not distinguishable${where}: ${gapText(contrast)}`];
  if (signedText(lead) === "0.0") return ["Not tested: equal averages"];
  return [
    "Not tested: ",
    pairName(lead > 0 ? first : second),
    ` has the better average, ${signedText(Math.abs(lead))}`,
  ];
}

// What was compared, and the test with its population.
/** @param {Contrast} contrast @param {System[]} pair @returns {Child[]} */
export function verdictDetail(contrast, [first, second]) {
  const { title, lower, test, winner, p, among, alone } = contrast;
  const scores = [
    `${title}${lower ? " (lower is better)" : ""}: `,
    pairName(first),
    ` ${scoreText(contrast.first)}, `,
    pairName(second),
    ` ${scoreText(contrast.second)}. `,
  ];
  if (!test) return scores;
  const value = missing(p) ? "" : `, ${pValueText(p)}`;
  const sample =
    alone && test === "languages"
      ? " Only the compared systems are tested, not all: significance is easier to reach."
      : among > 2
        ? ` The correction covers all pairs of ${among} systems.`
        : "";
  const verdict = winner
    ? ["The difference is significant "]
    : [pairName(first), " and ", pairName(second), " are not significantly different "];
  const caution = winner ? "" : " This does not make them equal.";
  return [...scores, ...verdict, `${testedOn(test)}${value}.${sample}${caution}`];
}

// Why the top contrast has no test.
/** @param {ComparedPair} compared @param {PairContrasts} contrasts @returns {Child[]} */
export function untestedReason({ board, pair, systems, tests }, { top, complete, tasks }) {
  if (!top || top.test) return [];
  if (tests.size) return ["Their paired tests are of single tasks and cells only."];
  if (pair.every((system) => system.has_predictions))
    return ["This board has no paired test of them; isogloss compare tests any systems with predictions."];
  if (!complete && systems.length > 2) return ["Open two of the systems alone to test them on what they share."];
  if (new Set(tasks.map(({ lower }) => lower)).size > 1) return ["In some tasks lower is better, in others higher."];
  const printed = pair.map((system) => ({ system, names: printedOnly(board, system, tasks) }));
  const lacking = printed.filter(({ names }) => names.length);
  if (!lacking.length) return [`A test over languages needs at least ${LEAST_TESTED_LANGUAGES} of them.`];
  return [
    "A test over languages needs every score by language; ",
    lacking.map(({ system, names }, at) => [
      at ? "; " : "",
      pairName(system),
      " has only averages for ",
      listed(names, 6),
    ]),
    ".",
  ];
}

// The tasks of which a system has an average, but not every score by language.
/** @param {Board} board @param {System} system @param {Contrast[]} tasks */
export const printedOnly = (board, system, tasks) =>
  tasks.flatMap(({ task }) =>
    task &&
    wholeFigure(board, system, task.id) !== null &&
    task.languages.some((code) => Number.isNaN(cellScore(task, system, code)))
      ? [task.name]
      : [],
  );

// Where each is better: by the tests if there are any, else by the scores.
/** @param {ContrastCounts} counts @param {string} noun @param {System[]} pair @returns {Child[]} */
export function countWords({ first, second, open, untested, all }, noun, pair) {
  if (untested === all) return [];
  if (!first && !second)
    return [`Neither is significantly better in any of ${plural(all, noun)}${untested ? ` (${untested} not tested)` : ""}.`];
  const order = second > first ? [1, 0] : [0, 1];
  const wins = [first, second];
  const [more, fewer] = order;
  return [
    pairName(pair[more]),
    ` is significantly better in ${wins[more]} of ${plural(all, noun)}, `,
    pairName(pair[fewer]),
    ` in ${wins[fewer]}; ${open} ${open === 1 ? "is" : "are"} not distinguishable`,
    untested ? ` and ${untested} not tested.` : ".",
  ];
}

// Which cells are compared, and which tasks enter only by their averages.
/** @param {Board} board @param {System[]} pair @param {PairContrasts} contrasts */
export function sharedText(board, pair, { tasks, cells }) {
  const printed = tasks.filter(({ task }) => task && !sharedCodes(task, pair).length).map(({ title }) => title);
  const shared = `Both have scores in ${cells.length} of ${plural(board.cellCount, "cell")} (a task in a language) and in ${plural(tasks.length, "task")} of ${board.tasks.length}.`;
  return printed.length
    ? `${shared} ${listed(printed)} ${printed.length === 1 ? "enters" : "enter"} only by ${printed.length === 1 ? "its average" : "their averages"}.`
    : shared;
}
