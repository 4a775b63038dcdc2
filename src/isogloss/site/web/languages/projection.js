// The Equal Earth projection (Šavrič, Patterson and Jenny 2018): shapes are distorted little, and equal areas on the globe
// have equal areas on the map.
const A1 = 1.340264;
const A2 = -0.081106;
const A3 = 0.000893;
const A4 = 0.003796;
const HALF_ROOT = Math.sqrt(3) / 2;
const RADIANS = Math.PI / 180;
// The middle of the map, so that its edge runs through the Bering Strait and cuts no land.
const MIDDLE = 11;
// Edges longer than this are divided, because straight lines on the globe are curves on the map.
const LONGEST_EDGE = 2;

// Return a place on the map, in radii of the globe: x to the east, y to the north.
/** @param {number} north @param {number} east @returns {Interval} */
export function equalEarth(north, east) {
  const angle = Math.asin(HALF_ROOT * Math.sin(north * RADIANS));
  const square = angle * angle;
  const sixth = square * square * square;
  const x =
    ((east - MIDDLE) * RADIANS * Math.cos(angle)) /
    (HALF_ROOT * (A1 + 3 * A2 * square + sixth * (7 * A3 + 9 * A4 * square)));
  return [x, angle * (A1 + A2 * square + sixth * (A3 + A4 * square))];
}

// Return the latitude and longitude of a place on the map, by Newton's method.
/** @param {number} x @param {number} y @returns {Interval} */
export function fromEqualEarth(x, y) {
  let angle = y;
  /** @param {number} square */
  const slope = (square) => A1 + 3 * A2 * square + square ** 3 * (7 * A3 + 9 * A4 * square);
  for (let turn = 0; turn < 8; turn++) {
    const square = angle * angle;
    angle -= (angle * (A1 + A2 * square + square ** 3 * (A3 + A4 * square)) - y) / slope(square);
  }
  const north = Math.asin(Math.max(-1, Math.min(1, Math.sin(angle) / HALF_ROOT)));
  const east = (x * HALF_ROOT * slope(angle * angle)) / Math.cos(angle);
  return [north / RADIANS, east / RADIANS + MIDDLE];
}

// Divide the edges of an outline of longitudes and latitudes.
/** @param {number[][]} corners @returns {number[][]} */
export const densified = (corners) =>
  corners.flatMap(([east, north], at) => {
    const [nextEast, nextNorth] = corners[(at + 1) % corners.length];
    const parts = Math.max(1, Math.ceil(Math.hypot(nextEast - east, nextNorth - north) / LONGEST_EDGE));
    return Array.from({ length: parts }, (_, part) => [
      east + ((nextEast - east) * part) / parts,
      north + ((nextNorth - north) * part) / parts,
    ]);
  });
