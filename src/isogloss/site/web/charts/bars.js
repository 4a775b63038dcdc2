import { roundTicks } from "./figure_scale.js";
import { intervalMark } from "./interval.js";
import { fittedText, textWidth } from "./text_width.js";
import { countText, drawn, drawnToWidth, element, listen, missing, scoreText, signedText } from "../page/dom.js";
import { withTip } from "../page/tips.js";

const BAR_ROW = 28;
const BAR_TOP = 24;
const BAR_GAP = 10;
const TICK_ROOM = 46;
// Share of the width for labels; a longer one is cut, and its tip has all of it.
const LABEL_SHARE = 0.36;
// Narrower charts leave out the numbers of examples, which the tips have.
const LEAST_WITH_COUNTS = 360;
const SCALE_ENDS = [5, 10, 20, 30, 50, 75, 100];
const DOT_TENS = 10;
const LEAST_TENS = 2;
/** @type {Record<string, string>} */
export const MARK_WORDS = { top: "best", low: "worst" };

// The scale that charts share: 0 to a limit, or the same distance on both sides of zero for differences.
/** @param {BarRecord[]} records @param {boolean} [signed] @returns {Interval} */
export function sharedScale(records, signed = false) {
  const ends = records.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => !missing(value));
  const most = Math.max(0, ...ends.map(Math.abs));
  const limit = SCALE_ENDS.find((end) => end >= most - 1e-9) ?? 100 * Math.ceil(most / 100);
  return signed || ends.some((end) => end < -1e-9) ? [-limit, limit] : [0, limit];
}

// The scale of dots, which need no zero: whole tens around all intervals, at least a few of them.
/** @param {BarRecord[]} records @returns {Interval} */
export function dotScale(records) {
  const ends = records.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => !missing(value));
  if (!ends.length || Math.min(...ends) < 0) return sharedScale(records, ends.length > 0);
  const [low, high] = [Math.floor(Math.min(...ends) / DOT_TENS), Math.ceil(Math.max(...ends) / DOT_TENS)];
  const from = Math.max(0, Math.min(low, high - LEAST_TENS));
  return [DOT_TENS * from, DOT_TENS * Math.max(high, from + LEAST_TENS)];
}

// One row per record: label, number of examples, a dot on its 95 % interval, and the value, on one labelled axis. With
// `shares`, bars instead of dots: counts have no interval. Differences that are not significant (`sure` false) are grey.
// `click` receives a record that stands for examples. `alike` are the records of all charts of the page, so that their
// columns and axes have the same places.
/**
 * @param {{ records: BarRecord[], description: string, signed?: boolean, shares?: boolean, lower?: boolean, scale?: Interval, alike?: BarRecord[], click?: ((record: any) => void) | null }} options
 */
export function barChart(options) {
  const { records, description, signed = false, click } = options;
  const scale = options.scale ?? sharedScale(records, signed);
  return drawnToWidth(element("div", { class: "plot bars" }), (width) => {
    const room = columnsOf(options.alike ?? records, signed, scale, width);
    const height = BAR_TOP + BAR_ROW * records.length;
    /** @param {number} value */
    const x = (value) =>
      room.from + ((Math.min(scale[1], Math.max(scale[0], value)) - scale[0]) / (scale[1] - scale[0])) * room.wide;
    return drawn(
      "svg",
      { width, height, role: "group", "aria-label": description },
      axisLines(scale, x, room, height),
      records.map((record, at) => {
        const node = barRow(record, BAR_TOP + BAR_ROW * at, x, room, { ...options, width });
        return withTip(reachable(node, record, click), () => record.lines);
      }),
    );
  });
}

/** @param {number} tick */
const tickText = (tick) => String(tick).replace("-", "−");

// The places of the columns: labels, numbers of examples, axis, values.
/** @param {BarRecord[]} records @param {boolean} signed @param {Interval} scale @param {number} width */
function columnsOf(records, signed, scale, width) {
  const labels = Math.min(LABEL_SHARE * width, Math.max(...records.map(({ label }) => textWidth(label)), 24));
  const counts = width >= LEAST_WITH_COUNTS && records.some(({ n }) => n !== undefined)
    ? Math.max(...records.map(({ n }) => textWidth(countText(n))), 10)
    : 0;
  const values = Math.max(...records.map((record) => textWidth(valueText(record, signed), true)));
  // The first tick's label is centred on the beginning of the axis.
  const from = labels + (counts ? counts + BAR_GAP : 0) + 1.2 * BAR_GAP + textWidth(tickText(scale[0])) / 2;
  return { labels, counts, from, wide: Math.max(40, width - from - values - 1.5 * BAR_GAP) };
}

/** @param {BarRecord} record @param {boolean} signed */
const valueText = ({ value, mark }, signed) =>
  [MARK_WORDS[mark ?? ""], signed ? signedText(value) : scoreText(value)].filter(Boolean).join(" ");

// Both ends and zero where there is no room for round steps between.
/** @param {Interval} scale @param {number} wide */
function ticksOf(scale, wide) {
  const ticks = roundTicks(...scale, Math.max(2, Math.floor(wide / TICK_ROOM)));
  if (ticks.length > 1 && (scale[0] >= 0 || ticks.length > 2)) return ticks;
  return [...new Set([scale[0], Math.max(0, scale[0]), scale[1]])];
}

/** @param {Interval} scale @param {(value: number) => number} x @param {{ labels: number, counts: number, wide: number }} room @param {number} height */
const axisLines = (scale, x, room, height) => [
  room.counts
    ? drawn("text", { x: room.labels + BAR_GAP + room.counts, y: 13, "text-anchor": "end", class: "soft" }, "n")
    : null,
  ticksOf(scale, room.wide).map((tick) => [
    drawn("line", { x1: x(tick), x2: x(tick), y1: 18, y2: height, class: tick ? "grid" : "grid zero" }),
    drawn("text", { x: x(tick), y: 13, "text-anchor": "middle" }, tickText(tick)),
  ]),
];

/**
 * @param {BarRecord} record
 * @param {number} top
 * @param {(value: number) => number} x
 * @param {{ labels: number, counts: number }} room
 * @param {{ signed?: boolean, shares?: boolean, lower?: boolean, width: number }} look
 */
function barRow(record, top, x, room, { signed = false, shares = false, lower = false, width }) {
  const { label, value, n, mark } = record;
  const y = top + BAR_ROW / 2;
  const shown = fittedText(label, room.labels);
  const count = room.counts ? countText(n) : "";
  const text = valueText(record, signed);
  const below = signed && (lower ? value > 0 : value < 0);
  return drawn(
    "g",
    {
      class: ["bar", below ? "below" : "", mark].filter(Boolean).join(" "),
      tabindex: "0",
      // The name begins with what can be seen.
      "aria-label": [shown, count, text, shown === label ? "" : `(${label})`].filter(Boolean).join(" "),
    },
    drawn("rect", { class: "ground", x: 0, y: top, width, height: BAR_ROW, rx: 4 }),
    drawn("text", { x: 0, y: y + 4, class: "label" }, shown),
    " ",
    room.counts
      ? drawn(
          "text",
          { x: room.labels + BAR_GAP + room.counts, y: y + 4, "text-anchor": "end", class: "soft" },
          count,
        )
      : null,
    shares
      ? drawn("rect", { class: "share", x: x(0), width: Math.max(1, x(value) - x(0)), y: y - 7, height: 14, rx: 2 })
      : intervalMark(record, x, y, { sure: record.sure ?? true }),
    " ",
    drawn("text", { x: width - 2, y: y + 4, "text-anchor": "end", class: "value" }, text),
  );
}

// A row is a button if it lists examples, otherwise an image with a label.
/** @param {Element} row @param {BarRecord} record @param {((record: any) => void) | null | undefined} click */
function reachable(row, record, click) {
  const lists = click && record.lists !== false;
  row.setAttribute("role", lists ? "button" : "img");
  if (!lists) return row;
  row.setAttribute("aria-label", `${row.getAttribute("aria-label")}. Show examples`);
  listen(row, "click", () => click(record));
  listen(row, "keydown", (/** @type {any} */ event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    click(record);
  });
  return row;
}
