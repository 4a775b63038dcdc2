// Points that no other point dominates, going right: each is better than all points before it. Over time, these are the steps
// of the best score so far; over size or cost, the Pareto frontier. Of equal points, the first counts.
/**
 * @template {{ x: number, y: number }} T
 * @param {T[]} points
 * @param {boolean} [lower]
 * @returns {T[]}
 */
export function frontier(points, lower = false) {
  /** @param {{ y: number }} options */
  const goodness = ({ y }) => (lower ? -y : y);
  let best = -Infinity;
  return [...points]
    .sort((a, b) => a.x - b.x || goodness(b) - goodness(a))
    .filter((point) => {
      if (goodness(point) <= best) return false;
      best = goodness(point);
      return true;
    });
}

// The path of a frontier as steps, drawn on to `right`.
/** @param {{ x: number, y: number }[]} steps @param {Plane} plane @param {number} right */
export const stepPath = (steps, plane, right) =>
  steps.length
    ? `${steps.map(({ x, y }, at) => (at ? `H${plane.x(x)}V${plane.y(y)}` : `M${plane.x(x)} ${plane.y(y)}`)).join("")}H${right}`
    : "";

// The boxes that the steps cover, for the placement of labels: left, right, top, bottom.
/** @param {{ x: number, y: number }[]} steps @param {Plane} plane */
export const stepBoxes = (steps, plane) =>
  steps.flatMap(({ x, y }, at) => {
    const next = steps[at + 1];
    const [left, height] = [plane.x(x), plane.y(y)];
    const right = next ? plane.x(next.x) : plane.right;
    const along = [left, right, height - 1, height + 1];
    if (!next) return [along];
    const end = plane.y(next.y);
    return [along, [right - 1, right + 1, Math.min(height, end), Math.max(height, end)]];
  });
