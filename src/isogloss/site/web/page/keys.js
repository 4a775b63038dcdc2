import { listen } from "./dom.js";

/** @type {Record<string, number[]>} */
const ARROWS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
const INNER = "a[href], button, input, select, [tabindex]";

// What the arrow keys visit in a row: cells with details, and the links, boxes and buttons of other cells. A group of buttons
// is a row without cells.
/** @param {any} row @param {(cell: any) => boolean} hasDetails @returns {any[]} */
const stopsOf = (row, hasDetails) =>
  [...(row.cells ?? [row])].flatMap((cell) =>
    hasDetails(cell) ? [cell] : [...cell.querySelectorAll(INNER)].filter((node) => !node.disabled),
  );

/** @param {any} part @returns {any[]} */
const linesOf = (part) => [...(part.rows ?? [part])];

// Make a part of a table (its head or a body), a group of buttons or the marks of a chart a single tab stop, first at a cell
// with details. The arrow keys, Home and End move between cells, links and boxes; Enter follows the link of a cell, and Space
// ticks a box. Without rows, up and down move back and on.
/** @param {any} part @param {(cell: any) => boolean} [hasDetails] */
export function arrowKeys(part, hasDetails = () => false) {
  for (const inner of part.querySelectorAll(INNER)) inner.tabIndex = -1;
  for (const row of linesOf(part)) {
    const stops = stopsOf(row, hasDetails);
    const first = stops.find(hasDetails) ?? stops[0];
    if (!first) continue;
    first.tabIndex = 0;
    break;
  }
  part.setAttribute("data-stops", "");
  listen(part, "keydown", (/** @type {any} */ event) => moveFocus(event, hasDetails));
  listen(part, "focusin", (/** @type {any} */ event) => oneStop(event.target));
}

/** @param {any} event @param {(cell: any) => boolean} hasDetails */
function moveFocus(event, hasDetails) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Enter" && hasDetails(event.target)) event.target.querySelector("a")?.click();
  if (!ARROWS[event.key] && event.key !== "Home" && event.key !== "End") return;
  const rows = linesOf(event.currentTarget);
  const y = rows.findIndex((row) => row.contains(event.target));
  const target = y < 0 ? null : targetOf(event, rows, y, hasDetails);
  if (!target) return;
  event.preventDefault();
  if (target.tabIndex < 0) target.tabIndex = 0;
  target.focus();
}

/** @param {any} event @param {any[]} rows @param {number} y @param {(cell: any) => boolean} hasDetails */
function targetOf({ key, target }, rows, y, hasDetails) {
  const stops = stopsOf(rows[y], hasDetails);
  if (key === "Home") return stops[0];
  if (key === "End") return stops.at(-1);
  const [down, right] = ARROWS[key];
  if (right || !rows[y].cells) return stops[stops.indexOf(target) + (right || down)];
  const column = target.closest("td, th")?.cellIndex;
  for (let at = y + down; rows[at]; at += down) {
    const below = stopsOf(rows[at], hasDetails).find((stop) => stop.closest("td, th").cellIndex === column);
    if (below) return below;
  }
  return null;
}

// Let Tab return to the stop that has the focus, and to no other of its part.
/** @param {any} stop */
export function oneStop(stop) {
  const part = stop?.closest("[data-stops]");
  if (!part || part === stop) return;
  for (const other of part.querySelectorAll("[tabindex='0']")) if (other !== stop) other.tabIndex = -1;
  if (stop.tabIndex !== 0) stop.tabIndex = 0;
}
