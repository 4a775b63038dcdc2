import { element } from "./dom.js";

// What is said of an element while it is pointed at or focused: a list of lines, made when needed. A line may be a promise
// of further lines, which come after the others.
const tipLines = new WeakMap();
// The same for all cells of a table at once: from its body to a function of a cell, which gives such a list's maker or null.
const cellTips = new WeakMap();
const tipBox = element("div", { id: "tip", role: "tooltip", hidden: true });
let tipTarget = null;

export function withTip(node, lines) {
  tipLines.set(node, lines);
  return node;
}

export function withCellTips(body, linesOf) {
  cellTips.set(body, linesOf);
  return body;
}

const madeLines = (node) => tipLines.get(node) ?? cellTips.get(node.parentNode?.parentNode)?.(node) ?? null;

function tipOwner(node) {
  for (let at = node; at && at !== document; at = at.parentNode) if (madeLines(at)) return at;
  return null;
}

function placeTip(rectangle) {
  const { width, height } = tipBox.getBoundingClientRect();
  const left = Math.min(Math.max(8, rectangle.left), document.documentElement.clientWidth - width - 8);
  const above = rectangle.top - height - 6;
  tipBox.style.left = `${Math.max(8, left)}px`;
  tipBox.style.top = `${above > 8 ? above : rectangle.bottom + 6}px`;
}

function showTip(owner) {
  if (owner === tipTarget) return;
  tipTarget?.removeAttribute("aria-describedby");
  tipTarget = owner;
  tipBox.hidden = !owner;
  if (!owner) return;
  owner.setAttribute("aria-describedby", "tip");
  const lines = madeLines(owner)();
  const [ready, later] = [lines.filter((line) => line && !line.then), lines.filter((line) => line?.then)];
  fillTip(owner, ready);
  if (later.length)
    Promise.all(later).then((found) => {
      if (owner === tipTarget && found.flat().some(Boolean))
        fillTip(owner, [...ready, ...found.flat().filter(Boolean)]);
    });
}

function fillTip(owner, lines) {
  tipBox.replaceChildren(...lines.map((line, at) => element(at ? "p" : "strong", {}, line)));
  placeTip(owner.getBoundingClientRect());
}

export function startTips() {
  // Inside a landmark, where those who read by landmarks find it.
  document.querySelector("footer").append(tipBox);
  document.addEventListener("mouseover", (event) => showTip(tipOwner(event.target)));
  document.addEventListener("focusin", (event) => showTip(tipOwner(event.target)));
  document.addEventListener("focusout", () => showTip(null));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") showTip(null);
  });
  document.addEventListener("scroll", () => showTip(null), { capture: true, passive: true });
}
