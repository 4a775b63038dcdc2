// All visible text is set as text: submitted names, notes and URLs are never parsed as markup.
const SVG_SPACE = "http://www.w3.org/2000/svg";
// Control characters and marks that change the text direction.
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** @param {unknown} text */
export const printable = (text) =>
  String(text)
    .replace(/[\t\n\r]+/g, " ")
    .replace(UNPRINTABLE, "\ufffd");

// Listeners, tips and drawings of a node: `patch` carries them over together with the markup.
/** @type {WeakMap<Node, Extras>} */
const extras = new WeakMap();

/** @param {any} node @returns {Extras} */
export function extrasOf(node) {
  let own = extras.get(node);
  if (!own) extras.set(node, (own = { listeners: {} }));
  return own;
}

/** @param {any} event */
const dispatch = (event) => extras.get(event.currentTarget)?.listeners[event.type]?.(event);

/** @param {any} node @param {string} type @param {any} listener */
export function listen(node, type, listener) {
  const { listeners } = extrasOf(node);
  if (!listeners[type]) node.addEventListener(type, dispatch);
  listeners[type] = listener;
}

/** @param {any} node @param {Attributes} attributes @param {Child[]} children */
function filledNode(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") listen(node, name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  appendAll(node, children);
  return node;
}

// An element of the page's template, by its id.
/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

// Append nodes and texts from nested lists.
/** @param {Element} node @param {readonly Child[]} children */
export function appendAll(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) appendAll(node, child);
    else if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : printable(child));
  }
}

// Create an HTML element; function attributes become listeners, other children than nodes become text.
/** @param {string} tag @param {Attributes} [attributes] @param {...Child} children @returns {HTMLElement} */
export const element = (tag, attributes = {}, ...children) =>
  filledNode(document.createElement(tag), attributes, children);

/** @param {string} tag @param {Attributes} [attributes] @param {...Child} children @returns {SVGElement} */
export const drawn = (tag, attributes = {}, ...children) =>
  filledNode(document.createElementNS(SVG_SPACE, tag), attributes, children);

// Isolate a submitted name so that it cannot change the direction of the surrounding text.
/** @param {Child} text @param {Attributes} [attributes] */
export const nameOf = (text, attributes = {}) => element("bdi", attributes, text);

/** @param {string} href @param {...Child} children */
export const link = (href, ...children) => element("a", { href }, ...children);

// URLs come from metadata: link only to web addresses.
/** @param {Maybe<string>} url @param {...Child} children */
export const outside = (url, ...children) =>
  /^https?:\/\//i.test(url ?? "")
    ? element("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank" }, ...children)
    : element("span", {}, ...children);

/** @param {unknown} value @returns {value is null | undefined} */
export const missing = (value) => value === null || value === undefined || Number.isNaN(value);

// Round to one decimal, halves away from zero. Marks for the best score use this value too, so that equal-looking scores are marked alike.
/** @param {Maybe<number>} value */
export const printedScore = (value) => (missing(value) ? NaN : (Math.sign(value) * Math.round(Math.abs(value) * 10 + 1e-6)) / 10);
/** @param {Maybe<number>} value */
export const scoreText = (value) => (missing(value) ? "–" : printedScore(value).toFixed(1));

/** @param {number | null} value */
export const signedText = (value) => {
  if (missing(value)) return scoreText(value);
  const text = scoreText(Math.abs(value));
  return text === "0.0" ? text : `${value < 0 ? "−" : "+"}${text}`;
};

// Three digits: 12.3, 1230, 0.00123.
/** @param {number} value */
export const digitsText = (value) => String(Number(value.toPrecision(3)));

// A share: "87 %", "86.5 %".
/** @param {number} share */
export const wholePercent = (share) => `${Math.round(100 * share)} %`;
/** @param {number} share */
export const percentText = (share) => `${scoreText(100 * share)} %`;

const grouped = new Intl.NumberFormat("en-GB");
/** @param {Maybe<number>} value */
export const countText = (value) => (missing(value) ? "–" : grouped.format(value));

/** @param {Maybe<number>} value */
export function sizeText(value) {
  if (missing(value)) return "–";
  for (const [letter, unit] of Object.entries({ T: 1e12, B: 1e9, M: 1e6, k: 1e3 })) {
    if (value >= unit) return `${Number((value / unit).toPrecision(3))} ${letter}`;
  }
  return digitsText(value);
}

/** @param {number} count @param {string} noun @param {string} [many] */
export const plural = (count, noun, many = `${noun}s`) => `${countText(count)} ${count === 1 ? noun : many}`;

// "both", "all 3".
/** @param {number} count */
export const allOf = (count) => (count === 2 ? "both" : `all ${countText(count)}`);

// "1 of 202 cells is", "3 of 202 cells are".
/** @param {number} count @param {number} total @param {string} noun @param {[string, string]} [verbs] */
export const partText = (count, total, noun, verbs = ["is", "are"]) =>
  `${countText(count)} of ${plural(total, noun)} ${count === 1 ? verbs[0] : verbs[1]}`;

/** @param {"script" | "language"} type @returns {(code: string) => string} */
function namesOf(type) {
  const names = new Intl.DisplayNames(["en"], { type, fallback: "code" });
  return (code) => {
    try {
      return names.of(code) ?? code;
    } catch {
      return code;
    }
  };
}

// Return the script's English name ("Latin" for Latn), or the code if it is unknown.
export const scriptName = namesOf("script");
// The same for a language that is not on the board.
export const otherLanguage = namesOf("language");

/** @param {string[]} words @param {number} [most] */
export function listed(words, most = Infinity) {
  const shown = words.slice(0, most);
  const more = words.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** @param {string} name @param {string} type @param {any} text */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const anchor = element("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// Draw into a node, and redraw whenever its width changes, so that text keeps its size on every screen.
/** @param {HTMLElement} node @param {(width: number) => Node} draw */
export function drawnToWidth(node, draw) {
  const own = Object.assign(extrasOf(node), { draw, width: 0 });
  const observer = new ResizeObserver(() => {
    const width = Math.floor(node.clientWidth);
    if (width === own.width || width === 0) return;
    own.width = width;
    patchChildren(node, [withViewBox(own.draw(width), width)]);
  });
  observer.observe(node);
  return node;
}

// Print lays the page out without a redraw: the style sheet scales the drawing instead.
/** @param {any} drawing @param {number} width */
function withViewBox(drawing, width) {
  const height = drawing.getAttribute?.("height");
  if (drawing.localName === "svg" && height) drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width") ?? width} ${height}`);
  return drawing;
}

// Nodes with equal signatures can stand for each other: by key or id, otherwise by tag and first class.
/** @param {any} node @returns {string} */
function signature(node) {
  if (node.nodeType !== 1) return node.nodeName;
  const key = node.getAttribute("data-key") || node.id;
  return key ? `${node.nodeName}#${key}` : `${node.nodeName}.${node.getAttribute("class")?.split(" ", 1)[0] ?? ""}`;
}

// Nodes that were added to a rendered page stay where they are, as long as their parent does.
/** @param {any} node */
const isAttached = (node) => node.nodeType === 1 && node.hasAttribute("data-attached");

// Turn the children of a node into the wanted ones, reusing nodes so that focus, scroll position and open details stay.
/** @param {Node} parent @param {any[]} wanted */
export function patchChildren(parent, wanted) {
  /** @type {Map<string, ChildNode[]>} */
  const reusable = new Map();
  for (const child of parent.childNodes) {
    if (isAttached(child)) continue;
    const key = signature(child);
    const alike = reusable.get(key);
    if (alike) alike.push(child);
    else reusable.set(key, [child]);
  }
  const reused = wanted.map((next) => reusable.get(signature(next))?.shift());
  for (const child of [...reusable.values()].flat()) child.remove();
  let at = parent.firstChild;
  wanted.forEach((next, index) => {
    const node = reused[index] ?? next;
    while (at && isAttached(at)) at = at.nextSibling;
    if (at && node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
    if (node !== next) patch(node, next);
  });
}

// Give a node the attributes, listeners and children of another one of its kind.
/** @param {any} node @param {any} next */
function patch(node, next) {
  if (node === next) return;
  if (!(node instanceof Element)) {
    if (node.nodeValue !== next.nodeValue) node.nodeValue = next.nodeValue;
    return;
  }
  patchAttributes(node, next);
  patchExtras(node, next);
  const { draw, width } = extras.get(node) ?? {};
  // The reader's own list of examples lasts until the page changes.
  if (node.hasAttribute("data-lasting")) return;
  if (!draw) patchChildren(node, [...next.childNodes]);
  else if (width) patchChildren(node, [draw(width)]);
  patchControl(node, next);
}

// The tip, the arrow keys, the edges and the reader set these attributes after a node is made.
/** @param {any} node @param {string} name */
const isKept = (node, name) =>
  (name === "open" && node.nodeName === "DETAILS") ||
  name === "data-more" ||
  (name === "aria-describedby" && node.getAttribute(name) === "tip") ||
  (name === "tabindex" && node === document.activeElement);

/** @param {any} node @param {any} next */
function patchAttributes(node, next) {
  // The content security policy allows styles by script, but not style attributes.
  const style = next.getAttribute("style");
  if (node.getAttribute("style") !== style) node.style.cssText = style ?? "";
  for (const name of node.getAttributeNames())
    if (name !== "style" && !next.hasAttribute(name) && !isKept(node, name)) node.removeAttribute(name);
  for (const name of next.getAttributeNames()) {
    const value = next.getAttribute(name);
    if (name !== "style" && node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
}

/** @param {any} node @param {any} next */
function patchExtras(node, next) {
  const [old, own] = [extras.get(node), extras.get(next)];
  for (const type of Object.keys(old?.listeners ?? {})) if (!own?.listeners[type]) delete old?.listeners[type];
  for (const [type, listener] of Object.entries(own?.listeners ?? {})) listen(node, type, listener);
  if (!old && !own) return;
  const { tip, cellTips, draw } = own ?? {};
  Object.assign(extrasOf(node), { tip, cellTips, draw });
}

// Show the value from the address; a control without one keeps the reader's input.
/** @param {any} node @param {any} next */
function patchControl(node, next) {
  if (node instanceof HTMLSelectElement && node.value !== next.value) node.value = next.value;
  if (!(node instanceof HTMLInputElement)) return;
  if (node.type === "checkbox") node.checked = next.checked;
  else if (next.hasAttribute("value") && node.value !== next.value) node.value = next.value;
}
