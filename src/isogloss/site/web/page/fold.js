import { element } from "./dom.js";
import { readRoute, redraw } from "./state.js";

// Open folds, by page and label: not part of the address.
/** @type {Set<string>} */
const open = new Set();

// Controls that fold into one button on narrow screens and stand beside each other on wide ones. `active` counts those that
// differ from their start.
/** @param {string} label @param {number} active @param {...Child} controls */
export function folded(label, active, ...controls) {
  const key = `fold-${readRoute().path.slice(0, 2).join("-")}-${label.toLowerCase().replaceAll(" ", "-")}`;
  const isOpen = open.has(key);
  const click = () => {
    if (!open.delete(key)) open.add(key);
    redraw();
  };
  return element(
    "div",
    { class: "fold", "data-key": key, "data-open": isOpen },
    element(
      "button",
      { type: "button", class: "fold-button", "data-key": `${key}-button`, "aria-expanded": String(isOpen), click },
      active ? `${label} (${active})` : label,
    ),
    element("div", { class: "fold-body" }, controls),
  );
}
