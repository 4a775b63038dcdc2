// @ts-check
import { download, drawn, element } from "./dom.js";

// The properties that the style sheet gives to drawings: a saved file has no style sheet.
const STYLES =
  "fill fill-opacity stroke stroke-width stroke-dasharray stroke-opacity opacity font-family font-size font-weight " +
  "text-anchor dominant-baseline visibility";
const CLEAR = "rgba(0, 0, 0, 0)";

/**
 * Return a copy of a drawing that looks the same without the page's style sheet.
 * @param {SVGSVGElement} drawing
 */
function styledCopy(drawing) {
  const copy = /** @type {SVGSVGElement} */ (drawing.cloneNode(true));
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((node, at) => {
    const style = getComputedStyle(originals[at]);
    for (const name of STYLES.split(" ")) node.setAttribute(name, style.getPropertyValue(name));
    node.removeAttribute("class");
    node.removeAttribute("style");
  });
  return copy;
}

/**
 * Return the parts of a picture of a node: backgrounds, texts and drawings, at their places on the page.
 * @param {Node} node
 * @returns {{ box: DOMRect, part: SVGElement }[]}
 */
function pictured(node) {
  if (node instanceof Text) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(/** @type {Element} */ (node.parentElement));
    const font = { "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight };
    const [x, y] = [box.left, box.top + box.height / 2];
    const part = drawn("text", { x, y, "dominant-baseline": "central", fill: style.color, ...font }, node.data.trim());
    return box.width && node.data.trim() ? [{ box, part }] : [];
  }
  if (!(node instanceof Element) || !node.checkVisibility()) return [];
  const box = node.getBoundingClientRect();
  const { left: x, top: y, width, height } = box;
  if (node instanceof SVGSVGElement) {
    const part = styledCopy(node);
    for (const [name, value] of Object.entries({ x, y, width, height })) part.setAttribute(name, String(value));
    return [{ box, part }];
  }
  // Captions for screen readers are one pixel wide.
  if (width <= 1) return [];
  const fill = getComputedStyle(node).backgroundColor;
  const ground = fill === CLEAR ? [] : [{ box, part: drawn("rect", { x, y, width, height, fill }) }];
  return [...ground, ...[...node.childNodes].flatMap(pictured)];
}

/**
 * Return a chart, as the page shows it, as the text of an SVG file.
 * @param {Element} chart
 */
export function chartPicture(chart) {
  const parts = pictured(chart);
  const left = Math.min(...parts.map(({ box }) => box.left));
  const top = Math.min(...parts.map(({ box }) => box.top));
  const width = Math.max(...parts.map(({ box }) => box.right)) - left;
  const height = Math.max(...parts.map(({ box }) => box.bottom)) - top;
  const fill = getComputedStyle(document.body).backgroundColor;
  const picture = drawn(
    "svg",
    { width, height, viewBox: `${left} ${top} ${width} ${height}` },
    drawn("rect", { x: left, y: top, width, height, fill }),
    parts.map(({ part }) => part),
  );
  return new XMLSerializer().serializeToString(picture);
}

/** Add a button to each chart that saves it as an SVG file. */
export function offerSaving() {
  for (const chart of document.querySelectorAll(".chart")) {
    const name = chart.getAttribute("data-chart") ?? chart.id.replace("-chart", "");
    const save = () => download(`${name}.svg`, "image/svg+xml", chartPicture(chart));
    chart.after(element("button", { type: "button", class: "save", click: save }, "Save as SVG"));
  }
}
