import { niceTicks, styledMark, lineLegend } from "../charts/plots.js";
import { shortened } from "../charts/labels.js";
import { drawn, drawnToWidth, element, link, missing, partText, scoreText, signedText } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";
import { plainTable } from "../board/parts.js";
import { bestRow, daggerNotes, humanGaps, notesOn, shortName } from "./history.js";
import { rowsOf } from "./progress_data.js";
import { chosenRegimes, regimeLegend, regimesOf } from "./regimes.js";

const ROW = 58;
const TOP = 8;
const BOTTOM = 30;

/** @param {Board} board @param {URLSearchParams} params @returns {Child[]} */
export function humansView(board, params) {
  const rows = rowsOf(board, chosenRegimes(board, params));
  const gaps = humanGaps(board, rows);
  const without = board.tasks.filter(({ human }) => missing(human));
  const untested = board.tasks.filter(({ id, human }) => !missing(human) && !gaps.some(({ task }) => task.id === id));
  return [
    element("p", { class: "headline" }, gapSentence(gaps)),
    gaps.length ? humansChart(board, gaps, chosenRegimes(board, params)) : null,
    daggerNotes(
      board,
      gaps.map(({ task, best }) => ({ task, system: best.system })),
    ),
    element(
      "div",
      { class: "notes" },
      without.length
        ? element("p", {}, `No published human score: ${without.map(({ name }) => name).join(", ")}.`)
        : null,
      untested.length
        ? element("p", {}, `No complete system score: ${untested.map(({ name }) => name).join(", ")}.`)
        : null,
      element(
        "p",
        {},
        `A human score is one published figure per task${englishText(board)}, without an interval and not by language; a gap is not tested for significance.`,
      ),
    ),
    basisTable(board),
  ];
}

/** @param {HumanGap[]} gaps */
function gapSentence(gaps) {
  const [farthest] = gaps;
  if (!farthest) return "No task has both a human and a system score.";
  const below = gaps.filter(({ gap }) => gap > 0).length;
  return [
    below === gaps.length
      ? `No system reaches the human score on ${gaps.length > 1 ? `any of ${gaps.length} tasks` : gaps[0].task.name}. `
      : `The best score is below the human score on ${partText(below, gaps.length, "task", ["", ""]).trim()} with both. `,
    farthest.gap > 0
      ? `The largest gap is ${scoreText(farthest.gap)} points on ${farthest.task.name} (${farthest.best.system.name}).`
      : "",
  ].join("");
}

// The best system of each regime on a task.
/** @param {Board} board @param {Task} task @param {Regime[]} regimes @returns {RegimeBest[]} */
const bestOfRegimes = (board, task, regimes) =>
  regimes.flatMap((regime) => {
    const best = bestRow(rowsOf(board, [regime]), task.id, task.lower_is_better);
    return best ? [{ ...best, regime }] : [];
  });

// Tens around the human scores and the best ones of every regime, whichever are shown.
/** @param {Board} board @returns {Interval} */
function humansScale(board) {
  const regimes = regimesOf(board.systems);
  const tasks = board.tasks.filter(({ human }) => !missing(human));
  const values = tasks.flatMap((task) => [
    task.human ?? NaN,
    ...bestOfRegimes(board, task, regimes).flatMap(({ value, low, high }) => [value, low ?? value, high ?? value]),
  ]);
  const known = values.filter((value) => !missing(value));
  return [10 * Math.floor(Math.min(...known) / 10), 10 * Math.ceil(Math.max(...known) / 10)];
}

/** @param {Board} board @param {HumanGap[]} gaps @param {Regime[]} regimes */
function humansChart(board, gaps, regimes) {
  const lines = gaps.map((gap) => ({ ...gap, others: bestOfRegimes(board, gap.task, regimes) }));
  const shown = regimes.filter(({ id }) => lines.some(({ others }) => others.some(({ regime }) => regime.id === id)));
  const scale = humansScale(board);
  return element(
    "figure",
    { class: "humans", "data-key": "humans" },
    regimeLegend(shown, [
      lineLegend("human-line", "M14 1V15", "human score"),
      lineLegend("gap-line", "M0 8H28", "gap of the best system"),
    ]),
    drawnToWidth(element("div", { class: "plot" }), (width) => humansDrawing(board, lines, scale, width)),
    exportButtons("gap-to-humans", board, () => ({
      columns: [
        { id: "task", title: "Task", value: ({ task }) => task.title },
        { id: "human", title: "Human", value: ({ human }) => human, score: true, numeric: true },
        { id: "system", title: "System", value: ({ best }) => best.system.name },
        { id: "regime", title: "Regime", value: ({ best }) => best.system.regime },
        { id: "score", title: "Score", value: ({ best }) => best.value, score: true, numeric: true },
        { id: "low", title: "95 % low", value: ({ best }) => best.low, score: true, numeric: true },
        { id: "high", title: "95 % high", value: ({ best }) => best.high, score: true, numeric: true },
        { id: "gap", title: "Gap", value: ({ gap }) => gap, score: true, numeric: true },
      ],
      rows: lines,
    })),
  );
}

/** @param {Board} board @param {(HumanGap & { others: RegimeBest[] })[]} lines @param {Interval} scale @param {number} width */
function humansDrawing(board, lines, scale, width) {
  const [left, right] = [10, width - 74];
  const height = TOP + ROW * lines.length + BOTTOM;
  /** @param {number} value */
  const x = (value) => left + ((value - scale[0]) / (scale[1] - scale[0])) * (right - left);
  const ticks = niceTicks(...scale, Math.max(2, width / 90));
  return drawn(
    "svg",
    { width, height, role: "group", "aria-label": "Gap between the best system and the human score, by task" },
    ticks.map((tick) => [
      drawn("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: height - BOTTOM, class: "grid" }),
      drawn("text", { x: x(tick), y: height - 10, "text-anchor": "middle" }, String(tick)),
    ]),
    lines.map((line, at) => gapLine(line, notesOn(board, line.best.system, line.task), TOP + ROW * at, x, width)),
  );
}

/** @param {HumanGap & { others: RegimeBest[] }} line @param {string[]} notes @param {number} top @param {(value: number) => number} x @param {number} width */
function gapLine({ task, human, best, gap, others }, notes, top, x, width) {
  const y = top + 38;
  const name = `${best.system.name}${best.system.regime ? `, ${best.system.regime}` : ""}`;
  const room = Math.floor((width - 90) / 7) - task.name.length - 6;
  return drawn(
    "g",
    { class: "human-row" },
    drawn(
      "text",
      { x: 2, y: top + 18, class: "row-text" },
      drawn("a", { href: hashOf(["task", task.id]) }, drawn("tspan", { class: "row-name" }, task.name)),
      drawn("tspan", { dx: 8, class: "row-best" }, `${scoreText(best.value)}${notes.length ? "†" : ""}`),
      room > 6 ? drawn("tspan", { dx: 5 }, shortened(name, room)) : null,
    ),
    drawn("line", { x1: x(best.value), x2: x(human), y1: y, y2: y, class: "gap-line" }),
    withTip(drawn("path", { d: `M${x(human)} ${y - 11}v22`, class: "human-line" }), () => [
      `Humans on ${task.name}: ${scoreText(human)}`,
    ]),
    [...others].reverse().map((one) => bestMark(one, best, task, x, y)),
    drawn("text", { x: width - 4, y: y + 5, "text-anchor": "end", class: "gap-text" }, signedText(-gap)),
  );
}

// The best system of a regime, with its interval.
/** @param {RegimeBest} one @param {Ended & { system: System }} best @param {Task} task @param {(value: number) => number} x @param {number} y */
const bestMark = ({ value, low, high, system, regime }, best, task, x, y) =>
  withTip(
    drawn(
      "a",
      { href: hashOf(["system", system.id]), "aria-label": `${task.name}, ${system.fullName}: ${scoreText(value)}`, class: system === best.system ? "first" : "faint" },
      missing(low) || missing(high) ? null : drawn("line", { x1: x(low), x2: x(high), y1: y, y2: y, class: "whisker" }),
      styledMark(regime.style, x(value), y, system === best.system ? 6 : 5),
    ),
    () => [
      `${system.fullName}: ${scoreText(value)}`,
      `best of ${regime.title.toLowerCase()} on ${task.name}`,
      missing(low) ? "" : `95 % interval ${scoreText(low)}–${scoreText(high)}`,
    ],
  );

// The tasks with a stated basis of their human score.
/** @param {Board} board */
const basedTasks = (board) =>
  board.history?.suites.find(({ id }) => id === board.suite)?.tasks.filter(({ basis }) => basis) ?? [];

/** @param {Board} board */
function englishText(board) {
  const scored = basedTasks(board).filter(({ human }) => !missing(human));
  const english = scored.filter(({ basis }) => basis?.includes("in English"));
  return english.length ? `, ${english.length} of ${scored.length} an estimate in English` : "";
}

/** @param {Board} board */
function basisTable(board) {
  const tasks = basedTasks(board);
  return tasks.length
    ? [
        element("h2", {}, "What the human scores are"),
        plainTable(
          "What the human scores are based on",
          ["Task", "Basis", "Score"],
          tasks.map(({ id, name, basis, human }) => [
            element("th", { scope: "row" }, link(hashOf(["task", id]), shortName(name))),
            element("td", {}, basis),
            element("td", { class: "number" }, missing(human) ? "none" : scoreText(human)),
          ]),
          { words: 2 },
        ),
      ]
    : null;
}
