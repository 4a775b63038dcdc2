import { drawn, drawnToWidth, element, missing } from "../page/dom.js";
import { arrowKeys } from "../page/keys.js";
import { intervalMark } from "./interval.js";
import { niceTicks } from "./plots.js";
import { fittedText, textWidth } from "./text_width.js";
import { withTip } from "../page/tips.js";

const MARK_ROW = 24;
const BAND_ROOM = 24;
const PLOT_HEIGHT = 250;
const DOT_STEP = { least: 20, most: 120 };
// Rows stay short enough to read a value beside its name.
const MOST_WIDTH = 820;
// Long charts stand in columns side by side; fewer rows than the least do not begin a band at the end of a column.
const MANY_ROWS = 60;
const DOTS_WIDTH = 440;
const DOTS_GAP = 32;
const LEAST_PART = 4;
// A score just beyond the axis is drawn at its end.
const TOLERANCE = 0.02;
const NAME_SLANT = (60 * Math.PI) / 180;
// Space around texts, from their marks and from each other.
const GAP = 10;
// Half the length of the bar that marks the score to compare with: it crosses intervals and hides none.
const GOAL = 8;
const LINE_ROOM = 15;
const NOTE_ROOM = { x: 44, y: 14 };
const DOT_EDGES = { top: 30, left: 34, right: 12 };
const MOST_NAME = 300;

/** @param {string[]} texts @param {boolean} [strong] */
const widest = (texts, strong) => Math.max(0, ...texts.map((text) => textWidth(text, strong)));

// Dots with their intervals on one axis: a row per record, in named bands. Where `upright` ones fit, each record is a column
// instead, drawn as a row and turned, so that both ways show the same marks.
/** @param {DotChart} given */
export const dotChart = (given) => {
  const chart = { ...given, scale: wholeAxis(given) };
  return drawnToWidth(element("div", { class: "plot dots" }), (width) => {
    const count = chart.bands.reduce((sum, { rows }) => sum + rows.length, 0);
    const plan = chart.upright ? uprightPlan(chart, count, width) : null;
    if (plan) return dotDrawing(chart, plan);
    const columns = count < MANY_ROWS ? 1 : Math.max(1, Math.floor(width / DOTS_WIDTH));
    const room = (width - DOTS_GAP * (columns - 1)) / columns;
    const rows = chart.bands.flatMap((band) => band.rows);
    const drawings = dividedBands(chart.bands, columns).map((bands) => dotDrawing({ ...chart, bands }, rowPlan({ ...chart, bands }, rows, room)));
    return columns > 1 ? sideBySide(drawings, room + DOTS_GAP, width, chart.description) : drawings[0];
  });
};

// The axis, up to the tens that hold the intervals of the scores on it.
/** @param {Pick<DotChart, "bands" | "scale">} chart @returns {Interval} */
export function wholeAxis({ bands, scale: [from, to] }) {
  const beyond = TOLERANCE * (to - from);
  const ends = bands
    .flatMap(({ rows }) => rows)
    .flatMap(({ figure }) =>
      figure && figure.value >= from - beyond && figure.value <= to + beyond ? [figure.low ?? from, figure.high ?? to] : [],
    );
  const [least, most] = [Math.min(from, ...ends), Math.max(to, ...ends)];
  return [least < from ? 10 * Math.floor(least / 10) : from, most > to ? 10 * Math.ceil(most / 10) : to];
}

// Rows in columns of about the same height; the parts of a band all have its name.
/** @param {DotBand[]} bands @param {number} columns @returns {DotBand[][]} */
export function dividedBands(bands, columns) {
  if (columns === 1) return [bands];
  const most = Math.ceil((bands.reduce((sum, { rows }) => sum + rows.length + 1, 0) + columns) / columns);
  /** @type {DotBand[][]} */
  const parts = [[]];
  let free = most;
  for (const { name, rows } of bands)
    for (let from = 0; from < rows.length; ) {
      if (free < LEAST_PART && parts.length < columns) {
        parts.push([]);
        free = most;
      }
      const taken = parts.length < columns ? rows.slice(from, from + free - 1) : rows.slice(from);
      parts.at(-1)?.push({ name, rows: taken });
      from += taken.length;
      free -= taken.length + 1;
    }
  return parts;
}

/** @param {SVGElement[]} drawings @param {number} step @param {number} width @param {string} description */
function sideBySide(drawings, step, width, description) {
  const height = Math.max(...drawings.map((drawing) => Number(drawing.getAttribute("height"))));
  drawings.forEach((drawing, at) => {
    drawing.setAttribute("x", String(at * step));
    drawing.removeAttribute("role");
    drawing.removeAttribute("aria-label");
  });
  return drawn("svg", { width, height, role: "group", "aria-label": description }, drawings);
}

/**
 * A plan places marks along the axis (`u`) and across it (`v`), and texts on the page. Wide columns have names that lie flat,
 * and values.
 * @typedef {{ isUpright: boolean, width: number, height: number, length: number, depth: number, step: number, transform: string, bandRoom: number, taken: { x: number, y: number }[], place: (u: number, v: number) => { x: number, y: number }, isFlat?: boolean, hasValues?: boolean }} Plan
 */

// `all` rows of the chart, of which the plan has some, have the same room for their texts.
/** @param {DotChart} chart @param {DotRow[]} all @param {number} room @returns {Plan} */
function rowPlan({ bands, lines = [], signed }, all, room) {
  const width = Math.min(room, MOST_WIDTH);
  const count = bands.reduce((sum, { rows }) => sum + rows.length, 0);
  const left = Math.min(MOST_NAME, width * 0.42, GAP + 6 + widest(all.map(({ label }) => label)));
  const right = GAP + 4 + widest(["100", ...all.map(rowText)], true);
  const bandRoom = bands.some(({ name }) => name) ? BAND_ROOM : 0;
  const top = DOT_EDGES.top + LINE_ROOM * lines.length;
  const depth = MARK_ROW * count + bandRoom * bands.length;
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
  const rows = bands.flatMap((band) => band.rows);
  const names = rows.map(({ label }) => textWidth(label));
  const right = lines.length ? GAP + widest(lines.map(({ label }) => label)) : DOT_EDGES.right;
  /** @param {number} left */
  const stepFrom = (left) => Math.min(DOT_STEP.most, (width - left - right) / count);
  const isFlat = Math.max(...names) + GAP <= stepFrom(DOT_EDGES.left);
  // Slanted names begin left of their columns.
  const overhang = names.map((name, at) => name * Math.cos(NAME_SLANT) + GAP - (at + 0.5) * stepFrom(DOT_EDGES.left));
  const left = isFlat ? DOT_EDGES.left : Math.max(DOT_EDGES.left, ...overhang);
  const step = stepFrom(left);
  if (step < DOT_STEP.least) return null;
  const top = bands.some(({ name }) => name) ? 44 : 22;
  const base = top + PLOT_HEIGHT;
  return {
    isUpright: true,
    isFlat,
    hasValues: 2 * (widest(rows.map(({ text = "" }) => text)) + GAP) <= step,
    width,
    height: base + (isFlat ? 24 : 22 + Math.max(...names) * Math.sin(NAME_SLANT)),
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
  const svg = drawn("svg", { width, height, role: "group", "aria-label": description, class: plan.isUpright ? "upright" : null });
  svg.append(dotAxis(scale, u, plan, signed ?? false), ...lines.flatMap((line, at) => referenceLine(line, at, u, lines, plan)));
  let v = 0;
  bands.forEach(({ name, rows }, at) => {
    if (name) svg.append(bandHead(name, v, rows.length, plan, at));
    v += plan.bandRoom;
    for (const row of rows) {
      svg.append(markRow(row, v + plan.step / 2, u, scale, plan));
      v += plan.step;
    }
  });
  arrowKeys(svg);
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
  const width = (/** @type {string} */ text) => textWidth(text, true);
  const words = width(name) <= room ? [name] : name.split(/(?<=[- ])/);
  const shown = words.map((word) => fittedText(word, room, width));
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
  const { href, figure, goal, others = [], sure = true, lines } = row;
  const marks = drawn(
    "g",
    { transform: plan.transform },
    drawn("rect", { x: 0, y: v - plan.step / 2, width: plan.length, height: plan.step, class: "hit" }),
    others.map((value) => drawn("circle", { cx: u(value), cy: v, r: 2, class: "others" })),
    missing(goal) ? null : drawn("path", { d: `M${u(goal)} ${v - GOAL}v${2 * GOAL}`, class: "goal" }),
    figure ? intervalMark(figure, u, v, { sure }) : null,
  );
  const beyond = TOLERANCE * (to - from);
  const isOff = figure && (figure.value < from - beyond || figure.value > to + beyond);
  const texts = plan.isUpright
    ? uprightTexts(row, isOff ? (row.note ?? row.text ?? "") : (row.note ?? ""), v, u, plan)
    : rowTexts(row, v, plan);
  const node = drawn(href ? "a" : "g", { href }, marks, texts);
  if (plan.isUpright) node.setAttribute("aria-label", uprightName(row, texts));
  if (!href) node.setAttribute("role", "img");
  return withTip(node, () => lines);
}

// Columns do not show all that rows do: a name has the visible words, in their order, and then the others.
/** @param {DotRow} row @param {(Element | null)[]} texts */
function uprightName({ note, text }, texts) {
  const visible = texts.map((node) => node?.textContent?.trim());
  return [...visible, ...[note, text].filter((words) => !visible.includes(words))].filter(Boolean).join(" ");
}

/** @param {DotRow} row @param {number} v @param {Plan} plan */
function rowTexts(row, v, plan) {
  const { x, y } = plan.place(0, v);
  return [
    // The space parts the words of the link's name.
    drawn("text", { x: x - 10, y: y + 4, "text-anchor": "end" }, `${fittedText(row.label, x - 12)} `),
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
  const slanted = {
    x: name.x + 4,
    y: name.y + 14,
    "text-anchor": "end",
    transform: `rotate(-60 ${name.x + 4} ${name.y + 14})`,
  };
  const flat = { x: name.x, y: name.y + 18, "text-anchor": "middle" };
  const value = plan.place(row.figure ? u(row.figure.value) : 0, v);
  const isOff = plan.hasValues && note === row.text;
  return [
    // The spaces part the words of the link's name.
    drawn("text", plan.isFlat ? flat : slanted, `${row.label} `),
    plan.hasValues && row.figure && !isOff
      ? drawn("text", { x: value.x + GAP, y: value.y + 4, class: "own" }, `${row.text ?? ""} `)
      : null,
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
  return x + 4 + textWidth(label) <= width
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
/** @param {{ dot?: string, hasIntervals?: boolean, goal?: string, others?: string }} words */
export function dotLegend({ dot, hasIntervals = true, goal, others }) {
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
    goal ? entry(goal, drawn("path", { d: "M13 1v14", class: "goal" })) : null,
    others ? entry(others, ...[5, 11, 19].map((cx) => drawn("circle", { cx, cy: 8, r: 2, class: "others" }))) : null,
  );
}
