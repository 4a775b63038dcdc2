import { oneStop } from "./keys.js";

// Where the reader is on a page: scroll positions and the focus. Each entry of the history has its own, so that Back and
// Forward return to them; a change of the open page keeps them.

/**
 * @typedef {{ top: number, left: number, regions: Record<string, [number, number]>, focus: { key: string, href: string | null } | null }} Place
 */

/** @type {Map<number, Place>} */
const places = new Map();
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
  if (!focus) return;
  const keyed = [...main.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focus.key);
  const target = focus.href
    ? [...(keyed?.querySelectorAll("a[href]") ?? [])].find((node) => node.getAttribute("href") === focus.href)
    : keyed;
  target?.focus({ preventScroll: true });
  oneStop(target);
}

// Remember the place of the entry that the reader leaves, and return the place of the one that is opened: null if it is new.
/** @param {HTMLElement} main @returns {Place | null} */
export function turnPlace(main) {
  const { entry, place } = history.state ?? {};
  if (current && entry !== current) places.set(current, placeIn(main));
  const known = typeof entry === "number" ? (places.get(entry) ?? place ?? null) : null;
  if (typeof entry === "number") current = entry;
  else history.replaceState({ entry: (current = Math.max(Date.now(), last + 1)) }, "");
  last = Math.max(last, current);
  return known;
}

// Return to a place. Drawings have their height only after a layout, so that a second try may be needed.
/** @param {HTMLElement} main @param {Place} place */
export function returnTo(main, place) {
  putBack(main, place);
  const opened = current;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (opened === current && Math.abs(scrollY - place.top) > 1) scrollTo(place.left, place.top);
    }),
  );
}

// The browser scrolls before the page is rendered: leave it to this module. A reload returns to the open entry's place.
/** @param {HTMLElement} main */
export function keepPlaces(main) {
  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => history.replaceState({ entry: current, place: placeIn(main) }, ""));
}
