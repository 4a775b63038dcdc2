import { REGIME_IN_FILES } from "./columns.js";
import { betterShare } from "./colour.js";
import { intervalText, provenanceLines, systemCell, unparsedText } from "./describe.js";
import { cellDetail, cellMetricText, cellScore } from "./decode.js";
import { drawn, drawnToWidth, element, link, missing, nameOf, scoreText } from "./dom.js";
import { exportButtons } from "./export.js";
import { ranksOf } from "./ranking.js";
import { hashOf } from "./state.js";
import { dataTable } from "./table.js";
import { mark } from "./plots.js";
import { withTip } from "./tips.js";

export const languageLink = (language) => link(hashOf(["language", language.code]), language.name);
export const familyLink = (name) => link(hashOf(["family", name]), name);
export const taskLink = (task) => link(hashOf(["task", task.id]), task.name);
export const autonym = (language) =>
  language.autonym && language.autonym !== language.name
    ? element("bdi", { lang: language.code, dir: language.rtl ? "rtl" : "ltr", class: "autonym" }, language.autonym)
    : null;

export const facts = (pairs) =>
  element(
    "dl",
    { class: "facts" },
    pairs
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );

export const crumbs = (...parts) =>
  element(
    "nav",
    { class: "crumbs", "aria-label": "Where this is" },
    parts.flatMap((part, at) => (at ? [" › ", part] : [part])),
  );

// A table of systems by some figures: each column has an id, a title and `of(system)`; `main` gives the ranks.
// Systems without any of the figures are left out.
export function systemTable(board, { columns, main, params, name, label }) {
  const rows = board.systems
    .map((system) => ({ system, values: columns.map(({ of }) => of(system)) }))
    .filter(({ values }) => values.some((value) => !missing(value)));
  const at = columns.findIndex(({ id }) => id === (params.get("sort") ?? main));
  const by = columns[at < 0 ? columns.findIndex(({ id }) => id === main) : at];
  const ranks = ranksOf(
    rows.map(({ values }) => values[columns.indexOf(by)] ?? NaN),
    by.lower,
  );
  rows.forEach((row, place) => {
    row.rank = ranks[place];
  });
  const made = [
    {
      id: "rank",
      title: `Rank by ${by.title}`,
      head: "Rank",
      fixed: true,
      numeric: true,
      className: "rank",
      value: (row) => row.rank,
      show: (row) => element("b", {}, row.rank ?? "–"),
    },
    {
      id: "name",
      title: "System",
      heads: true,
      className: "system",
      value: (row) => row.system.name,
      show: (row) => systemCell(row.system),
    },
    REGIME_IN_FILES,
    ...columns.map((column, place) =>
      valueColumn(
        board,
        column,
        rows.map(({ values }) => values[place]),
        place,
      ),
    ),
    { id: "year", title: "Year", numeric: true, className: "number", value: (row) => row.system.year ?? null },
  ];
  const count = (row) => row.values.filter((value) => !missing(value)).length;
  const table = dataTable({
    columns: made,
    rows,
    params,
    start: main,
    label,
    fallback: (a, b) =>
      count(b) - count(a) ||
      Math.max(...b.values.filter((value) => !missing(value))) -
        Math.max(...a.values.filter((value) => !missing(value))),
  });
  return {
    rows,
    node: element(
      "div",
      {},
      element(
        "div",
        { class: "line" },
        element("span", { class: "soft" }, `${rows.length} systems`),
        exportButtons(name, board, () => ({ columns: made, rows: table.sorted })),
      ),
      table.node,
    ),
  };
}

function valueColumn(board, column, values, place) {
  const known = values.filter((value) => !missing(value));
  const best = column.lower ? Math.min(...known) : Math.max(...known);
  let [low, high] = [0, 100];
  const prepare = (rows) => {
    const seen = rows.map((row) => row.values[place]).filter((value) => !missing(value));
    [low, high] = [Math.min(...seen), Math.max(...seen)];
  };
  return {
    id: column.id,
    title: column.title,
    hint: column.hint,
    note: column.note,
    group: column.group,
    numeric: true,
    score: true,
    className: "score",
    lower: column.lower,
    prepare,
    value: (row) => row.values[place] ?? null,
    show: (row) => element("span", { class: row.values[place] === best ? "best" : null }, scoreText(row.values[place])),
    strength: (row) => (missing(row.values[place]) ? null : betterShare(row.values[place], [low, high], column.lower)),
    tip: (row) => [
      `${row.system.fullName} · ${column.title}: ${scoreText(row.values[place])}`,
      ...(column.says?.(row.system) ?? []),
    ],
  };
}

export const cellTip = (board, system, task, code) => {
  const score = cellScore(task, system, code);
  return [
    `${system.name} · ${task.name} · ${board.language.get(code)?.name ?? code}: ${scoreText(score)}`,
    `${cellMetricText(task)}; ${task.n[task.languages.indexOf(code)] || "?"} test examples`,
    ...provenanceLines(board, system, task, code),
    cellDetail(system, task, code).then((cell) => cell && [intervalText(cell), unparsedText(cell.unparsed)]),
  ];
};

const MOST_MARKS = 60;

// The best, the worst, and some between them at even steps of their order: more marks would only cover each other.
const evenly = (points) =>
  points.length <= MOST_MARKS
    ? points
    : Array.from({ length: MOST_MARKS }, (_, at) => points[Math.round((at * (points.length - 1)) / (MOST_MARKS - 1))]);

// One line for each group, a mark for each system on the scale of scores: where the field stands, at a look.
export function stripChart({ lines: all, description }) {
  const place = element("div", { class: "plot" });
  const thinned = all.some(({ points }) => points.length > MOST_MARKS);
  const lines = all.map((line) => ({ ...line, points: evenly(line.points) }));
  const height = 34;
  drawnToWidth(place, (width) => {
    const left = Math.min(180, width * 0.34);
    const values = lines.flatMap(({ points }) => points.map(({ value }) => value));
    const from = Math.max(0, 10 * Math.floor(Math.min(...values) / 10));
    const x = (value) => left + 10 + ((value - from) / (100 - from)) * (width - left - 30);
    const ticks = [0, 20, 40, 60, 80, 100].filter((tick) => tick >= from);
    const svg = drawn(
      "svg",
      { width, height: 26 + height * lines.length, role: "group", "aria-label": description },
      ticks.map((tick) => [
        drawn("line", { x1: x(tick), x2: x(tick), y1: 20, y2: 26 + height * lines.length, class: "grid" }),
        drawn("text", { x: x(tick), y: 14, "text-anchor": "middle" }, String(tick)),
      ]),
    );
    lines.forEach(({ label, href, points, reference }, at) => {
      const y = 26 + height * at + height / 2;
      const text = drawn(
        "text",
        { x: left, y: y + 4, "text-anchor": "end" },
        label.length * 7 > left ? `${label.slice(0, Math.floor(left / 7) - 1)}…` : label,
      );
      svg.append(
        drawn("line", { x1: x(from), x2: x(100), y1: y, y2: y, class: "grid" }),
        href ? drawn("a", { href }, text) : text,
      );
      if (reference && !missing(reference.value))
        svg.append(
          withTip(
            drawn("path", { d: `M${x(reference.value)} ${y - 12}v24`, class: "reference" }),
            () => reference.lines,
          ),
        );
      points.forEach((point, order) =>
        svg.append(
          withTip(
            drawn("g", { class: order ? "faint" : "first" }, mark(point.kind, x(point.value), y, order ? 4 : 6)),
            () => point.lines,
          ),
        ),
      );
    });
    return svg;
  });
  const note = `Of many systems ${MOST_MARKS} are drawn on each line, from the best to the worst at even steps.`;
  return element("div", {}, place, thinned ? element("p", { class: "soft" }, note) : null);
}

// Points of the systems that have a figure, the best first.
export const pointsOf = (board, of, title, lower = false) =>
  board.systems
    .map((system) => ({ system, value: of(system) }))
    .filter(({ value }) => !missing(value))
    .sort((a, b) => (lower ? a.value - b.value : b.value - a.value))
    .map(({ system, value }) => ({
      value,
      kind: system.kind,
      system,
      lines: [`${system.fullName}: ${scoreText(value)}`, title],
    }));

export const nothing = (text) => ({
  node: element(
    "div",
    {},
    element("h1", {}, "Nothing here"),
    element("p", {}, text, " ", link("#/", "To the leaderboard")),
  ),
  title: "Nothing here",
});

export const pageHead = (title, ...more) => element("header", { class: "head" }, element("h1", {}, title), more);

// A table to be read, not sorted: its rows are lists of cells, nodes or texts.
export const plainTable = (label, headings, rows) =>
  element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element(
      "table",
      { class: "data plain" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          headings.map((heading) => element("th", { scope: "col" }, heading)),
        ),
      ),
      element(
        "tbody",
        {},
        rows.map((cells) => element("tr", {}, cells)),
      ),
    ),
  );
