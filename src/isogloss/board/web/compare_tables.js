import { differencePaint, systemPaint } from "./colour.js";
import { cellScore, cellTitle } from "./decode.js";
import { element, link, nameOf, printedScore, scoreText, signedText } from "./dom.js";
import { exportButtons } from "./export.js";
import { heatTable, scoreKey } from "./heatmap.js";
import { groupedBy, weightedMean } from "./ranking.js";
import { hashOf } from "./state.js";
import { dataTable } from "./table.js";
import { withTip } from "./tips.js";

const better = (lower, a, b) => (lower ? a < b : a > b);

// The place of the one that is better than all others; -1 where two share that.
export const bestAlone = (lower, scores) =>
  scores.findIndex((score, at) => scores.every((other, place) => place === at || better(lower, score, other)));

const cellScores = (task, systems, code) => systems.map((system) => cellScore(task, system, code));

// In how many of the cells each system is the best alone.
export function wins(shared, systems) {
  const counts = systems.map(() => 0);
  for (const { task, codes } of shared)
    for (const code of codes) {
      const best = bestAlone(task.lower_is_better, cellScores(task, systems, code));
      if (best >= 0) counts[best] += 1;
    }
  return counts;
}

// What tables of tasks and of languages have alike: a score for each system, the best marked if no other prints like it,
// and who wins how often. Rows have `values`, `won` and `lower`, which is null where figures of both directions meet and
// have no mean.
function systemColumns(systems) {
  const isBest = ({ lower, values }, at) => lower !== null && bestAlone(lower, values.map(printedScore)) === at;
  const shown = (row, at) => element("span", { class: isBest(row, at) ? "best" : null }, scoreText(row.values[at]));
  const difference = (row) => row.values[0] - row.values[1];
  return [
    ...systems.map((system, at) => ({
      id: `s${at}`,
      title: system.fullName.slice(0, 40),
      numeric: true,
      score: true,
      className: "score",
      value: (row) => row.values[at],
      show: (row) => shown(row, at),
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
            show: (row) => signedText(difference(row)),
          },
        ]
      : []),
    { id: "wins", title: "Best in", className: "text", value: (row) => row.won.join(" : ") },
  ];
}

const sharedColumn = (of) => ({
  id: "shared",
  title: "Shared",
  numeric: true,
  className: "number",
  value: (row) => row.shared,
  show: (row) => `${row.shared} of ${of(row)}`,
});

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

export function taskTable(board, systems, shared, params) {
  const rows = shared.map(({ task, codes }) => ({
    task,
    shared: codes.length,
    lower: task.lower_is_better,
    values: systems.map((system) => weightedMean(codes.map((code) => cellScore(task, system, code)))),
    won: wins([{ task, codes }], systems),
  }));
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
    hint: "Means over the languages that all of them have: not the tasks' own figures where these are fewer.",
    file: "compare",
    columns: [name, sharedColumn((row) => row.task.languages.length), ...systemColumns(systems)],
    rows,
    params,
    label: "Tasks",
  });
}

// One language after the other: the mean over its tasks that all systems have. Where tasks go both ways there is none.
export function languageWins(board, systems, shared, params) {
  const cells = shared.flatMap(({ task, codes }) => codes.map((code) => ({ task, code })));
  const rows = [...groupedBy(cells, ({ code }) => code)].map(([code, own]) => {
    const directions = new Set(own.map(({ task }) => task.lower_is_better));
    return {
      language: board.language.get(code),
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
    hint: "Means over the tasks that all of them have in a language: n of N.",
    file: "compare-languages",
    columns: [name, sharedColumn((row) => row.all), ...systemColumns(systems)],
    rows: rows.sort((a, b) => a.language.name.localeCompare(b.language.name)),
    params,
    label: "Languages",
  });
}

// Every task in every language: of two systems how far they are apart, of more which is the best.
export function winMap(board, systems, shared) {
  const used = new Set(shared.flatMap(({ codes }) => codes));
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

const bestMap = (systems, common) =>
  heatTable({
    ...common,
    caption: "The best system by task and language",
    text: (at) => (at < 0 ? "=" : String.fromCharCode(65 + at)),
    paintOf: (at) => (at < 0 ? { fill: "transparent", ink: "inherit" } : systemPaint(at)),
    value: ({ task, codes }, { code }) =>
      codes.includes(code) ? bestAlone(task.lower_is_better, cellScores(task, systems, code)) : undefined,
  });

function differenceMap(systems, shared, common) {
  const difference = (task, code) => {
    const [a, b] = cellScores(task, systems, code);
    return a - b;
  };
  const gaps = shared
    .flatMap(({ task, codes }) => codes.map((code) => Math.abs(difference(task, code))))
    .sort((a, b) => a - b);
  const limit = Math.max(1, Math.ceil(gaps[Math.floor(gaps.length * 0.95)]));
  // Colours tell who is better, which is not who is higher where less is better.
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
