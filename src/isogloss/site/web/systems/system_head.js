import { badges } from "../board/describe.js";
import { cellScore } from "../board/decode.js";
import { countText, element, link, listed, missing, nameOf, partText, plural, scoreText, sizeText } from "../page/dom.js";
import { pageHead } from "../board/parts.js";
import { testedOn } from "../board/tested_on.js";
import { hashOf } from "../page/state.js";
import { rankWords } from "../board/rank_words.js";

const MOST_TASK_NAMES = 4;

/** @param {Board} board @param {Standings} table @param {Standing} row @param {Detail} detail */
export const systemHead = (board, table, row, detail) =>
  pageHead(
    [nameOf(row.system.name), " ", badges(row.system)],
    element("p", { class: "soft quiet" }, knownFacts(row.system)),
    row.rank === null ? partialHeadline(board, row) : overallHeadline(table, row),
    nextPages(board, row.system, detail),
  );

// "encoder · zero-shot · 559 M parameters · open weights · 2020": only what is known.
/** @param {System} system */
function knownFacts({ kind, regime, parameters, open_weights: open, year }) {
  const size = missing(parameters) ? null : `${sizeText(parameters)} parameters`;
  const weights = missing(open) ? null : open ? "open weights" : "closed weights";
  return [kind, regime, size, weights, year]
    .filter(Boolean)
    .flatMap((fact, at) => [at ? " · " : "", nameOf(String(fact))]);
}

/** @param {Standings} table @param {Standing} row */
function overallHeadline(table, row) {
  const { value, low, high } = row.figures.get("overall");
  const { order, ranked } = table;
  const isTested = order.ranges.has(row.system.id) && !order.untested.has(row.system.id) && ranked > 1 && !table.testRanks;
  return element(
    "p",
    { class: "headline" },
    "Overall ",
    element("strong", {}, scoreText(value)),
    missing(low) ? "" : ` (${scoreText(low)}–${scoreText(high)})`,
    `: ${rankWords(table, row.system, " complete systems")}`,
    isTested ? `, tested ${testedOn(order.test)}.` : ".",
  );
}

// "Covers 1 of 10 tasks: Tatoeba; 41 of 202 cells have scores."
/** @param {Board} board @param {Standing} row */
function partialHeadline(board, row) {
  const { covered } = coverage(board, row);
  if (!covered.length) return element("p", { class: "headline" }, "No scores yet.");
  const cells = partText(row.cells, board.cellCount, "cell", ["has a score", "have scores"]);
  if (covered.length === board.tasks.length)
    return element(
      "p",
      { class: "headline" },
      `Covers all ${plural(covered.length, "task")}, but not whole: ${cells}. No overall rank.`,
    );
  return element(
    "p",
    { class: "headline" },
    `Covers ${countText(covered.length)} of ${plural(board.tasks.length, "task")}: `,
    listed(
      covered.map(({ name }) => name),
      MOST_TASK_NAMES,
    ),
    row.cells ? `; ${cells}.` : ".",
    " No overall rank.",
  );
}

// Tasks with and without any score of a system, in a language or on average.
/** @param {Board} board @param {Standing} row */
export function coverage(board, { system, figures }) {
  /** @param {Task} task */
  const isCovered = (task) =>
    !missing(figures.get(task.id)?.value) || task.languages.some((code) => !missing(cellScore(task, system, code)));
  return { covered: board.tasks.filter(isCovered), others: board.tasks.filter((task) => !isCovered(task)) };
}

/** @param {Board} board @param {System} system @param {Detail} detail */
function nextPages(board, system, detail) {
  const isExplained = detail?.analyses?.single?.length || detail?.examples?.length;
  const pages = [
    board.systems.length > 1 ? link(hashOf(["compare"], { system: system.id }), "Compare with another system") : null,
    isExplained ? link(hashOf(["analysis", "single"], { system: system.id }), "Analyses and single examples") : null,
  ].filter(Boolean);
  return pages.length ? element("p", { class: "next" }, pages.flatMap((page, at) => [at ? " · " : "", page])) : null;
}

// A system-wide footnote, for example on its number of parameters, belongs to its facts.
/** @param {Board} board @param {System} system */
export const systemNotes = (board, system) => [
  ...(system.notes ?? []),
  ...(board.footnotes ?? []).filter((note) => note.system === system.id && !note.task).map((note) => `† ${note.text}`),
];

