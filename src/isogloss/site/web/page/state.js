// The hash holds the whole state: a path and its parameters, `#/language/sw?sort=xnli&dir=asc`.
/** @param {string} [hash] */
export function readRoute(hash = location.hash) {
  const text = hash.startsWith("#/") ? hash.slice(2) : "";
  const cut = text.indexOf("?");
  const path = (cut < 0 ? text : text.slice(0, cut))
    .split("/")
    .filter((part) => part !== "")
    .map(decodedPart);
  return { path, params: new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)) };
}

// A part of an address as text; a malformed one as it is.
/** @param {string} part */
export function decodedPart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string[]} path @param {URLSearchParams | Record<string, any>} [params] */
export function hashOf(path, params = new URLSearchParams()) {
  const query = (params instanceof URLSearchParams ? params : searchOf(params)).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

/** @param {Record<string, any>} record */
function searchOf(record) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(record)) for (const item of [value].flat()) params.append(name, item);
  return params;
}

/** @type {(again?: boolean) => void} */
let render = () => {};

// Render now and whenever the address changes.
/** @param {(again?: boolean) => void} listener */
export function followRoutes(listener) {
  render = listener;
  addEventListener("popstate", () => render());
  addEventListener("hashchange", () => render());
  render();
}

// Render the open page again, for example because a file has arrived.
export const redraw = () => render(true);

// Change parameters of the open page: null or "" removes one, a list repeats it. A step of one movement (typing, dragging)
// replaces the last entry of the history; "back" undoes any other.
/** @param {Record<string, any>} changes @param {{ replace?: boolean }} [options1] */
export function changeParams(changes, { replace = false } = {}) {
  const { path, params } = readRoute();
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const item of [value].flat())
      if (item !== null && item !== undefined && item !== "") params.append(name, String(item));
  }
  const hash = hashOf(path, params);
  if (hash === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  render();
}
