import { textWidth } from "../charts/text_width.js";
import { digitsText, drawn, drawnToWidth, element, missing } from "../page/dom.js";

const STRIP = { height: 58, floor: 40, bins: 48, side: 12 };
/** @type {Record<string, number>} */
const STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -1e6,
  End: 1e6,
};
// Values beyond this share are not drawn: outliers would squeeze the rest.
const DRAWN_SHARE = 0.99;
// Leave out a label this close to the last one; the text field lists all edges.
const LABEL_ROOM = 8;

// The numbers that occur, and the range to draw.
/** @param {ValueColumn} column @param {Float64Array} counts */
function distribution(column, counts) {
  const numbers = column.values
    .map((value, at) => ({ value, count: counts[at] }))
    .filter(({ value, count }) => !missing(value) && count > 0);
  const total = numbers.reduce((sum, { count }) => sum + count, 0);
  let seen = 0;
  const last = numbers.find(({ count }) => (seen += count) >= DRAWN_SHARE * total);
  const from = numbers[0]?.value ?? 0;
  return { numbers, from, to: last && last.value > from ? last.value : from + 1 };
}

// Keep an edge between its neighbours, on a value that occurs, with at least one value above it; null if it stays.
/**
 * @param {{ value: number, count: number }[]} numbers
 * @param {number[]} edges
 * @param {number} at
 * @param {number} wanted
 */
export function movedEdges(numbers, edges, at, wanted) {
  const [low, high] = [edges[at - 1] ?? -Infinity, edges[at + 1] ?? numbers.at(-1).value];
  const free = numbers.map(({ value }) => value).filter((value) => value > low && value < high);
  if (!free.length) return null;
  const nearest = free.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best));
  return nearest === edges[at] ? null : edges.map((edge, other) => (other === at ? nearest : edge));
}

/** @param {{ value: number, count: number }[]} numbers @param {number} edge @param {number} steps */
function steppedValue(numbers, edge, steps) {
  const here = numbers.findIndex(({ value }) => value >= edge);
  const to = (here < 0 ? numbers.length - 1 : here) + steps;
  return numbers[Math.min(numbers.length - 1, Math.max(0, to))].value;
}

// A number without an exponent, which attributes of sliders do not allow.
/** @param {number} value */
const decimalText = (value) => (value && Math.abs(value) < 1e-6 ? value.toFixed(20) : String(value));

// The distribution of an attribute's values with a handle at each edge; `moved` receives the new edges.
/**
 * @param {string} name
 * @param {{ column: ValueColumn, counts: Float64Array, edges: number[], moved: (edges: number[]) => void }} options1
 */
export function edgeStrip(name, { column, counts, edges, moved }) {
  const { numbers, from, to } = distribution(column, counts);
  /** @param {number} at @param {number} wanted */
  const move = (at, wanted) => {
    const next = movedEdges(numbers, edges, at, wanted);
    if (next) moved(next);
  };
  return drawnToWidth(element("div", { class: "plot edge-strip" }), (width) => {
    let labelled = -Infinity;
    const handles = edges.map((value, at) => {
      const share = Math.min(1, Math.max(0, (value - from) / (to - from)));
      const x = STRIP.side + share * (width - 2 * STRIP.side);
      const anchor = share < 0.1 ? "start" : share > 0.9 ? "end" : "middle";
      const wide = textWidth(digitsText(value));
      const start = x - { start: 0, middle: wide / 2, end: wide }[anchor];
      const roomy = start - labelled >= LABEL_ROOM;
      if (roomy) labelled = start + wide;
      /** @param {number} along */
      const valueAt = (along) => from + Math.min(1, Math.max(0, along / (width - 2 * STRIP.side))) * (to - from);
      return handle(roomy ? digitsText(value) : "", {
        "aria-label": `Edge ${at + 1} of ${edges.length} of ${name}`,
        "aria-valuemin": decimalText(Math.min(value, from)),
        "aria-valuemax": decimalText(Math.max(value, numbers.at(-1)?.value ?? value)),
        "aria-valuenow": decimalText(value),
        "aria-valuetext": `up to ${digitsText(value)}`,
        transform: `translate(${x} 0)`,
        "text-anchor": anchor,
        keydown: (event) => {
          if (!(event.key in STEPS)) return;
          event.preventDefault();
          move(at, steppedValue(numbers, value, STEPS[event.key]));
        },
        pointermove: (event) => {
          if (!event.buttons) return;
          const left = event.currentTarget.ownerSVGElement.getBoundingClientRect().left;
          move(at, valueAt(event.clientX - left - STRIP.side));
        },
      });
    });
    return drawn("svg", { width, height: STRIP.height }, shape(numbers, from, to, width), handles);
  });
}

/** @param {{ value: number, count: number }[]} numbers @param {number} from @param {number} to @param {number} width */
function shape(numbers, from, to, width) {
  const bins = new Float64Array(STRIP.bins);
  for (const { value, count } of numbers)
    bins[Math.min(STRIP.bins - 1, Math.floor(((value - from) / (to - from)) * STRIP.bins))] += count;
  const step = (width - 2 * STRIP.side) / STRIP.bins;
  const path = Array.from(bins, (count, at) => {
    const high = (count / Math.max(...bins)) * (STRIP.floor - 16);
    return count ? `M${STRIP.side + at * step} ${STRIP.floor}v${-high}h${step * 0.9}v${high}z` : "";
  });
  return drawn("path", { class: "shape", d: path.join(""), "aria-hidden": "true" });
}

/** @param {string} text @param {Attributes} attributes */
const handle = (text, attributes) =>
  drawn(
    "g",
    {
      class: "handle",
      tabindex: "0",
      role: "slider",
      pointerdown: (event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.focus();
        event.preventDefault();
      },
      ...attributes,
    },
    drawn("rect", { class: "grip", x: -10, y: 0, width: 20, height: STRIP.floor }),
    drawn("line", { y1: 0, y2: STRIP.floor }),
    drawn("circle", { cy: 7, r: 6 }),
    drawn("text", { y: STRIP.height - 3 }, text),
  );
