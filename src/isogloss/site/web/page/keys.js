import { listen } from "./dom.js";

/** @type {Record<string, number[]>} */
const ARROWS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/**
 * The first cell with details from a position on, in the direction of a step.
 * @param {any} body
 * @param {number} y
 * @param {number} x
 * @param {number[]} step
 * @param {(cell: any) => boolean} hasDetails
 */
function nextCell(body, y, x, [down, right], hasDetails) {
  let [row, column] = [y, x];
  let cell = body.rows[row]?.cells[column];
  while (cell && !hasDetails(cell)) {
    row += down;
    column += right;
    cell = body.rows[row]?.cells[column];
  }
  return cell;
}

// Make the cells with details a single tab stop, and move between them with the arrow keys.
/** @param {any} body @param {(cell: any) => boolean} hasDetails */
export function arrowKeys(body, hasDetails) {
  const first = nextCell(body, 0, 0, [0, 1], hasDetails);
  if (!first) return;
  first.tabIndex = 0;
  listen(body, "keydown", (/** @type {any} */ event) => {
    const [table, cell] = [event.currentTarget, event.target];
    if (cell.tabIndex !== 0 || cell.parentNode?.parentNode !== table) return;
    if (event.key === "Enter") cell.querySelector("a")?.click();
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    const target = nextCell(
      table,
      cell.parentNode.sectionRowIndex + step[0],
      cell.cellIndex + step[1],
      step,
      hasDetails,
    );
    if (!target) return;
    for (const stop of table.querySelectorAll("td[tabindex='0'], th[tabindex='0']")) stop.removeAttribute("tabindex");
    target.tabIndex = 0;
    target.focus();
  });
}
