import { systemDetail } from "../board/decode.js";
import { redraw } from "../page/state.js";

/** @type {Map<string, Map<string, SystemDetail | null>>} */
const ready = new Map();

// The details of several systems by id, once all are loaded: the page is drawn again once, not for each of them. Reported
// systems have no intervals to load.
/** @param {System[]} systems @returns {Map<string, SystemDetail | null>} */
export function detailsTogether(systems) {
  const ids = [...new Set(systems.filter(({ reported }) => !reported).map(({ id }) => id))].sort();
  const key = ids.join(" ");
  const known = ready.get(key);
  if (known) return known;
  /** @type {Map<string, SystemDetail | null>} */
  const details = new Map();
  ready.set(key, details);
  if (ids.length)
    Promise.all(ids.map(systemDetail)).then((all) => {
      ids.forEach((id, at) => details.set(id, all[at]));
      redraw();
    });
  return details;
}
