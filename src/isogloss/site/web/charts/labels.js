import { textWidth } from "./text_width.js";

// Places for labels beside their points, in pixels.
const LONGEST = 26;
const ABOVE_LINE = 11;
const BELOW_LINE = 3;
// Between labels on one line.
const LABEL_GAP = 6;
// Distances of a label's start, or end, from its point: first above on either side, then below, level, and further away.
const PLACES = [
  [7, -7],
  [-7, -7],
  [7, 16],
  [-7, 16],
  [9, 4],
  [-9, 4],
  [7, -21],
  [-7, -21],
  [7, 30],
  [-7, 30],
];

/** @param {string} text @param {number} [longest] */
export const shortened = (text, longest = LONGEST) => {
  const signs = [...text];
  return signs.length > longest ? `${signs.slice(0, longest - 1).join("")}…` : text;
};

// A model's name without its owner's, which charts have no room for.
/** @param {string} name */
export const modelName = (name) => name.split("/").at(-1).trim() || name;

// Names without their owners, unless two would be alike.
/** @param {string[]} names */
export const modelNames = (names) => {
  const models = names.map(modelName);
  return new Set(models).size === names.length ? models : names;
};

/** @param {number[]} box @param {number[]} other */
const overlap = ([left, right, top, bottom], [from, to, high, low]) =>
  left < to && from < right && top < low && high < bottom;

// Place labels, the first ones first, so that none covers another, one of the marks, leaves the bounds, or is nearer to
// another mark than to its own; labels without a free place are left out. `others` are boxes of other texts: left, right, top, bottom.
/**
 * @param {LabelAnchor[]} anchors
 * @param {{ x: number, y: number }[]} marks
 * @param {{ left: number, right: number, top: number, bottom: number }} bounds
 * @param {number[][]} [others]
 * @returns {PlacedLabel[]}
 */
export function placeLabels(anchors, marks, bounds, others = []) {
  const taken = [...others, ...marks.map(({ x, y }) => [x - 4, x + 4, y - 4, y + 4])];
  return anchors.flatMap(({ x, y, text: whole }) => {
    const text = shortened(whole);
    const width = textWidth(text);
    for (const [across, down] of PLACES) {
      const end = across < 0;
      const [at, line] = [x + across, y + down];
      const box = [end ? at - width : at, end ? at : at + width, line - ABOVE_LINE, line + BELOW_LINE];
      const inside =
        box[0] >= bounds.left && box[1] <= bounds.right && box[2] >= bounds.top && box[3] <= bounds.bottom;
      if (!inside || taken.some((other) => overlap(box, other))) continue;
      const own = Math.hypot(across, down - ABOVE_LINE / 2);
      if (marks.some((mark) => Math.hypot(mark.x - at, mark.y - line + ABOVE_LINE / 2) < own - 0.01)) continue;
      taken.push([box[0] - LABEL_GAP, box[1] + LABEL_GAP, box[2], box[3]]);
      return [{ x: at, y: line, text, end }];
    }
    return [];
  });
}
