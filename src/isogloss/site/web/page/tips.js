import { element, extrasOf } from "./dom.js";

/** @type {any} */
let tipBox = null;
/** @type {any} */
let tipTarget = null;

// Show lines while a node is pointed at or focused. A line may be a promise of further lines.
/** @param {any} node @param {TipMaker} lines */
export function withTip(node, lines) {
  extrasOf(node).tip = lines;
  return node;
}

// The same for all cells of a table body: `linesOf(cell)` returns a function that makes the lines, or null.
/** @param {any} body @param {(cell: any) => TipMaker | null} linesOf */
export function withCellTips(body, linesOf) {
  extrasOf(body).cellTips = linesOf;
  return body;
}

/** @param {any} node */
const linesMaker = (node) => {
  const body = node.parentNode?.parentNode;
  return extrasOf(node).tip ?? (body && extrasOf(body).cellTips?.(node)) ?? null;
};

/** @param {any} node */
function tipOwner(node) {
  for (let at = node; at && at !== document; at = at.parentNode) if (linesMaker(at)) return at;
  return null;
}

/** @param {DOMRect} rectangle */
function placeTip(rectangle) {
  const { width, height } = tipBox.getBoundingClientRect();
  const left = Math.min(Math.max(8, rectangle.left), document.documentElement.clientWidth - width - 8);
  const above = rectangle.top - height - 6;
  tipBox.style.left = `${Math.max(8, left)}px`;
  tipBox.style.top = `${above > 8 ? above : rectangle.bottom + 6}px`;
}

/** @param {any} owner */
async function showTip(owner) {
  if (owner === tipTarget) return;
  tipTarget?.removeAttribute("aria-describedby");
  tipTarget = owner;
  tipBox.hidden = !owner;
  if (!owner) return;
  owner.setAttribute("aria-describedby", "tip");
  /** @type {TipLine[]} */
  const lines = linesMaker(owner)();
  const ready = /** @type {string[]} */ (lines.filter((line) => typeof line === "string" && line));
  fillTip(owner, ready);
  const later = lines.filter((line) => line instanceof Promise);
  const more = /** @type {string[]} */ ((await Promise.all(later)).flat().filter(Boolean));
  if (more.length && owner === tipTarget) fillTip(owner, [...ready, ...more]);
}

/** @param {any} owner @param {string[]} lines */
function fillTip(owner, lines) {
  tipBox.replaceChildren(...lines.map((line, at) => element(at ? "p" : "strong", {}, line)));
  placeTip(owner.getBoundingClientRect());
}

export function startTips() {
  tipBox = element("div", { id: "tip", role: "tooltip", hidden: true });
  // Inside a landmark, so that screen readers find it.
  document.querySelector("footer")?.append(tipBox);
  document.addEventListener("mouseover", (event) => showTip(tipOwner(event.target)));
  document.addEventListener("focusin", (event) => showTip(tipOwner(event.target)));
  document.addEventListener("focusout", () => showTip(null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") showTip(null);
  });
  document.addEventListener("scroll", () => showTip(null), { capture: true, passive: true });
}
