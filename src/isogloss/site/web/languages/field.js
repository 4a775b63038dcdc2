import { fromEqualEarth } from "./projection.js";

// Scores between the places of languages, on a grid over the map, and the lines that divide it.
const GRID_STEP = 0.036;
const GRID_WEST = -2.95;
const GRID_SOUTH = -1.25;
const GRID_COLUMNS = 165;
const GRID_ROWS = 72;
const EARTH_RADIUS = 6371;
// Within this distance, in radii of the globe, a language's own score counts fully: about 130 km.
const NEAREST_RADIUS = 0.02;
// Farther from every tested language than this (km), nothing is known.
export const FAR = 1800;

/** @param {number} north @param {number} east @returns {number[]} */
function globeDirection(north, east) {
  const [a, b] = [(north * Math.PI) / 180, (east * Math.PI) / 180];
  return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)];
}

/** @type {Float64Array | null} */
let gridPoints = null;

// The grid's points as directions from the globe's centre.
function gridDirections() {
  if (gridPoints) return gridPoints;
  gridPoints = new Float64Array(3 * GRID_COLUMNS * GRID_ROWS);
  for (let at = 0; at < GRID_COLUMNS * GRID_ROWS; at++) {
    const [x, y] = [GRID_WEST + GRID_STEP * (at % GRID_COLUMNS), GRID_SOUTH + GRID_STEP * Math.floor(at / GRID_COLUMNS)];
    gridPoints.set(globeDirection(...fromEqualEarth(x, y)), 3 * at);
  }
  return gridPoints;
}

// Estimate a value all over the map from values at places: their mean, weighted by the inverse fourth power of the distance, so
// that the nearest place decides. `distance` is that to the nearest place, in km.
/** @param {{ place: Interval, value: number }[]} spots @returns {ValueField} */
export function fieldOf(spots) {
  const directions = gridDirections();
  const own = spots.map(({ place, value }) => [...globeDirection(...place), value]);
  const values = new Float64Array(GRID_COLUMNS * GRID_ROWS);
  const distances = new Float64Array(GRID_COLUMNS * GRID_ROWS);
  for (let at = 0; at < values.length; at++) {
    const [x, y, z] = [directions[3 * at], directions[3 * at + 1], directions[3 * at + 2]];
    let [sum, weights, nearest] = [0, 0, 4];
    for (const [px, py, pz, value] of own) {
      // The square of the straight distance through the globe.
      const square = Math.max(0, 2 - 2 * (x * px + y * py + z * pz));
      const weight = 1 / (square + NEAREST_RADIUS * NEAREST_RADIUS) ** 2;
      sum += weight * value;
      weights += weight;
      if (square < nearest) nearest = square;
    }
    values[at] = sum / weights;
    distances[at] = 2 * EARTH_RADIUS * Math.asin(Math.sqrt(nearest) / 2);
  }
  return { values, distances };
}

// The lines around all parts of the map with values below a level, in its coordinates.
/** @param {Float64Array} values @param {number} level */
export const linesBelow = (values, level) =>
  ringsBelow({ values, columns: GRID_COLUMNS, rows: GRID_ROWS }, level).map((ring) =>
    ring.map(([column, row]) => /** @type {Interval} */ ([GRID_WEST + GRID_STEP * column, GRID_SOUTH + GRID_STEP * row])),
  );

// The sides of a square that a line enters and leaves (0 bottom, 1 right, 2 top, 3 left), with lower values on its left, by
// the corners below the level: 1 south-west, 2 south-east, 4 north-east, 8 north-west.
/** @type {Interval[][]} */
const CROSSED_SIDES = [
  [],
  [[0, 3]],
  [[1, 0]],
  [[1, 3]],
  [[2, 1]],
  // prettier-ignore
  [[0, 3], [2, 1]],
  [[2, 0]],
  [[2, 3]],
  [[3, 2]],
  [[0, 2]],
  // prettier-ignore
  [[1, 0], [3, 2]],
  [[1, 2]],
  [[3, 1]],
  [[0, 1]],
  [[3, 0]],
];
// If two opposite corners are below the level, so may be the middle between them.
/** @type {Record<number, Interval[]>} */
// prettier-ignore
const JOINED_SIDES = { 5: [[0, 1], [2, 3]], 10: [[1, 2], [3, 0]] };

// Closed lines around the parts of a grid with values below a level, by marching squares; the grid's border closes them.
/** @param {{ values: ArrayLike<number>, columns: number, rows: number }} grid @param {number} level @returns {Interval[][]} */
export function ringsBelow({ values, columns, rows }, level) {
  /** @param {number} column @param {number} row */
  const value = (column, row) =>
    column < 0 || row < 0 || column >= columns || row >= rows ? Infinity : values[row * columns + column];
  const wide = columns + 2;
  // Edges of squares: those to the east of a corner have even numbers, those to the north odd ones.
  /** @param {number} column @param {number} row @param {number} side */
  const edge = (column, row, side) => {
    const corner = (row + 1 + Number(side === 2)) * wide + column + 1 + Number(side === 1);
    return 2 * corner + (side % 2);
  };
  /** @type {Map<number, number>} */
  const next = new Map();
  for (let row = -1; row < rows; row++)
    for (let column = -1; column < columns; column++) {
      const four = [value(column, row), value(column + 1, row), value(column + 1, row + 1), value(column, row + 1)];
      const corners = four.reduce((sum, one, at) => sum + (one < level ? 1 << at : 0), 0);
      if (corners === 0 || corners === 15) continue;
      const joined = four.reduce((sum, one) => sum + one, 0) / 4 < level;
      for (const [from, to] of (joined && JOINED_SIDES[corners]) || CROSSED_SIDES[corners]) next.set(edge(column, row, from), edge(column, row, to));
    }
  /** @param {number} number @returns {Interval} */
  const crossing = (number) => {
    const corner = number >> 1;
    const [column, row] = [(corner % wide) - 1, Math.floor(corner / wide) - 1];
    const [a, b] = [value(column, row), number % 2 ? value(column, row + 1) : value(column + 1, row)];
    const part = a === Infinity ? 1 : b === Infinity ? 0 : (level - a) / (b - a);
    return number % 2 ? [column, row + part] : [column + part, row];
  };
  return closedRings(next).map((ring) => ring.map(crossing));
}

// Follow each number to the next one until the ring closes.
/** @param {Map<number, number>} next @returns {number[][]} */
function closedRings(next) {
  const rings = [];
  for (const start of next.keys()) {
    const ring = [];
    for (let at = start; next.has(at); ) {
      ring.push(at);
      const following = next.get(at) ?? start;
      next.delete(at);
      at = following;
    }
    if (ring.length) rings.push(ring);
  }
  return rings;
}
