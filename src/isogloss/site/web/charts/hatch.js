import { drawn } from "../page/dom.js";

// Hatching means untested on every page: the class `untested` in tables, this pattern in drawings. Add it to the drawing and
// fill shapes with `url(#ID)`.
/** @param {string} id */
export const hatchPattern = (id) =>
  drawn(
    "pattern",
    { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    drawn("rect", { width: 6, height: 6, class: "hatch-ground" }),
    drawn("line", { x1: 0, x2: 0, y1: 0, y2: 6, class: "hatch-line" }),
  );
