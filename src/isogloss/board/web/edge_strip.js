import { drawn, drawnToWidth, element, missing } from "./dom.js";

const STRIP = { height: 58, floor: 40, bins: 48, side: 12 };
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
// What lies farther out is not drawn: it would press all else together.
const DRAWN_SHARE = 0.99;
// A label this near to the last one is left out; the fields below have all edges.
const LABEL_ROOM = 36;
export const edgeText = (value) => String(Number(value.toPrecision(3)));

// The distribution of an attribute's values with a handle at each edge; `moved` is told the new edges.
export class EdgeStrip {
  constructor(name, moved) {
    Object.assign(this, { name, moved, numbers: [], edges: [], handles: [], width: 0, drawnFor: "" });
    this.node = drawnToWidth(element("div", { class: "plot edge-strip" }), (width) => this.draw(width));
  }

  sync(column, counts, edges) {
    this.numbers = column.values
      .map((value, at) => ({ value, count: counts[at] }))
      .filter(({ value, count }) => !missing(value) && count > 0);
    const total = this.numbers.reduce((sum, { count }) => sum + count, 0);
    let seen = 0;
    const last = this.numbers.find(({ count }) => (seen += count) >= DRAWN_SHARE * total);
    this.from = this.numbers[0]?.value ?? 0;
    this.to = last?.value > this.from ? last.value : this.from + 1;
    this.edges = edges;
    // Handles that stay the same keep the focus.
    const wanted = JSON.stringify([edges.length, this.from, this.to, total]);
    if (wanted === this.drawnFor || !this.width) this.placeHandles();
    else this.node.replaceChildren(this.draw(this.width));
    this.drawnFor = wanted;
  }

  draw(width) {
    this.width = width;
    this.handles = this.edges.map((_, at) => this.makeHandle(at));
    this.placeHandles();
    return drawn("svg", { width, height: STRIP.height }, this.shape(), this.handles);
  }

  shape() {
    const bins = new Float64Array(STRIP.bins);
    for (const { value, count } of this.numbers) {
      const bin = Math.floor(((value - this.from) / (this.to - this.from)) * STRIP.bins);
      bins[Math.min(STRIP.bins - 1, bin)] += count;
    }
    const step = (this.width - 2 * STRIP.side) / STRIP.bins;
    const path = Array.from(bins, (count, at) => {
      const high = (count / Math.max(...bins)) * (STRIP.floor - 16);
      return count ? `M${STRIP.side + at * step} ${STRIP.floor}v${-high}h${step * 0.9}v${high}z` : "";
    });
    return drawn("path", { class: "shape", d: path.join(""), "aria-hidden": "true" });
  }

  makeHandle(at) {
    const node = drawn(
      "g",
      {
        class: "handle",
        tabindex: "0",
        role: "slider",
        keydown: (event) => {
          if (!(event.key in STEPS)) return;
          event.preventDefault();
          this.stepEdge(at, STEPS[event.key]);
        },
        pointerdown: (event) => {
          node.setPointerCapture(event.pointerId);
          node.focus();
          event.preventDefault();
        },
        pointermove: (event) => {
          if (!event.buttons) return;
          const along = event.clientX - this.node.getBoundingClientRect().left - STRIP.side;
          const share = Math.min(1, Math.max(0, along / (this.width - 2 * STRIP.side)));
          this.moveEdge(at, this.from + share * (this.to - this.from));
        },
      },
      drawn("rect", { class: "grip", x: -10, y: 0, width: 20, height: STRIP.floor }),
      drawn("line", { y1: 0, y2: STRIP.floor }),
      drawn("circle", { cy: 7, r: 6 }),
      drawn("text", { y: STRIP.height - 3 }),
    );
    return node;
  }

  placeHandles() {
    let labelled = -Infinity;
    this.handles.forEach((node, at) => {
      const value = this.edges[at];
      const share = Math.min(1, Math.max(0, (value - this.from) / (this.to - this.from)));
      const x = STRIP.side + share * (this.width - 2 * STRIP.side);
      node.setAttribute("transform", `translate(${x} 0)`);
      const roomy = x - labelled >= LABEL_ROOM;
      if (roomy) labelled = x;
      node.lastChild.textContent = roomy ? edgeText(value) : "";
      node.lastChild.setAttribute("text-anchor", share < 0.1 ? "start" : share > 0.9 ? "end" : "middle");
      const said = {
        label: `Edge ${at + 1} of ${this.edges.length} of ${this.name}`,
        valuemin: Math.min(value, this.from),
        valuemax: Math.max(value, this.numbers.at(-1)?.value ?? value),
        valuenow: value,
        valuetext: `up to ${edgeText(value)}`,
      };
      for (const [word, text] of Object.entries(said)) node.setAttribute(`aria-${word}`, text);
    });
  }

  // An edge stays between its neighbours, at a value that occurs, and something lies above it.
  moveEdge(at, wanted) {
    const [low, high] = [this.edges[at - 1] ?? -Infinity, this.edges[at + 1] ?? this.numbers.at(-1).value];
    const free = this.numbers.map(({ value }) => value).filter((value) => value > low && value < high);
    if (!free.length) return;
    const nearest = free.reduce((best, value) => (Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best));
    if (nearest !== this.edges[at]) this.moved(this.edges.map((edge, other) => (other === at ? nearest : edge)));
  }

  stepEdge(at, steps) {
    const values = this.numbers.map(({ value }) => value);
    const here = values.findIndex((value) => value >= this.edges[at]);
    const to = (here < 0 ? values.length - 1 : here) + steps;
    this.moveEdge(at, values[Math.min(values.length - 1, Math.max(0, to))]);
  }
}
