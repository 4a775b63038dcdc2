import { cellScore, cellTitle } from "../board/decode.js";
import { dotChart } from "../charts/dot_chart.js";
import { allOf, element, missing, plural, printedScore, scoreText, signedText } from "../page/dom.js";
import { memoized, weightedMean } from "../board/ranking.js";
import { hashOf } from "../page/state.js";

/** @typedef {{ task: Task, label: string, value: number, low: number | null, high: number | null, lines: () => string[] }} Gap */

// Score minus human performance for each task with both, signed so that above zero is better than people.
/** @param {Board} board @param {System} system @returns {Gap[]} */
export const systemHumanGaps = (board, system) =>
  board.tasks.flatMap((task) => {
    const average = board.averages.get(task.id);
    const own = average?.value[system.at];
    if (missing(task.human) || missing(own) || !average) return [];
    const human = task.human;
    /** @param {Maybe<number>} score */
    const gap = (score) => (missing(score) ? null : task.lower_is_better ? human - score : score - human);
    const ends = [gap(average.low[system.at]), gap(average.high[system.at])];
    const [low, high] = task.lower_is_better ? ends.reverse() : ends;
    const value = gap(own) ?? NaN;
    const lines = () => [
      `${task.name}: ${signedText(value)}`,
      `${system.name} ${scoreText(own)}; people ${scoreText(human)}`,
    ];
    return [{ task, label: task.name, value, low, high, lines }];
  });

// English minus the mean of the other languages, for tasks with English.
/** @param {Board} board @param {System} system @returns {Gap[]} */
export const transferGaps = (board, system) =>
  board.tasks
    .filter((task) => task.place.has("en") && task.languages.length > 1)
    .map((task) => {
      const others = task.languages.filter((code) => code !== "en").map((code) => cellScore(task, system, code));
      const [english, mean] = [cellScore(task, system, "en"), weightedMean(others)];
      const lines = () => [
        `${task.name}: ${signedText(english - mean)}`,
        `English ${scoreText(english)}; mean of ${plural(others.length, "other language")} ${scoreText(mean)}`,
      ];
      return { task, label: cellTitle(task), value: english - mean, low: null, high: null, lines };
    })
    .filter(({ value }) => !missing(value));

// Axes that all systems of a board share: multiples of ten around all gaps, and zero.
/** @param {(board: Board, system: System) => Gap[]} gapsOf @returns {(board: Board) => Interval} */
const gapScale = (gapsOf) =>
  memoized((board) => {
    const ends = board.systems.flatMap((system) =>
      gapsOf(board, system).flatMap(({ value, low, high }) => [low ?? value, high ?? value]),
    );
    const [least, most] = ends.reduce(([from, to], end) => [Math.min(from, end), Math.max(to, end)], [0, 0]);
    return [10 * Math.floor(least / 10), 10 * Math.ceil((most || 1) / 10)];
  });
const humanScale = gapScale(systemHumanGaps);
const transferScale = gapScale(transferGaps);

/** @param {Board} board @param {System} system */
export function humanSection(board, system) {
  const gaps = systemHumanGaps(board, system);
  if (!gaps.length) return null;
  const ahead = gaps.filter(({ value }) => printedScore(value) > 0);
  const sorted = [...gaps].sort((a, b) => b.value - a.value);
  const [first, last] = [sorted[0], sorted.at(-1)];
  const ends =
    gaps.length > 1
      ? `${first.task.name} (${signedText(first.value)}) to ${last.task.name} (${signedText(last.value)})`
      : `${first.task.name} (${signedText(first.value)})`;
  return element(
    "section",
    { id: "humans" },
    element("h2", {}, "Gap to human performance"),
    element(
      "p",
      {},
      ahead.length
        ? `Scores above people on ${ahead.length} of ${plural(gaps.length, "task")}: from ${ends}.`
        : `Below people on ${gaps.length === 1 ? "" : `${allOf(gaps.length)} tasks, from `}${ends}.`,
    ),
    gapChart(gaps, humanScale(board), "Gap to human performance by task", "human performance"),
    element("p", { class: "notes" }, "Human performance as published with each dataset, often for English only."),
  );
}

// The system's file has intervals of transfer gaps, which apply if cells use the task's main metric.
/** @param {Board} board @param {System} system @param {SystemGap[]} [recorded] */
export function transferSection(board, system, recorded = []) {
  const gaps = transferGaps(board, system).map((gap) => {
    const own = gap.task.cellMetric ? null : recorded.find(({ task }) => task === gap.task.id);
    const { low = null, high = null } = own ?? {};
    return { ...gap, low, high };
  });
  if (!gaps.length) return null;
  return element(
    "section",
    { id: "transfer" },
    element("h2", {}, "Transfer gap"),
    element(
      "p",
      { class: "soft" },
      "English minus the mean of the other languages. Closer to zero means better transfer.",
    ),
    gapChart(gaps, transferScale(board), "Transfer gap by task", "no gap"),
  );
}

// Grey dots have an interval that includes zero.
/** @param {Gap[]} gaps @param {Interval} scale @param {string} description @param {string} zero */
const gapChart = (gaps, scale, description, zero) =>
  dotChart({
    bands: [
      {
        name: "",
        rows: gaps.map(({ task, label, value, low, high, lines }) => ({
          label,
          href: hashOf(["task", task.id]),
          figure: { value, low, high },
          sure: missing(low) || missing(high) || low > 0 || high < 0,
          text: signedText(value),
          lines: [
            ...lines(),
            missing(low) ? "no interval" : `95 % interval ${signedText(low)} to ${signedText(high ?? NaN)}`,
          ],
        })),
      },
    ],
    scale,
    lines: [{ value: 0, label: zero }],
    signed: true,
    description,
  });
