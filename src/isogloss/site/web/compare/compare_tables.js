import { differencePaint, systemPaint } from "../charts/colour.js";
import { cellScore, cellTitle } from "../board/decode.js";
import { element, link, nameOf, printedScore, scoreText, signedText } from "../page/dom.js";
import { exportButtons } from "../page/export.js";
import { heatTable, scoreKey } from "../charts/heatmap.js";
import { groupedBy, weightedMean } from "../board/ranking.js";
import { hashOf } from "../page/state.js";
import { dataTable } from "../page/table.js";
import { withTip } from "../page/tips.js";

/** @param {boolean} lower @param {number} a @param {number} b */
const better = (lower, a, b) => (lower ? a < b : a > b);

// The index of the single best score, or -1 for a tie.
/** @param {boolean} lower @param {number[]} scores */
export const bestAlone = (lower, scores) =>
  scores.findIndex((score, at) => scores.every((other, place) => place === at || better(lower, score, other)));

/** @param {Task} task @param {System[]} systems @param {string} code */
const cellScores = (task, systems, code) => systems.map((system) => cellScore(task, system, code));

// The number of cells in which each system is the single best.
/** @param {SharedCells[]} shared @param {System[]} systems */
export function wins(shared, systems) {
  const counts = systems.map(() => 0);
  for (const { task, codes } of shared)
    for (const code of codes) {
      const best = bestAlone(task.lower_is_better, cellScores(task, systems, code));
      if (best >= 0) counts[best] += 1;
    }
  return counts;
}

// Columns of the task and language tables: a score per system with a single best one marked, and win counts. Rows have
// `values`, `won`, and `lower`, which is null if tasks with opposite directions have no mean.
/** @param {System[]} systems @returns {TableColumn<CompareRow>[]} */
function systemColumns(systems) {
  /** @param {CompareRow} options @param {number} at */
  const isBest = ({ lower, values }, at) => lower !== null && bestAlone(lower, values.map(printedScore)) === at;
  /** @param {any} row @param {number} at */
  const shown = (row, at) => element("span", { class: isBest(row, at) ? "best" : null }, scoreText(row.values[at]));
  /** @param {any} row */
  const difference = (row) => row.values[0] - row.values[1];
  return [
    ...systems.map((system, at) => ({
      id: `s${at}`,
      title: system.fullName.slice(0, 40),
      numeric: true,
      score: true,
      className: "score",
      value: (/** @type {CompareRow} */ row) => row.values[at],
      show: (/** @type {CompareRow} */ row) => shown(row, at),
    })),
    ...(systems.length === 2
      ? [
          {
            id: "difference",
            title: "Difference",
            numeric: true,
            className: "score",
            score: true,
            value: difference,
            show: (/** @type {CompareRow} */ row) => signedText(difference(row)),
          },
        ]
      : []),
    { id: "wins", title: "Best in", className: "text", value: (/** @type {CompareRow} */ row) => row.won.join(" : ") },
  ];
}

/** @param {(row: any) => number} of @returns {TableColumn<CompareRow>} */
const sharedColumn = (of) => ({
  id: "shared",
  title: "Shared",
  numeric: true,
  className: "number",
  value: (row) => row.shared,
  show: (row) => `${row.shared} of ${of(row)}`,
});

/**
 * @param {{ board: Board, title: string, hint: string, file: string, columns: TableColumn[], rows: any[], params: URLSearchParams, label: string }} options
 */
function titledTable({ board, title, hint, file, columns, rows, params, label }) {
  const table = dataTable({ columns, rows, params, start: "", label });
  return element(
    "div",
    {},
    element(
      "div",
      { class: "line" },
      element("h2", {}, title),
      exportButtons(file, board, () => ({ columns, rows: table.sorted })),
    ),
    element("p", { class: "soft" }, hint),
    table.node,
  );
}

/** @param {Board} board @param {System[]} systems @param {SharedCells[]} shared @param {URLSearchParams} params */
export function taskTable(board, systems, shared, params) {
  const rows = shared.map(({ task, codes }) => ({
    task,
    shared: codes.length,
    lower: task.lower_is_better,
    values: systems.map((system) => weightedMean(codes.map((code) => cellScore(task, system, code)))),
    won: wins([{ task, codes }], systems),
  }));
  /** @type {TableColumn} */
  const name = {
    id: "task",
    title: "Task",
    heads: true,
    className: "system",
    value: (row) => cellTitle(row.task),
    show: (row) => link(hashOf(["task", row.task.id]), cellTitle(row.task)),
  };
  return titledTable({
    board,
    title: "Task by task",
    hint: "Averaged over the languages all systems cover.",
    file: "compare",
    columns: [name, sharedColumn((row) => row.task.languages.length), ...systemColumns(systems)],
    rows,
    params,
    label: "Tasks",
  });
}

// Scores by language, averaged over the tasks all systems cover, unless their directions differ.
/** @param {Board} board @param {System[]} systems @param {SharedCells[]} shared @param {URLSearchParams} params */
export function languageWins(board, systems, shared, params) {
  const cells = shared.flatMap(({ task, codes }) => codes.map((code) => ({ task, code })));
  const rows = [...groupedBy(cells, ({ code }) => code)].map(([code, own]) => {
    const directions = new Set(own.map(({ task }) => task.lower_is_better));
    return {
      language: board.languages.filter((language) => language.code === code)[0],
      shared: own.length,
      all: board.tasks.filter((task) => task.place.has(code)).length,
      lower: directions.size === 1 ? own[0].task.lower_is_better : null,
      values: systems.map((system) =>
        directions.size === 1 ? weightedMean(own.map(({ task }) => cellScore(task, system, code))) : NaN,
      ),
      won: wins(
        own.map(({ task }) => ({ task, codes: [code] })),
        systems,
      ),
    };
  });
  /** @type {TableColumn} */
  const name = {
    id: "language",
    title: "Language",
    heads: true,
    className: "system",
    value: (row) => row.language.name,
    show: (row) => link(hashOf(["language", row.language.code]), row.language.name),
  };
  return titledTable({
    board,
    title: "Language by language",
    hint: "Averaged over tasks all systems cover.",
    file: "compare-languages",
    columns: [name, sharedColumn((row) => row.all), ...systemColumns(systems)],
    rows: rows.sort((a, b) => a.language.name.localeCompare(b.language.name)),
    params,
    label: "Languages",
  });
}

// Tasks by languages: the difference between two systems, or the best of more.
/** @param {Board} board @param {System[]} systems @param {SharedCells[]} shared */
export function winMap(board, systems, shared) {
  const used = new Set(shared.flatMap(({ codes }) => codes));
  /** @type {Pick<HeatTable, "rows" | "columns" | "rowHead" | "columnHead" | "tip">} */
  const common = {
    rows: shared,
    columns: board.languages
      .filter(({ code }) => used.has(code))
      .sort((a, b) => a.family.localeCompare(b.family) || a.name.localeCompare(b.name)),
    rowHead: ({ task }) => link(hashOf(["task", task.id]), cellTitle(task)),
    columnHead: (language) =>
      withTip(link(hashOf(["language", language.code]), language.code), () => [language.name, language.family]),
    tip: ({ task }, language) => [
      `${task.name} in ${language.name}`,
      ...systems.map((system) => `${system.fullName}: ${scoreText(cellScore(task, system, language.code))}`),
    ],
  };
  return systems.length === 2 ? differenceMap(systems, shared, common) : bestMap(systems, common);
}

/** @param {System[]} systems @param {any} common */
const bestMap = (systems, common) =>
  heatTable({
    ...common,
    caption: "Best system by task and language",
    text: (at) => (at < 0 ? "=" : String.fromCharCode(65 + at)),
    paintOf: (at) => (at < 0 ? { fill: "transparent", ink: "inherit" } : systemPaint(at)),
    value: ({ task, codes }, { code }) =>
      codes.includes(code) ? bestAlone(task.lower_is_better, cellScores(task, systems, code)) : undefined,
  });

/** @param {System[]} systems @param {SharedCells[]} shared @param {any} common */
function differenceMap(systems, shared, common) {
  /** @param {Task} task @param {string} code */
  const difference = (task, code) => {
    const [a, b] = cellScores(task, systems, code);
    return a - b;
  };
  const gaps = shared
    .flatMap(({ task, codes }) => codes.map((code) => Math.abs(difference(task, code))))
    .sort((a, b) => a - b);
  const limit = Math.max(1, Math.ceil(gaps[Math.floor(gaps.length * 0.95)]));
  // Colours show the better system, not the higher score.
  /** @param {number} value @param {boolean} lower */
  const colour = (value, lower) => differencePaint(lower ? -value : value, limit);
  const allAreLower = shared.every(({ task }) => task.lower_is_better);
  const [first, second] = systems.map(({ fullName }) => nameOf(fullName));
  return element(
    "div",
    {},
    element("p", { class: "soft" }, "Blue: ", first, " is better; orange: ", second, "."),
    scoreKey(-limit, limit, (value) => colour(value, allAreLower)),
    heatTable({
      ...common,
      caption: "Difference by task and language",
      value: ({ task, codes }, { code }) => (codes.includes(code) ? difference(task, code) : undefined),
      paintOf: (value, { task }) => colour(value, task.lower_is_better),
      text: (value) => (Math.round(value) ? `${value > 0 ? "+" : "−"}${Math.abs(Math.round(value))}` : "0"),
    }),
  );
}
