// Differences on one shared axis around zero: a table with a dot and its interval in each row.
import { systemPaint } from "../charts/colour.js";
import { intervalMark } from "../charts/interval.js";
import { modelNames } from "../charts/labels.js";
import { niceTicks } from "../charts/plots.js";
import { drawn, element, missing, nameOf, scoreText } from "../page/dom.js";
import { gapText, verdictKind } from "./verdict.js";

const ROW_HEIGHT = 20;
const AXIS_HEIGHT = 16;
// Half of the axis that the scale fills, in percent.
const HALF = 46;

// A round limit of the axis: it holds all averages, and nineteen of twenty cells, with their intervals.
/** @param {Contrast[]} averages @param {Contrast[]} cells */
export function forestLimit(averages, cells) {
  /** @param {Contrast} contrast */
  const reach = ({ lead, low, high }) => Math.max(...[lead, low ?? 0, high ?? 0].map(Math.abs));
  const reached = cells.map(reach).sort((a, b) => a - b);
  const most = Math.max(1, ...averages.map(reach), reached[Math.ceil(reached.length * 0.95) - 1] ?? 0);
  const power = 10 ** Math.floor(Math.log10(most));
  return Number(([1, 2, 3, 4, 5, 6, 8, 10].find((times) => times * power >= most) ?? 10) * power);
}

/** @param {number} value @param {number} limit */
const placeOf = (value, limit) => 50 + HALF * Math.min(1.06, Math.max(-1.06, value / limit));

// The mark of a contrast: in the winner's colour if significant, grey if not, hollow if not tested.
/** @param {Contrast} contrast @param {number} limit @param {number[]} colours @param {boolean} [inTable] */
function leadMark(contrast, limit, colours, inTable = false) {
  const kind = verdictKind(contrast);
  /** @param {number} value @returns {any} */
  const x = (value) => `${placeOf(value, limit)}%`;
  const mark = intervalMark({ ...contrast, value: contrast.lead }, x, ROW_HEIGHT / 2, {
    sure: kind === "first" || kind === "second",
    className: kind === "untested" ? "hollow-mark" : "lead-mark",
  });
  if (kind === "first" || kind === "second")
    mark.style.setProperty("--winner", systemPaint(colours[kind === "first" ? 0 : 1]).fill);
  const beyond = Math.abs(contrast.lead) > limit;
  const arrow = drawn("text", {
    x: contrast.lead > 0 ? "100%" : "0%",
    y: 13,
    "text-anchor": contrast.lead > 0 ? "end" : "start",
  });
  arrow.textContent = contrast.lead > 0 ? "›" : "‹";
  // Also the background of the cell, which a saved picture does not have.
  const zero = inTable ? drawn("line", { x1: "50%", x2: "50%", y1: 0, y2: ROW_HEIGHT, class: "zero" }) : null;
  return drawn("svg", { class: "forest-mark", height: ROW_HEIGHT, "aria-hidden": "true" }, zero, beyond ? arrow : mark);
}

/** @param {number} limit @param {System[]} pair */
function axisHead(limit, [first, second]) {
  const ticks = niceTicks(-limit, limit, 4);
  return [
    element(
      "span",
      { class: "sides" },
      element("span", {}, "←\u00a0", nameOf(second.fullName), " better"),
      element("span", {}, nameOf(first.fullName), " better\u00a0→"),
    ),
    drawn(
      "svg",
      { class: "forest-mark axis", height: AXIS_HEIGHT, "aria-hidden": "true" },
      ticks.map((tick) => {
        const x = `${placeOf(tick, limit)}%`;
        return [
          drawn("text", { x, y: 11, "text-anchor": "middle" }, tick > 0 ? `+${tick}` : `${tick}`.replace("-", "−")),
          drawn("line", { x1: x, x2: x, y1: 13, y2: AXIS_HEIGHT, class: "zero" }),
        ];
      }),
    ),
  ];
}

/** @param {Contrast} contrast @param {System[]} pair @returns {Child} */
function verdictCell(contrast, pair) {
  const kind = verdictKind(contrast);
  const wins = contrast.parts && contrast.parts.length > 1 ? testedParts(contrast.parts, pair) : null;
  if (wins) return wins;
  if (kind === "untested") return "not tested";
  if (kind === "open") return "not distinguishable";
  return [nameOf(pair[kind === "first" ? 0 : 1].fullName), " better"];
}

// A language with several tasks has no test of its own: count those of its cells.
/** @param {Contrast[]} parts @param {System[]} pair @returns {Child} */
function testedParts(parts, pair) {
  if (parts.some(({ test }) => !test)) return null;
  const won = pair.map((_, at) => parts.filter(({ winner }) => winner === ["first", "second"][at]).length);
  if (!won[0] && !won[1]) return `0 of ${parts.length} significant`;
  return pair.flatMap((system, at) =>
    won[at] ? [at && won[0] ? ", " : "", nameOf(system.fullName), ` in ${won[at]} of ${parts.length}`] : [],
  );
}

/** @param {ForestRow} row @param {ForestOptions} options */
function forestLine({ contrast, head, level, key }, { limit, pair, colours }) {
  const kind = verdictKind(contrast);
  const scores = `${scoreText(contrast.first)} · ${scoreText(contrast.second)}`;
  const [lead, interval] = gapText(contrast).split(" (");
  return element(
    "tr",
    { class: `${level} ${kind === "first" || kind === "second" ? "sure" : "unsure"}`, "data-key": key },
    element("th", { scope: "row" }, head, element("span", { class: "of scores", "aria-hidden": "true" }, scores)),
    element("td", { class: "number wide" }, scoreText(contrast.first)),
    element("td", { class: "number wide" }, scoreText(contrast.second)),
    element("td", { class: "drawing" }, leadMark(contrast, limit, colours, true)),
    element(
      "td",
      { class: "number difference" },
      element("b", {}, lead),
      " ",
      element("span", { class: "of" }, missing(interval) ? "" : `(${interval}`),
    ),
    element("td", { class: "verdict-cell" }, verdictCell(contrast, pair)),
  );
}

/** @type {Record<string, string>} */
const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };

// Roles of a table's parts, which some browsers drop where the style sheet makes grids of rows on narrow screens.
/** @param {HTMLElement} table */
function withRoles(table) {
  for (const node of [table, ...table.querySelectorAll("thead, tbody, tr, td, th")])
    node.setAttribute("role", ROLES[node.tagName] ?? (node.getAttribute("scope") === "col" ? "columnheader" : "rowheader"));
  return table;
}

// The table of groups of rows, each with an optional heading.
/** @param {ForestOptions & { label: string, title: string, groups: { title: string, rows: ForestRow[] }[] }} options */
export function forestTable({ label, title, groups, ...options }) {
  const { pair, limit } = options;
  const heads = [
    element("th", { scope: "col" }, title),
    ...modelNames(pair.map(({ fullName }) => fullName)).map((name) =>
      element("th", { scope: "col", class: "number wide" }, nameOf(name, { class: "short" })),
    ),
    element("th", { scope: "col", class: "drawing" }, axisHead(limit, pair)),
    element("th", { scope: "col", class: "number difference" }, "Difference"),
    element("th", { scope: "col", class: "verdict-cell" }, "Verdict"),
  ];
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    withRoles(
      element(
        "table",
        { class: "data forest" },
        element("thead", {}, element("tr", {}, heads)),
        groups.map((group) =>
          element(
            "tbody",
            { "data-key": `${label}-${group.title}` },
            group.title
              ? element("tr", { class: "band" }, element("th", { colspan: 6, scope: "rowgroup" }, group.title))
              : null,
            group.rows.map((row) => forestLine(row, options)),
          ),
        ),
      ),
    ),
  );
}

// What the marks mean.
/** @param {System[]} pair @param {number[]} colours @param {PairContrasts} contrasts */
export function forestLegend(pair, colours, { tasks, cells, top }) {
  const all = [...tasks, ...cells, ...(top ? [top] : [])];
  const blank = { ...all[0], low: null, high: null, lead: 0 };
  /** @param {Partial<Contrast>} like @param {Child} text */
  const entry = (like, text) => element("span", {}, leadMark({ ...blank, ...like }, 1, colours), text);
  return element(
    "p",
    { class: "legend forest-legend" },
    all.some(({ test }) => test)
      ? [
          pair.map(({ fullName }, at) =>
            entry({ test: "examples", winner: at ? "second" : "first" }, [nameOf(fullName), " significantly better"]),
          ),
          entry({ test: "examples", winner: "" }, "not distinguishable"),
        ]
      : null,
    all.some(({ test }) => !test) ? entry({ test: "" }, "not tested") : null,
    all.some(({ low }) => !missing(low)) ? element("span", {}, "lines: 95 % intervals that hold jointly") : null,
  );
}
