import { oneStop } from "./keys.js";

// Where the reader is on a page: scroll positions and the focus. Each entry of the history has its own, so that Back and
// Forward return to them; a change of the open page keeps them.

/**
 * @typedef {{ top: number, left: number, regions: Record<string, [number, number]>, focus: { key: string, href: string | null } | null }} Place
 */

/** @type {Map<number, Place>} */
const places = new Map();
const STORED = "isogloss-places";
const MOST_STORED = 50;
let current = 0;
let last = 0;

/** @param {Element} region @param {number} at */
const regionKey = (region, at) => region.getAttribute("aria-label") ?? String(at);

/** @param {HTMLElement} main @returns {Place} */
function placeIn(main) {
  /** @type {Place["regions"]} */
  const regions = {};
  [...main.querySelectorAll(".scroll")].forEach((region, at) => {
    if (region.scrollTop || region.scrollLeft) regions[regionKey(region, at)] = [region.scrollTop, region.scrollLeft];
  });
  const active = document.activeElement;
  const keyed = active && active !== main && main.contains(active) ? active.closest("[data-key]") : null;
  const focus = keyed ? { key: keyed.dataset.key ?? "", href: active?.getAttribute("href") ?? null } : null;
  return { top: scrollY, left: scrollX, regions, focus };
}

/** @param {HTMLElement} main @param {Place} place */
function putBack(main, { top, left, regions, focus }) {
  scrollTo(left, top);
  [...main.querySelectorAll(".scroll")].forEach((region, at) => {
    [region.scrollTop, region.scrollLeft] = regions[regionKey(region, at)] ?? [0, 0];
  });
  if (focus) putFocus(main, focus);
}

/** @param {HTMLElement} main @param {NonNullable<Place["focus"]>} focus */
function putFocus(main, focus) {
  const keyed = [...main.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focus.key);
  const target = focus.href
    ? [keyed, ...(keyed?.querySelectorAll("a[href]") ?? [])].find((node) => node?.getAttribute("href") === focus.href)
    : keyed;
  target?.focus({ preventScroll: true });
  oneStop(target);
}

// Remember the place of the entry that the reader leaves, and return the place of the one that is opened: null if it is new.
/** @param {HTMLElement} main @returns {Place | null} */
export function turnPlace(main) {
  const entry = history.state?.entry;
  if (current && entry !== current) places.set(current, placeIn(main));
  last = Math.max(last + 1, Date.now());
  current = typeof entry === "number" ? entry : last;
  if (entry !== current) history.replaceState({ entry: current }, "");
  return entry === current ? (places.get(current) ?? null) : null;
}

// Return to a place. Drawings have their height and their marks only after a layout, so that a second try may be needed.
/** @param {HTMLElement} main @param {Place} place */
export function returnTo(main, place) {
  putBack(main, place);
  const opened = current;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (opened !== current) return;
      if (Math.abs(scrollY - place.top) > 1) scrollTo(place.left, place.top);
      if (place.focus && document.activeElement === main) putFocus(main, place.focus);
    }),
  );
}

// The browser scrolls before a page is rendered: do it here instead. Places outlive a reload, if the reader lets pages store.
/** @param {HTMLElement} main */
export function keepPlaces(main) {
  history.scrollRestoration = "manual";
  try {
    for (const [entry, place] of JSON.parse(sessionStorage.getItem(STORED) ?? "[]")) places.set(entry, place);
  } catch {
    places.clear();
  }
  addEventListener("pagehide", () => {
    places.set(current, placeIn(main));
    try {
      sessionStorage.setItem(STORED, JSON.stringify([...places].slice(-MOST_STORED)));
    } catch {
      // Without storage, a reload starts at the top.
    }
  });
}
