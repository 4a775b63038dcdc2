// The hash holds the whole state: a path and its parameters, `#/language/sw?sort=xnli&desc=1`.
export function readRoute(hash = location.hash) {
  const text = hash.startsWith("#/") ? hash.slice(2) : "";
  const cut = text.indexOf("?");
  const path = (cut < 0 ? text : text.slice(0, cut))
    .split("/")
    .filter((part) => part !== "")
    .map(decodedPart);
  return { path, params: new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)) };
}

function decodedPart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function hashOf(path, params = new URLSearchParams()) {
  const made = params instanceof URLSearchParams ? params : searchOf(params);
  const query = made.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

function searchOf(record) {
  const made = new URLSearchParams();
  for (const [name, value] of Object.entries(record)) for (const each of [value].flat()) made.append(name, each);
  return made;
}

let announce = () => {};
export const onRoute = (listener) => {
  announce = listener;
};

// Changes parameters of the page that is open: null or "" removes one, a list repeats it. A step that belongs to one
// movement (typing, dragging) replaces the last entry of the history; any other can be taken back with "back".
export function changeParams(changes, { replace = false } = {}) {
  const { path, params } = readRoute();
  for (const [name, value] of Object.entries(changes)) {
    params.delete(name);
    for (const each of [value].flat())
      if (each !== null && each !== undefined && each !== "") params.append(name, each);
  }
  const hash = hashOf(path, params);
  if (hash === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  announce();
}

export function followRoutes() {
  addEventListener("popstate", () => announce());
  addEventListener("hashchange", () => announce());
}
