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

// Places as directions from the globe's centre, three numbers each.
/** @param {Interval[]} places */
function globeDirections(places) {
  const directions = new Float64Array(3 * places.length);
  places.forEach(([north, east], at) => {
    const [a, b] = [(north * Math.PI) / 180, (east * Math.PI) / 180];
    directions[3 * at] = Math.cos(a) * Math.cos(b);
    directions[3 * at + 1] = Math.cos(a) * Math.sin(b);
    directions[3 * at + 2] = Math.sin(a);
  });
  return directions;
}

/** @type {Float64Array | null} */
let gridPoints = null;

// The grid's points as directions. Longitudes are evenly spaced along a row.
function gridDirections() {
  gridPoints ??= globeDirections(
    Array.from({ length: GRID_ROWS }, (_, row) => {
      const y = GRID_SOUTH + GRID_STEP * row;
      const [[north, start], [, next]] = [0, 1].map((x) => fromEqualEarth(x, y));
      return Array.from({ length: GRID_COLUMNS }, (__, column) => {
        const x = GRID_WEST + GRID_STEP * column;
        return /** @type {Interval} */ ([north, start + x * (next - start)]);
      });
    }).flat(),
  );
  return gridPoints;
}

// Estimate a value all over the map from values at places: their mean, weighted by the inverse fourth power of the distance, so
// that the nearest place decides. `distances` are those to the nearest place, in km.
/** @param {{ place: Interval, value: number }[]} spots @returns {ValueField} */
export function fieldOf(spots) {
  const points = gridDirections();
  const places = globeDirections(spots.map(({ place }) => place));
  const known = Float64Array.from(spots, ({ value }) => value);
  const values = new Float64Array(GRID_COLUMNS * GRID_ROWS);
  const distances = new Float64Array(GRID_COLUMNS * GRID_ROWS);
  for (let at = 0; at < values.length; at++) {
    const x = points[3 * at];
    const y = points[3 * at + 1];
    const z = points[3 * at + 2];
    let sum = 0;
    let weights = 0;
    let nearest = 4;
    for (let spot = 0; spot < known.length; spot++) {
      // The square of the straight distance through the globe.
      const along = x * places[3 * spot] + y * places[3 * spot + 1] + z * places[3 * spot + 2];
      const square = along < 1 ? 2 - 2 * along : 0;
      const near = square + NEAREST_RADIUS * NEAREST_RADIUS;
      sum += known[spot] / (near * near);
      weights += 1 / (near * near);
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
  [[0, 3], [2, 1]],
  [[2, 0]],
  [[2, 3]],
  [[3, 2]],
  [[0, 2]],
  [[1, 0], [3, 2]],
  [[1, 2]],
  [[3, 1]],
  [[0, 1]],
  [[3, 0]],
];
// If two opposite corners are below the level, so may be the middle between them.
/** @type {Record<number, Interval[]>} */
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
