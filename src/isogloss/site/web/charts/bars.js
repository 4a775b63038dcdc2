import { drawn, drawnToWidth, element, listen, missing, scoreText, signedText } from "../page/dom.js";
import { niceTicks } from "./plots.js";
import { withTip } from "../page/tips.js";

const TOP_ROOM = 20;
const BOTTOM_ROOM = 50;
const CHART_HEIGHT = 220;
const LETTER_ROOM = 7;
// Minimum width per bar so that labels do not overlap; wide charts scroll.
const LEAST_STEP = 48;
const MANY = 8;
/** @param {string} text @param {number} width */
const fits = (text, width) => text.length * LETTER_ROOM <= width;

const ALIKE = 1e-9;

// The classes of the highest and lowest records with an interval, tied ones alike; none if all are equal.
/** @param {BarRecord[]} records @param {boolean} lower @returns {Map<BarRecord, string>} */
export function extremes(records, lower) {
  const scored = records.filter(({ low }) => !missing(low));
  const values = scored.map(({ value }) => value);
  const [top, bottom] = [Math.max(...values), Math.min(...values)];
  if (top - bottom < ALIKE) return new Map();
  /** @param {number} end @param {string} name @returns {[BarRecord, string][]} */
  const near = (end, name) =>
    scored.filter(({ value }) => Math.abs(value - end) < ALIKE).map((record) => [record, name]);
  return new Map([...near(top, lower ? "low" : "top"), ...near(bottom, lower ? "top" : "low")]);
}

// A bar with whiskers per record (label, value, low, high, n, tip lines); `click` receives the record. Signed bars are
// coloured by the better system. `most` is the minimum top of the scale, so that charts can share one.
/**
 * @param {{ records: BarRecord[], description: string, signed?: boolean, marked?: boolean, lower?: boolean, most?: number, click?: ((record: any) => void) | null }} options
 */
export function barChart({ records, description, signed = false, marked = false, lower = false, most = 0, click }) {
  const place = element("div", { class: records.length > MANY ? "plot bars many" : "plot bars" });
  const ends = records.flatMap(({ value, low, high }) => [value, low, high]).filter((value) => !missing(value));
  const top = Math.max(...ends, most, signed ? 1 : 10);
  const bottom = signed ? Math.min(...ends, -1) : 0;
  const marks = marked ? extremes(records, lower) : new Map();
  /** @param {BarRecord} options */
  const isBelow = ({ value }) => signed && (lower ? value > 0 : value < 0);
  /** @param {BarRecord} record */
  const className = (record) =>
    ["bar", isBelow(record) ? "below" : "", marks.get(record)].filter(Boolean).join(" ");
  return drawnToWidth(place, (full) => {
    const width = Math.max(44 + records.length * LEAST_STEP, Math.min(full, 90 + records.length * 120));
    const step = (width - 44) / records.length;
    // If one label does not fit, all bars use short names.
    const wide = records.every(({ label }) => fits(label, step));
    /** @param {Maybe<number>} value */
    const y = (value) =>
      TOP_ROOM + (1 - ((value ?? NaN) - bottom) / (top - bottom)) * (CHART_HEIGHT - TOP_ROOM - BOTTOM_ROOM);
    /** @param {BarRecord} record @param {number} at */
    const bar = (record, at) => {
      const label = wide ? record.label : (record.name ?? record.label);
      const node = oneBar({ ...record, label }, 44 + step * (at + 0.5), step, y, signed);
      node.setAttribute("class", className(record));
      return withTip(reachable(node, record, click), () => record.lines);
    };
    return drawn(
      "svg",
      { width, height: CHART_HEIGHT, role: "group", "aria-label": description },
      niceTicks(bottom, top, 4).map((at) => [
        drawn("line", { x1: 40, x2: width, y1: y(at), y2: y(at), class: "grid" }),
        drawn("text", { x: 34, y: y(at) + 4, "text-anchor": "end" }, String(at)),
      ]),
      records.map(bar),
    );
  });
}

// A bar is a button if it can be clicked, otherwise an image with a label.
/** @param {Element} bar @param {BarRecord} record @param {((record: any) => void) | null | undefined} click */
function reachable(bar, record, click) {
  bar.setAttribute("role", click ? "button" : "img");
  if (!click) {
    bar.setAttribute("aria-label", `${record.label}: ${scoreText(record.value)}`);
    return bar;
  }
  listen(bar, "click", () => click(record));
  listen(bar, "keydown", (/** @type {any} */ event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    click(record);
  });
  return bar;
}

/**
 * @param {BarRecord} record
 * @param {number} middle
 * @param {number} step
 * @param {(value: Maybe<number>) => number} y
 * @param {boolean} signed
 */
function oneBar(record, middle, step, y, signed) {
  const { label, value, low, high, n } = record;
  return drawn(
    "g",
    { tabindex: "0" },
    drawn("rect", {
      x: middle - step * 0.32,
      width: step * 0.64,
      y: Math.min(y(value), y(0)),
      height: Math.max(1, Math.abs(y(value) - y(0))),
    }),
    missing(low)
      ? null
      : drawn("path", {
          class: "whisker",
          d: `M${middle} ${y(low)}V${y(high)}M${middle - 5} ${y(low)}h10M${middle - 5} ${y(high)}h10`,
        }),
    drawn(
      "text",
      {
        x: middle,
        y: Math.min(y(value), y(missing(high) ? value : high), y(0)) - 5,
        "text-anchor": "middle",
        class: "value",
      },
      signed ? signedText(value) : scoreText(value),
    ),
    drawn(
      "text",
      { x: middle, y: CHART_HEIGHT - 30, "text-anchor": "middle" },
      fits(label, step) ? label : `${label.slice(0, Math.max(2, Math.floor(step / LETTER_ROOM) - 1))}…`,
    ),
    drawn(
      "text",
      { x: middle, y: CHART_HEIGHT - 14, "text-anchor": "middle", class: "soft" },
      n === undefined ? "" : `n ${n}`,
    ),
  );
}
