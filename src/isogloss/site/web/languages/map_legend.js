import { figureColours, hatchedText } from "./basis.js";
import { fewestSpeakers, radiusOf } from "./map_layout.js";
import { drawn, element, sizeText } from "../page/dom.js";

// The map's pattern for languages without a figure.
export const MAP_HATCH = "map-hatch";

// What colours, sizes and signs of the map mean.
/** @param {Board} board @param {Basis} basis @param {number} width */
export function mapLegend(board, basis, width) {
  const { scale, unit, paint } = figureColours(board, basis);
  const [from, to] = scale;
  const steps = 24;
  const bars = Array.from({ length: steps }, (_, at) =>
    drawn("rect", { x: at * 6, y: 0, width: 6.5, height: 12, fill: paint(from + ((at + 0.5) / steps) * (to - from)).fill }),
  );
  /** @param {number} speakers @param {string} text */
  const size = (speakers, text) => {
    const r = radiusOf(speakers, width);
    return element(
      "span",
      {},
      drawn(
        "svg",
        { width: 2 * r + 2, height: 2 * r + 2, "aria-hidden": "true" },
        drawn("circle", { cx: r + 1, cy: r + 1, r, class: "size" }),
      ),
      text,
    );
  };
  /** @param {...SVGElement} shapes */
  const sign = (...shapes) => drawn("svg", { width: 18, height: 16, "aria-hidden": "true" }, shapes);
  const fewest = sizeText(Number(fewestSpeakers(width).toPrecision(1)));
  return element(
    "p",
    { class: "legend map-legend" },
    element(
      "span",
      {},
      basis.task ? "Score" : `Share of ${basis.reference}`,
      element("b", {}, from > 0 ? `≤ ${from}${unit}` : `${from}${unit}`),
      drawn("svg", { width: steps * 6, height: 12, "aria-hidden": "true" }, bars),
      element("b", {}, to === 100 && !unit ? "100" : `≥ ${to}${unit}`),
    ),
    size(20e6, `≤ ${fewest}`),
    size(200e6, "200 M"),
    size(1e9, "1 B speakers"),
    basis.few ? element("span", {}, sign(drawn("circle", { cx: 8, cy: 8, r: 5, class: "ring" })), "one task only") : null,
    element("span", {}, sign(drawn("circle", { cx: 8, cy: 8, r: 6, class: "dot", fill: `url(#${MAP_HATCH})` })), hatchedText(basis)),
    element("span", {}, sign(drawn("circle", { cx: 8, cy: 8, r: 5, class: "below-ring" })), "not served"),
    element("span", {}, sign(drawn("path", { class: "isogloss", d: "M1 11C6 3 11 14 17 5" })), "isogloss, interpolated"),
  );
}
