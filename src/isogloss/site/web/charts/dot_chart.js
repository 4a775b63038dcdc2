import { drawn, drawnToWidth, element, missing } from "../page/dom.js";
import { intervalMark } from "./interval.js";
import { niceTicks } from "./plots.js";
import { withTip } from "../page/tips.js";

const MARK_ROW = 24;
const BAND_ROOM = 24;
const PLOT_HEIGHT = 250;
const DOT_STEP = { least: 20, most: 60 };
// Rows stay short enough to read a value beside its name.
const MOST_WIDTH = 820;
const NAME_LETTER = 7.4;
const BOLD_LETTER = 7;
// A score just beyond the axis is drawn at its end.
const TOLERANCE = 0.02;
const DOT_LETTER = 6.6;
const NAME_SLANT = 60;
const LINE_ROOM = 15;
const NOTE_ROOM = { x: 44, y: 14 };
const DOT_EDGES = { top: 30, left: 34, right: 12 };

// Dots with their intervals on one axis: a row per record, in named bands. Where `upright` ones fit, each record is a column
// instead, drawn as a row and turned, so that both ways show the same marks.
/** @param {DotChart} chart */
export const dotChart = (chart) =>
  drawnToWidth(element("div", { class: "plot dots" }), (width) => {
    const count = chart.bands.reduce((sum, { rows }) => sum + rows.length, 0);
    const plan = chart.upright ? uprightPlan(chart, count, width) : null;
    return dotDrawing(chart, plan ?? rowPlan(chart, width));
  });

/**
 * A plan places marks along the axis (`u`) and across it (`v`), and texts on the page.
 * @typedef {{ isUpright: boolean, width: number, height: number, length: number, depth: number, step: number, transform: string, bandRoom: number, taken: { x: number, y: number }[], place: (u: number, v: number) => { x: number, y: number } }} Plan
 */

/** @param {DotChart} chart @param {number} room @returns {Plan} */
function rowPlan({ bands, lines = [], signed }, room) {
  const width = Math.min(room, MOST_WIDTH);
  const rows = bands.flatMap((band) => band.rows);
  const left = Math.min(240, width * 0.42, 16 + NAME_LETTER * Math.max(...rows.map(({ label }) => label.length)));
  const right = 12 + DOT_LETTER * Math.max(4, ...rows.map((row) => rowText(row).length));
  const bandRoom = bands.some(({ name }) => name) ? BAND_ROOM : 0;
  const top = DOT_EDGES.top + LINE_ROOM * lines.length;
  const depth = MARK_ROW * rows.length + bandRoom * bands.length;
  return {
    isUpright: false,
    width,
    height: top + depth + (signed ? 4 : 0),
    length: Math.max(40, width - left - right),
    depth,
    step: MARK_ROW,
    bandRoom,
    taken: [],
    transform: `translate(${left} ${top})`,
    place: (u, v) => ({ x: left + u, y: top + v }),
  };
}

// Null if the columns would be too narrow.
/** @param {DotChart} chart @param {number} count @param {number} width @returns {Plan | null} */
function uprightPlan({ bands, lines = [] }, count, width) {
  const letters = Math.max(...bands.flatMap(({ rows }) => rows.map(({ label }) => label.length)));
  const right = lines.length ? 10 + DOT_LETTER * Math.max(...lines.map(({ label }) => label.length)) : DOT_EDGES.right;
  // Slanted names begin left of their columns.
  const left = Math.max(DOT_EDGES.left, 0.5 * DOT_LETTER * (bands[0]?.rows[0]?.label.length ?? 0));
  const step = Math.min(DOT_STEP.most, (width - left - right) / count);
  if (step < DOT_STEP.least) return null;
  const top = bands.some(({ name }) => name) ? 44 : 22;
  const base = top + PLOT_HEIGHT;
  return {
    isUpright: true,
    width,
    height: base + 16 + DOT_LETTER * letters * Math.sin((NAME_SLANT * Math.PI) / 180),
    length: PLOT_HEIGHT,
    depth: step * count,
    step,
    bandRoom: 0,
    taken: [],
    transform: `translate(${left} ${base}) rotate(-90)`,
    place: (u, v) => ({ x: left + v, y: base - u }),
  };
}

/** @param {DotRow} row */
const rowText = ({ text = "", note }) => (note ? `${text} (${note})` : text);

/** @param {DotChart} chart @param {Plan} plan */
function dotDrawing({ bands, scale, lines = [], description, signed }, plan) {
  const [from, to] = scale;
  /** @param {number} value */
  const u = (value) => Math.min(1, Math.max(0, (value - from) / (to - from || 1))) * plan.length;
  const { width, height } = plan;
  // Print scales the drawing to the page.
  const viewBox = `0 0 ${width} ${height}`;
  const svg = drawn("svg", { width, height, viewBox, role: "group", "aria-label": description });
  svg.append(dotAxis(scale, u, plan, signed ?? false));
  let v = 0;
  bands.forEach(({ name, rows }, at) => {
    if (name) svg.append(bandHead(name, v, rows.length, plan, at));
    v += plan.bandRoom;
    for (const row of rows) {
      svg.append(markRow(row, v + plan.step / 2, u, scale, plan));
      v += plan.step;
    }
  });
  svg.append(...lines.flatMap((line, at) => referenceLine(line, at, u, lines, plan)));
  return svg;
}

/** @param {Interval} scale @param {(value: number) => number} u @param {Plan} plan @param {boolean} signed */
function dotAxis(scale, u, plan, signed) {
  const ticks = niceTicks(...scale, Math.max(2, Math.min(6, plan.length / 45)));
  const words = ticks.map((tick) => {
    const at = plan.place(u(tick), 0);
    const text = signed && tick > 0 ? `+${tick}` : String(tick).replace("-", "−");
    return plan.isUpright
      ? drawn("text", { x: at.x - 6, y: at.y + 4, "text-anchor": "end" }, text)
      : drawn("text", { x: at.x, y: DOT_EDGES.top - 14, "text-anchor": "middle" }, text);
  });
  const grid = ticks.map((tick) => drawn("line", { x1: u(tick), x2: u(tick), y1: 0, y2: plan.depth, class: "grid" }));
  return drawn("g", {}, words, drawn("g", { transform: plan.transform }, grid));
}

// Upright bands have a ruled name above their columns, in two lines if it has two words and little room.
/** @param {string} name @param {number} v @param {number} count @param {Plan} plan @param {number} at */
function bandHead(name, v, count, plan, at) {
  const { x, y } = plan.place(plan.isUpright ? plan.length : 0, v);
  if (!plan.isUpright) return drawn("text", { x: 0, y: y + 17, class: "family" }, name);
  const room = count * plan.step - 4;
  const fits = (/** @type {string} */ text) => text.length * BOLD_LETTER <= room;
  const words = fits(name) ? [name] : name.split(/(?<=[- ])/);
  const shown = words.map((word) =>
    fits(word) ? word : `${word.slice(0, Math.max(1, Math.floor(room / BOLD_LETTER) - 1))}…`,
  );
  const line = drawn("line", {
    x1: x + 2,
    x2: x + room + 2,
    y1: y - 10,
    y2: y - 10,
    class: at % 2 ? "band-line" : "band-line odd",
  });
  const texts = shown
    .slice(0, 2)
    .map((word, index) =>
      drawn("text", { x: x + 2, y: y - 17 - 13 * (Math.min(2, shown.length) - 1 - index), class: "family" }, word),
    );
  return withTip(drawn("g", {}, line, texts), () => [name]);
}

/** @param {DotRow} row @param {number} v @param {(value: number) => number} u @param {Interval} scale @param {Plan} plan */
function markRow(row, v, u, [from, to], plan) {
  const { label, href, figure, ring, others = [], sure = true, lines } = row;
  const marks = drawn(
    "g",
    { transform: plan.transform },
    drawn("rect", { x: 0, y: v - plan.step / 2, width: plan.length, height: plan.step, class: "hit" }),
    others.map((value) => drawn("circle", { cx: u(value), cy: v, r: 2, class: "others" })),
    figure ? intervalMark(figure, u, v, { sure }) : null,
    missing(ring) ? null : drawn("circle", { cx: u(ring), cy: v, r: 6.5, class: "ring" }),
  );
  const beyond = TOLERANCE * (to - from);
  const isOff = figure && (figure.value < from - beyond || figure.value > to + beyond);
  const texts = plan.isUpright
    ? uprightTexts(row, isOff ? (row.note ?? row.text ?? "") : (row.note ?? ""), v, u, plan)
    : rowTexts(row, v, plan);
  const node = drawn(href ? "a" : "g", { href }, marks, texts);
  // Columns do not show all that rows do; visible words come first in a name.
  if (plan.isUpright) node.setAttribute("aria-label", [label, row.note, row.text].filter(Boolean).join(" "));
  if (!href) node.setAttribute("role", "img");
  return withTip(node, () => lines);
}

/** @param {DotRow} row @param {number} v @param {Plan} plan */
function rowTexts(row, v, plan) {
  const { x, y } = plan.place(0, v);
  const most = Math.floor((x - 12) / NAME_LETTER);
  const label = row.label.length > most ? `${row.label.slice(0, most - 1)}…` : row.label;
  return [
    // The space parts the words of the link's name.
    drawn("text", { x: x - 10, y: y + 4, "text-anchor": "end" }, `${label} `),
    drawn(
      "text",
      { x: plan.width - 2, y: y + 4, "text-anchor": "end", class: row.note ? "value noted" : "value" },
      rowText(row),
    ),
  ];
}

/** @param {DotRow} row @param {string} note @param {number} v @param {(value: number) => number} u @param {Plan} plan */
function uprightTexts(row, note, v, u, plan) {
  const name = plan.place(0, v);
  const low = plan.place(row.figure ? u(row.figure.low ?? row.figure.value) : 0, v);
  return [
    drawn(
      "text",
      {
        x: name.x + 4,
        y: name.y + 14,
        "text-anchor": "end",
        transform: `rotate(-${NAME_SLANT} ${name.x + 4} ${name.y + 14})`,
      },
      `${row.label} `,
    ),
    note ? drawn("text", { ...freePlace(low.x, low.y + 18, plan), "text-anchor": "middle", class: "noted" }, note) : null,
  ];
}

// A place for a direct label, below those of neighbouring columns.
/** @param {number} x @param {number} y @param {Plan} plan */
function freePlace(x, y, { taken }) {
  const place = { x, y };
  /** @param {{ x: number, y: number }} other */
  const isNear = (other) => Math.abs(other.x - x) < NOTE_ROOM.x && Math.abs(other.y - place.y) < NOTE_ROOM.y;
  for (let near = taken.find(isNear); near; near = taken.find(isNear)) place.y = near.y + NOTE_ROOM.y;
  taken.push(place);
  return place;
}

// A labelled line across all records; labels keep apart.
/** @param {DotLine} line @param {number} at @param {(value: number) => number} u @param {DotLine[]} all @param {Plan} plan */
function referenceLine({ value, label }, at, u, all, plan) {
  const line = drawn("line", {
    x1: u(value),
    x2: u(value),
    y1: plan.isUpright ? 0 : -4,
    y2: plan.depth,
    class: at ? "mean-line second" : "mean-line",
  });
  const above = all.filter((other) => other.value > value || (other.value === value && all.indexOf(other) < at));
  const text = plan.isUpright
    ? { x: plan.place(0, plan.depth).x + 6, y: keptApart(all, u, plan)[at] + 4, "text-anchor": "start" }
    : lineLabelPlace(plan.place(u(value), 0).x, label, above.length, plan);
  return [drawn("g", { transform: plan.transform }, line), drawn("text", { ...text, class: "label" }, label)];
}

// Above the rows, on the side of the line that has room.
/** @param {number} x @param {string} label @param {number} level @param {Plan} plan */
function lineLabelPlace(x, label, level, { width }) {
  const y = DOT_EDGES.top - 14 + LINE_ROOM * (1 + level);
  return x + 4 + NAME_LETTER * label.length <= width
    ? { x: x + 4, y, "text-anchor": "start" }
    : { x: x - 4, y, "text-anchor": "end" };
}

// Heights of the labels of lines, at least a line of text apart.
/** @param {DotLine[]} lines @param {(value: number) => number} u @param {Plan} plan @returns {number[]} */
function keptApart(lines, u, plan) {
  const wanted = lines.map(({ value }) => plan.place(u(value), 0).y);
  const order = wanted.map((_, at) => at).sort((a, b) => wanted[a] - wanted[b]);
  let last = -Infinity;
  const heights = [...wanted];
  for (const at of order) heights[at] = last = Math.max(wanted[at], last + LINE_ROOM);
  return heights;
}

// What the marks mean.
/** @param {{ dot?: string, hasIntervals?: boolean, ring?: string, others?: string }} words */
export function dotLegend({ dot, hasIntervals = true, ring, others }) {
  const ends = hasIntervals ? { low: 2, high: 24 } : {};
  /** @param {string} text @param {...SVGElement} marks */
  const entry = (text, ...marks) =>
    element(
      "span",
      {},
      drawn("svg", { width: 26, height: 16, class: "dots-key", "aria-hidden": "true" }, ...marks),
      text,
    );
  return element(
    "p",
    { class: "legend dots" },
    dot ? entry(dot, intervalMark({ value: 13, ...ends }, (value) => value, 8)) : null,
    ring ? entry(ring, drawn("circle", { cx: 13, cy: 8, r: 6.5, class: "ring" })) : null,
    others ? entry(others, ...[5, 11, 19].map((cx) => drawn("circle", { cx, cy: 8, r: 2, class: "others" }))) : null,
  );
}
