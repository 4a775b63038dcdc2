import { differencePaint, systemPaint } from "./colour.js";
import { cellScore, cellTitle, systemDetail } from "./decode.js";
import { systemWithRegime } from "./describe.js";
import { element, link, missing, nameOf, plural, scoreText, signedText } from "./dom.js";
import { exportButtons } from "./export.js";
import { heatTable, scoreKey } from "./heatmap.js";
import { pageHead, plainTable } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { changeParams, hashOf } from "./state.js";
import { dataTable } from "./table.js";
import { withTip } from "./tips.js";

const MOST = 4;

// The cells that all chosen systems have, by task.
function sharedCells(board, systems) {
  return board.tasks
    .map((task) => ({
      task,
      codes: task.languages.filter((code) => systems.every((system) => !Number.isNaN(cellScore(task, system, code)))),
    }))
    .filter(({ codes }) => codes.length);
}

const better = (task, a, b) => (task.lower_is_better ? a < b : a > b);

// In how many of the cells each system is the best alone.
function wins(shared, systems) {
  const counts = systems.map(() => 0);
  for (const { task, codes } of shared)
    for (const code of codes) {
      const scores = systems.map((system) => cellScore(task, system, code));
      scores.forEach((score, at) => {
        if (scores.every((other, place) => place === at || better(task, score, other))) counts[at] += 1;
      });
    }
  return counts;
}

export function comparePage(board) {
  const place = element("div");
  const picker = element("div", { class: "controls roomy" });
  const node = element("div", {}, pageHead("Compare"), picker, place);
  const update = (params) => {
    const chosen = params
      .getAll("system")
      .map((id) => board.system.get(id))
      .filter(Boolean)
      .slice(0, MOST);
    picker.replaceChildren(...pickers(board, chosen));
    place.replaceChildren(
      ...(chosen.length < 2
        ? [element("p", {}, "Choose two to four systems. Only what all of them have is compared.")]
        : comparison(board, chosen, params)),
    );
  };
  return { node, title: "Compare", update };
}

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

function comparison(board, systems, params) {
  const shared = sharedCells(board, systems);
  const count = shared.reduce((sum, { codes }) => sum + codes.length, 0);
  if (!count) return [element("p", { class: "headline" }, "These systems share no cell: there is nothing to compare.")];
  const won = wins(shared, systems);
  const tests = element("div");
  pairedTests(board, systems, tests);
  return [
    element(
      "p",
      { class: "headline" },
      `${plural(count, "cell")} of ${board.cellCount} are shared. `,
      systems.flatMap((system, at) => [
        at ? ", " : "",
        nameOf(system.name),
        " is best in ",
        element("strong", {}, won[at]),
      ]),
      `; ${plural(count - won.reduce((a, b) => a + b, 0), "tie")}.`,
    ),
    winBar(systems, won, count),
    tests,
    taskTable(board, systems, shared, params),
    element("h2", {}, systems.length === 2 ? "Where each wins" : "Who is best where"),
    winMap(board, systems, shared),
  ];
}

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
          systemWithRegime(system),
        );
      }),
    ),
  );
}

function taskTable(board, systems, shared, params) {
  const rows = shared.map(({ task, codes }) => ({
    task,
    codes,
    values: systems.map((system) => weightedMean(codes.map((code) => cellScore(task, system, code)))),
    won: wins([{ task, codes }], systems),
  }));
  const columns = [
    {
      id: "task",
      title: "Task",
      heads: true,
      className: "system",
      value: (row) => cellTitle(row.task),
      show: (row) => link(hashOf(["task", row.task.id]), cellTitle(row.task)),
    },
    {
      id: "shared",
      title: "Shared",
      numeric: true,
      className: "number",
      value: (row) => row.codes.length,
      show: (row) => `${row.codes.length} of ${row.task.languages.length}`,
    },
    ...systems.map((system, at) => ({
      id: `s${at}`,
      title: system.name.slice(0, 40),
      numeric: true,
      score: true,
      className: "score",
      value: (row) => row.values[at],
      show: (row) =>
        element(
          "span",
          {
            class: row.values.every((other, place) => place === at || better(row.task, row.values[at], other))
              ? "best"
              : null,
          },
          scoreText(row.values[at]),
        ),
    })),
    ...(systems.length === 2
      ? [
          {
            id: "difference",
            title: "Difference",
            numeric: true,
            className: "score",
            score: true,
            value: (row) => row.values[0] - row.values[1],
            show: (row) => signedText(row.values[0] - row.values[1]),
          },
        ]
      : []),
    { id: "wins", title: "Best in", className: "text", value: (row) => row.won.join(" : ") },
  ];
  const table = dataTable({ columns, rows, params, start: "", label: "Tasks" });
  return element(
    "div",
    {},
    element(
      "div",
      { class: "line" },
      element("h2", {}, "Task by task"),
      exportButtons("compare", board, () => ({ columns, rows: table.sorted })),
    ),
    element(
      "p",
      { class: "soft" },
      "Means over the languages that all of them have: not the tasks' own figures where these are fewer.",
    ),
    table.node,
  );
}

function winMap(board, systems, shared) {
  const used = new Set(shared.flatMap(({ codes }) => codes));
  const languages = board.languages
    .filter(({ code }) => used.has(code))
    .sort((a, b) => a.family.localeCompare(b.family) || a.name.localeCompare(b.name));
  const scores = (task, code) => systems.map((system) => cellScore(task, system, code));
  const turned = (task, value) => (task.lower_is_better ? -value : value);
  const common = {
    rows: shared,
    columns: languages,
    caption: systems.length === 2 ? "Difference by task and language" : "The best system by task and language",
    rowHead: ({ task }) => link(hashOf(["task", task.id]), cellTitle(task)),
    columnHead: (language) =>
      withTip(link(hashOf(["language", language.code]), language.code), () => [language.name, language.family]),
    tip: ({ task }, language) => [
      `${task.name} in ${language.name}`,
      ...systems.map((system) => `${system.name}: ${scoreText(cellScore(task, system, language.code))}`),
    ],
  };
  if (systems.length === 2) {
    const gaps = shared
      .flatMap(({ task, codes }) =>
        codes.map((code) => {
          const [a, b] = scores(task, code);
          return Math.abs(a - b);
        }),
      )
      .sort((a, b) => a - b);
    const limit = Math.max(1, Math.ceil(gaps[Math.floor(gaps.length * 0.95)]));
    const colour = (value) => differencePaint(value, limit);
    return element(
      "div",
      {},
      element(
        "p",
        { class: "soft" },
        "Blue: ",
        nameOf(systems[0].name),
        " is better; orange: ",
        nameOf(systems[1].name),
        ".",
      ),
      scoreKey(-limit, limit, colour),
      heatTable({
        ...common,
        value: ({ task, codes }, { code }) => {
          if (!codes.includes(code)) return undefined;
          const [a, b] = scores(task, code);
          return turned(task, a - b);
        },
        paintOf: colour,
        text: (value) => (Math.round(value) ? `${value > 0 ? "+" : "−"}${Math.abs(Math.round(value))}` : "0"),
      }),
    );
  }
  return heatTable({
    ...common,
    text: (at) => (at < 0 ? "=" : String.fromCharCode(65 + at)),
    paintOf: (at) => (at < 0 ? { fill: "transparent", ink: "inherit" } : systemPaint(at)),
    value: ({ task, codes }, { code }) => {
      if (!codes.includes(code)) return undefined;
      const all = scores(task, code);
      return all.findIndex((score, at) => all.every((other, place) => place === at || better(task, score, other)));
    },
  });
}

// Paired tests come with the systems' own files, where both were scored here from their answers.
async function pairedTests(board, systems, place) {
  const details = await Promise.all(systems.map((system) => (system.has_predictions ? systemDetail(system.id) : null)));
  const lines = [];
  systems.forEach((first, a) =>
    systems.forEach((second, b) => {
      if (a >= b) return;
      const mine =
        details[a]?.paired?.[second.id]?.map((test) => ({ ...test, sign: 1 })) ??
        details[b]?.paired?.[first.id]?.map((test) => ({ ...test, sign: -1 })) ??
        [];
      for (const { column, difference, low, high, p, sign } of mine)
        lines.push([
          first,
          second,
          column,
          sign * difference,
          ...(missing(low) ? [null, null] : sign > 0 ? [low, high] : [-high, -low]),
          p,
        ]);
    }),
  );
  const why = systems.filter((system) => !system.has_predictions);
  if (!lines.length) {
    place.replaceChildren(
      element(
        "p",
        { class: "soft" },
        why.length
          ? ["No paired test: there are no answers of ", nameOf(why[0].name), ", only figures."]
          : "No paired test of these systems is on this board.",
      ),
    );
    return;
  }
  const cells = ([first, second, column, difference, low, high, p]) => [
    [nameOf(first.name), " − ", nameOf(second.name)],
    board.task.get(column)?.name ?? column,
    signedText(difference),
    low === null ? "–" : `${signedText(low)} to ${signedText(high)}`,
    p < 0.001 ? "< 0.001" : p.toFixed(3),
    p < 0.05 ? "told apart" : "not told apart",
  ];
  place.replaceChildren(
    element("h2", {}, "Paired tests"),
    element("p", { class: "soft" }, "Over the same examples, both systems resampled together."),
    plainTable(
      "Paired tests",
      ["Pair", "Column", "Difference", "95 % interval", "p", element("span", { class: "sr" }, "Verdict")],
      lines.map((line) => cells(line).map((cell) => element("td", {}, cell))),
    ),
  );
}
