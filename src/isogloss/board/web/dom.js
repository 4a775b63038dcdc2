// Everything a reader sees is set as text: names, notes and addresses of others are never read as markup.
const SVG_SPACE = "http://www.w3.org/2000/svg";
// Controls and marks that turn the direction of text act instead of being seen.
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export const printable = (text) =>
  String(text)
    .replace(/[\t\n\r]+/g, " ")
    .replace(UNPRINTABLE, "\ufffd");

function filledNode(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  appendAll(node, children);
  return node;
}

// Nodes and texts, however deep they lie in lists.
export function appendAll(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) appendAll(node, child);
    else if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : printable(child));
  }
}

// An HTML element; attributes that are functions are listeners, children that are no nodes are text.
export const element = (tag, attributes = {}, ...children) =>
  filledNode(document.createElement(tag), attributes, children);

export const drawn = (tag, attributes = {}, ...children) =>
  filledNode(document.createElementNS(SVG_SPACE, tag), attributes, children);

// A name that others chose: kept from turning the text around it.
export const nameOf = (text, attributes = {}) => element("bdi", attributes, text);

export const link = (href, ...children) => element("a", { href }, ...children);

// Addresses come from metadata: only those of the web are followed.
export const outside = (url, ...children) =>
  /^https?:\/\//i.test(url ?? "")
    ? element("a", { href: url, rel: "noopener noreferrer nofollow", target: "_blank" }, ...children)
    : element("span", {}, ...children);

export const missing = (value) => value === null || value === undefined || Number.isNaN(value);

// One decimal, halves upwards, as scores are printed everywhere. Marks of the best go by this too: figures that look alike
// are marked alike.
export const printedScore = (value) => (missing(value) ? NaN : Math.round(value * 10 + 1e-6) / 10);
export const scoreText = (value) => (missing(value) ? "–" : printedScore(value).toFixed(1));

export const signedText = (value) => {
  const text = scoreText(Math.abs(value));
  return text === "0.0" || missing(value) ? text : `${value < 0 ? "−" : "+"}${text}`;
};

const grouped = new Intl.NumberFormat("en-GB");
export const countText = (value) => (missing(value) ? "–" : grouped.format(value));

export function sizeText(value) {
  if (missing(value)) return "–";
  for (const [unit, letter] of [
    [1e12, "T"],
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ]) {
    if (value >= unit) return `${Number((value / unit).toPrecision(3))} ${letter}`;
  }
  return String(Number(value.toPrecision(3)));
}

export const plural = (count, noun, many = `${noun}s`) => `${countText(count)} ${count === 1 ? noun : many}`;

const scripts = new Intl.DisplayNames(["en"], { type: "script", fallback: "code" });

// "Latin" for Latn; what is no code of a script stays as it is.
export function scriptName(code) {
  try {
    return scripts.of(code);
  } catch {
    return code;
  }
}

export function listed(words, most = Infinity) {
  const shown = words.slice(0, most);
  const more = words.length - shown.length;
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

// A file made here, handed to the reader.
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const anchor = element("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Draws into a place now and whenever its width changes, so that text keeps its size on every screen.
export function drawnToWidth(place, draw) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    const now = Math.floor(place.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    place.replaceChildren(draw(width));
  });
  observer.observe(place);
  return place;
}
