// Cells that say more are reached with the arrow keys, from one stop of the tab key; `reached(cell)` says which they are.
export function arrowKeys(body, reached) {
  const cellAt = (y, x) => body.rows[y]?.cells[x];
  const next = (y, x, [down, right]) => {
    let cell = cellAt(y, x);
    while (cell && !reached(cell)) {
      y += down;
      x += right;
      cell = cellAt(y, x);
    }
    return cell;
  };
  let stop = next(0, 0, [0, 1]);
  if (!stop) return;
  stop.tabIndex = 0;
  body.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === stop) stop.querySelector("a")?.click();
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step || event.target !== stop) return;
    event.preventDefault();
    const found = next(stop.parentNode.sectionRowIndex + step[0], stop.cellIndex + step[1], step);
    if (!found) return;
    stop.removeAttribute("tabindex");
    found.tabIndex = 0;
    stop = found;
    stop.focus();
  });
}
