import { element, extrasOf } from "./dom.js";

// Distance of a tip from its target, and from the edges of the window.
const TIP_GAP = 8;
// A larger target is too far away from a finger on it: the tip keeps to the finger.
const LARGE_TARGET = 160;
// A finger that moves farther scrolls or drags.
const TAP_ROOM = 12;

/** @type {any} */
let tipBox = null;
/** @type {any} */
let tipTarget = null;
/** @type {{ x: number, y: number } | null} The place of the finger; null for a mouse or the keyboard. */
let finger = null;
// True if the tap has shown a tip, so that its click does not follow a link.
let heldClick = false;

// Show lines while a node is pointed at or focused, or after a tap. A line may be a promise of further lines.
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

// The part of a target that the tip keeps clear of.
/** @param {any} owner */
function targetBox(owner) {
  const { left, top, bottom, height } = owner.getBoundingClientRect();
  if (!finger || height <= LARGE_TARGET) return { left, top, bottom };
  return { left: finger.x, top: finger.y - 24, bottom: finger.y + 24 };
}

// Above the target, or below it where there is more room; never over it or beyond the window.
/** @param {any} owner */
function placeTip(owner) {
  const { clientWidth, clientHeight } = document.documentElement;
  const { left, top, bottom } = targetBox(owner);
  tipBox.style.maxHeight = "";
  const { width, height } = tipBox.getBoundingClientRect();
  const [above, below] = [top - 2 * TIP_GAP, clientHeight - bottom - 2 * TIP_GAP];
  const isAbove = height <= above || above >= below;
  const used = Math.min(height, Math.max(isAbove ? above : below, 0));
  if (used < height) tipBox.style.maxHeight = `${used}px`;
  tipBox.style.left = `${Math.max(TIP_GAP, Math.min(left, clientWidth - width - TIP_GAP))}px`;
  tipBox.style.top = `${isAbove ? top - used - TIP_GAP : bottom + TIP_GAP}px`;
}

/** @param {any} owner */
async function showTip(owner) {
  if (owner === tipTarget) return;
  tipTarget?.removeAttribute("aria-describedby");
  tipTarget = owner;
  tipBox.hidden = !owner;
  if (!owner) return;
  owner.setAttribute("aria-describedby", "tip");
  tipBox.classList.toggle("touched", finger !== null);
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
  placeTip(owner);
}

// A tap shows the tip of what it hits; the second one follows the link or shows the examples. Controls act at once.
/** @param {PointerEvent} event */
function released({ target, clientX, clientY }) {
  const isTap = finger && Math.hypot(clientX - finger.x, clientY - finger.y) < TAP_ROOM;
  if (!isTap || !(target instanceof Element) || tipBox.contains(target)) return;
  const owner = tipOwner(target);
  if (!owner || owner === tipTarget || !linesMaker(owner)().some(Boolean)) {
    showTip(null);
    return;
  }
  showTip(owner);
  heldClick = Boolean(target.closest("a[href], [role=button]")) && !target.closest("button");
}

/** @param {Event} event */
function stopHeld(event) {
  if (!heldClick) return;
  heldClick = false;
  event.preventDefault();
  event.stopPropagation();
}

// A tip stays with its target while that is in sight and still touched, focused (which scrolls to it) or pointed at.
function followTarget() {
  if (!tipTarget) return;
  const { top, bottom, height } = tipTarget.getBoundingClientRect();
  const inSight = tipTarget.isConnected && bottom >= 0 && top <= document.documentElement.clientHeight;
  const isHeld = finger || tipTarget.contains(document.activeElement) || tipTarget.matches(":hover");
  if (!inSight || !isHeld) showTip(null);
  else if (!finger || height <= LARGE_TARGET) placeTip(tipTarget);
}

export function startTips() {
  tipBox = element("div", { id: "tip", role: "tooltip", hidden: true });
  // Inside a landmark, so that screen readers find it.
  document.querySelector("footer")?.append(tipBox);
  const point = (/** @type {Event} */ { target }) => finger || showTip(tipOwner(target));
  const pressed = (/** @type {PointerEvent} */ { pointerType, clientX: x, clientY: y }) => {
    finger = pointerType === "mouse" ? null : { x, y };
    heldClick = false;
  };
  document.addEventListener("pointerdown", pressed, { capture: true });
  document.addEventListener("pointermove", (event) => event.pointerType === "mouse" && (finger = null), { passive: true });
  document.addEventListener("mouseover", point);
  document.addEventListener("focusin", point);
  document.addEventListener("focusout", () => finger || showTip(null));
  document.addEventListener("pointerup", released, { capture: true });
  document.addEventListener("click", stopHeld, { capture: true });
  document.addEventListener(
    "keydown",
    (event) => {
      finger = null;
      if (event.key === "Escape") showTip(null);
    },
    { capture: true },
  );
  addEventListener("hashchange", () => showTip(null));
  document.addEventListener("scroll", followTarget, { capture: true, passive: true });
}
