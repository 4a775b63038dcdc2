// @ts-check
import { download, drawn, element } from "./dom.js";

// The properties that the style sheet gives to drawings: a saved file has no style sheet.
const STYLES =
  "fill fill-opacity stroke stroke-width stroke-dasharray stroke-opacity stroke-linecap stroke-linejoin paint-order " +
  "opacity display font-family font-size font-style font-weight text-anchor dominant-baseline visibility";
const CLEAR = "rgba(0, 0, 0, 0)";
const HATCH = "saved-hatch";
const PNG_SCALE = 2;
// Sizes of the title above and the source below a saved chart, and the estimated width of a letter of each.
const ABOVE = { size: 15, line: 20, letter: 8.2, weight: 600, fill: "#1d232b" };
const BELOW = { size: 11, line: 15, letter: 6, weight: 400, fill: "#55606d" };
const PICTURE_EDGE = 16;

/** @typedef {{ title: string, source: string }} ChartCaption */

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
    // Links of the page lead nowhere in a file.
    if (node.nodeName === "a") node.removeAttribute("href");
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
    const text = node.data.trim();
    const range = document.createRange();
    range.setStart(node, node.data.indexOf(text));
    range.setEnd(node, node.data.indexOf(text) + text.length);
    const box = range.getBoundingClientRect();
    const style = getComputedStyle(/** @type {Element} */ (node.parentElement));
    const font = { "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight };
    const [x, y] = [box.left, box.top + box.height / 2];
    const part = drawn("text", { x, y, "dominant-baseline": "central", fill: style.color, ...font }, text);
    return box.width && text ? [{ box, part }] : [];
  }
  if (!(node instanceof Element) || !node.checkVisibility() || node.hasAttribute("data-attached")) return [];
  const box = node.getBoundingClientRect();
  const { left: x, top: y, width, height } = box;
  if (node instanceof SVGSVGElement) {
    const part = styledCopy(node);
    for (const [name, value] of Object.entries({ x, y, width, height })) part.setAttribute(name, String(value));
    return [{ box, part }];
  }
  // Captions are titles of files, and for screen readers on pages. What is to be pressed has no use in a file.
  if (width <= 1 || node.matches("caption, button, .not-saved")) return [];
  const fill = node.classList.contains("untested") ? `url(#${HATCH})` : getComputedStyle(node).backgroundColor;
  const ground = fill === CLEAR ? [] : [{ box, part: drawn("rect", { x, y, width, height, fill }) }];
  return [...ground, ...[...node.childNodes].flatMap(pictured)];
}

// What is untested is hatched by the style sheet.
const savedHatch = () =>
  drawn(
    "pattern",
    { id: HATCH, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    drawn("line", { x1: 0, x2: 0, y1: 0, y2: 6, stroke: "#c4cbd3", "stroke-width": 3 }),
  );

/**
 * Break a text into lines of a width.
 * @param {string} text
 * @param {number} width
 * @param {{ letter: number }} style
 */
function brokenLines(text, width, { letter }) {
  const most = Math.max(12, Math.floor(width / letter));
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/**
 * @param {string[]} lines
 * @param {number} x
 * @param {number} y
 * @param {typeof ABOVE} style
 */
const captionLines = (lines, x, y, { size, line, weight, fill }) =>
  lines.map((text, at) =>
    drawn(
      "text",
      {
        ...{ x, y: y + line * (at + 0.8), fill },
        ...{ "font-family": 'system-ui, "Noto Sans", sans-serif', "font-size": size, "font-weight": weight },
      },
      text,
    ),
  );

/**
 * Return a chart with its legends: next to it, or above the part of the page that begins with it.
 * @param {Element} chart
 */
function withLegends(chart) {
  const place = chart.parentElement?.matches(".scroll") ? chart.parentElement : chart;
  let first = place;
  while (!first.previousElementSibling && first.parentElement && first.parentElement.id !== "page")
    first = first.parentElement;
  const beside = [first.previousElementSibling, place.nextElementSibling];
  return [chart, ...beside.filter((node) => node?.matches(".legend, .key, :has(> .legend)"))];
}

/**
 * Return a chart, as the page shows it, as the text of an SVG file, with its size.
 * @param {Element} chart
 * @param {ChartCaption} [caption] a title above and a source below the chart
 */
function chartPicture(chart, { title, source } = { title: "", source: "" }) {
  const parts = withLegends(chart).flatMap((part) => (part ? pictured(part) : []));
  const edge = title || source ? PICTURE_EDGE : 0;
  const left = Math.min(...parts.map(({ box }) => box.left));
  const inner = Math.max(...parts.map(({ box }) => box.right)) - left;
  const above = brokenLines(title, inner, ABOVE);
  const below = brokenLines(source, inner, BELOW);
  const top = Math.min(...parts.map(({ box }) => box.top)) - ABOVE.line * above.length - (above.length ? 8 : 0);
  const bottom = Math.max(...parts.map(({ box }) => box.bottom)) + (below.length ? 8 : 0);
  const width = inner + 2 * edge;
  const height = bottom + BELOW.line * below.length - top + 2 * edge;
  const [x, y] = [left - edge, top - edge];
  const fill = getComputedStyle(document.body).backgroundColor;
  const picture = drawn(
    "svg",
    { width, height, viewBox: `${x} ${y} ${width} ${height}` },
    savedHatch(),
    drawn("rect", { x, y, width, height, fill }),
    captionLines(above, left, top, ABOVE),
    parts.map(({ part }) => part),
    captionLines(below, left, bottom, BELOW),
  );
  return { text: new XMLSerializer().serializeToString(picture), width, height };
}

/**
 * Return what `make` returns while the page has its light colours: files have a white ground.
 * @template T
 * @param {() => T} make
 */
function inLight(make) {
  const { dataset } = document.documentElement;
  const { theme } = dataset;
  dataset.theme = "light";
  try {
    return make();
  } finally {
    if (theme === undefined) delete dataset.theme;
    else dataset.theme = theme;
  }
}

/**
 * Draw an SVG file as a PNG file.
 * @param {{ text: string, width: number, height: number }} picture
 * @returns {Promise<Blob | null>}
 */
async function pngOf({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * PNG_SCALE), Math.ceil(height * PNG_SCALE)];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => {
    canvas.toBlob(done, "image/png");
  });
}

/** @param {string} text */
const chartFileName = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-|-$/g, "") || "chart";

/**
 * Return buttons that save a chart as an SVG and as a PNG file: one tab stop, with arrow keys between them.
 * @param {Element} chart
 * @param {(chart: Element) => ChartCaption} captionOf
 */
function chartTools(chart, captionOf) {
  const picture = () => inLight(() => chartPicture(chart, captionOf(chart)));
  const name = () => chartFileName(captionOf(chart).title);
  const saveSvg = () => download(`${name()}.svg`, "image/svg+xml", picture().text);
  const savePng = async () => download(`${name()}.png`, "image/png", await pngOf(picture()));
  const buttons = [
    element("button", { type: "button", "aria-label": "Save chart as SVG", click: saveSvg }, "SVG"),
    element("button", { type: "button", tabindex: "-1", "aria-label": "Save chart as PNG", click: savePng }, "PNG"),
  ];
  /** @param {KeyboardEvent} event */
  const keydown = (event) => {
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    buttons[document.activeElement === buttons[0] ? 1 : 0].focus();
  };
  // The page's own patches leave attached nodes alone.
  return element(
    "div",
    { class: "save-tools", role: "toolbar", "aria-label": "Save chart", "data-attached": true, keydown },
    buttons,
  );
}

/**
 * Add the buttons to every chart of a page, now and whenever one is added. They show while a chart is pointed at, focused
 * or was tapped last.
 * @param {HTMLElement} page
 * @param {(chart: Element) => ChartCaption} captionOf
 */
export function watchCharts(page, captionOf) {
  const attach = () => {
    const tables = [...page.querySelectorAll("table.heat, table.forest")].map(
      (table) => /** @type {Element} */ (table.parentElement),
    );
    for (const chart of [...page.querySelectorAll(".plot"), ...tables])
      if (!chart.querySelector(":scope > .save-tools")) chart.append(chartTools(chart, captionOf));
  };
  new MutationObserver(attach).observe(page, { childList: true, subtree: true });
  attach();
  document.addEventListener("pointerdown", ({ target }) => {
    const chart = target instanceof Element ? target.closest(":has(> .save-tools)") : null;
    for (const other of page.querySelectorAll("[data-touched]"))
      if (other !== chart) other.removeAttribute("data-touched");
    chart?.setAttribute("data-touched", "");
  });
}

/** Add a button to each chart of a report that saves it as an SVG file. */
export function offerSaving() {
  for (const chart of document.querySelectorAll(".chart")) {
    const name = chart.getAttribute("data-chart") ?? chart.id.replace("-chart", "");
    const save = () => download(`${name}.svg`, "image/svg+xml", chartPicture(chart).text);
    chart.after(element("button", { type: "button", class: "save", click: save }, "Save as SVG"));
  }
}
