import { redraw } from "../page/state.js";

// Return a function that tests a large ranking after the page is drawn, unless another ranking comes first.
export function laterTest() {
  let timer = 0;
  return (/** @type {Standings} */ table) => {
    clearTimeout(timer);
    if (!table.testRanks) return;
    timer = window.setTimeout(() => {
      table.testRanks?.();
      redraw();
    }, 60);
  };
}
