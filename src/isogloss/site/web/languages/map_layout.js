import { textWidth } from "../charts/text_width.js";
import { equalEarth } from "./projection.js";

// Circles and labels of the map: no circle covers another, no label covers a circle or a label.
const SMALLEST_CIRCLE = 4;
// The circle of 1.6 billion speakers, as a share of the map's width, and its largest radius.
const MOST_SPEAKERS = 1.6e9;
const CIRCLE_SHARE = 0.024;
const LARGEST_CIRCLE = 36;
// Overlaps below this (px) are left.
const SETTLED = 0.05;
const CIRCLE_GAP = 1.5;
const PULLED_TURNS = 50;
const FREE_TURNS = 80;
const HOME_PULL = 0.08;
const LABEL_LINE = 13;

/** @param {number} width */
const largestRadius = (width) => Math.min(LARGEST_CIRCLE, CIRCLE_SHARE * width);

// The area of a circle is proportional to the number of speakers, down to a size that can be seen.
/** @param {number | null} speakers @param {number} width */
export const radiusOf = (speakers, width) =>
  Math.max(SMALLEST_CIRCLE, largestRadius(width) * Math.sqrt((speakers ?? 0) / MOST_SPEAKERS));

// The number of speakers below which all circles have the smallest size.
/** @param {number} width */
export const fewestSpeakers = (width) => MOST_SPEAKERS * (SMALLEST_CIRCLE / largestRadius(width)) ** 2;

// Push circles apart until none covers another, small ones farther than large ones, while each is pulled to its place.
/** @template {Circle} C @param {C[]} circles @returns {C[]} */
export function spreadCircles(circles) {
  for (let turn = 0; turn < PULLED_TURNS; turn++) {
    for (const circle of circles) {
      circle.x += HOME_PULL * (circle.home[0] - circle.x);
      circle.y += HOME_PULL * (circle.home[1] - circle.y);
    }
    partAll(circles);
  }
  for (let turn = 0; turn < FREE_TURNS && partAll(circles); turn++);
  return circles;
}

/** @param {Circle[]} circles */
function partAll(circles) {
  let moved = false;
  for (let one = 0; one < circles.length; one++)
    for (let other = one + 1; other < circles.length; other++)
      if (pushApart(circles[one], circles[other])) moved = true;
  return moved;
}

/** @param {Circle} one @param {Circle} other */
function pushApart(one, other) {
  const least = one.r + other.r + CIRCLE_GAP;
  const [x, y] = [other.x - one.x, other.y - one.y];
  if (Math.abs(x) >= least || Math.abs(y) >= least) return false;
  const distance = Math.hypot(x, y);
  if (distance >= least) return false;
  // Circles at the same place part in any direction.
  const [dx, dy] = distance ? [x / distance, y / distance] : [Math.SQRT1_2, Math.SQRT1_2];
  const [own, others] = [one.r * one.r, other.r * other.r];
  const [mine, theirs] = [others / (own + others), own / (own + others)];
  const by = least - distance;
  one.x -= dx * by * mine;
  one.y -= dy * by * mine;
  other.x += dx * by * theirs;
  other.y += dy * by * theirs;
  return by > SETTLED;
}

// The part of the map that shows all places: its west, east, south and north, in radii of the globe. `shape` is the width of
// the whole over its height.
/** @param {Interval[]} places @param {number} shape */
export function frameOf(places, shape) {
  const spots = places.map(([north, east]) => equalEarth(north, east));
  const [xs, ys] = [0, 1].map((at) => spots.map((spot) => spot[at]));
  const [south, north] = [Math.max(-1.1, Math.min(...ys) - 0.2), Math.min(1.29, Math.max(...ys) + 0.14)];
  const tall = Math.max(north - south, 0.7);
  const [west, east] = [Math.min(...xs) - 0.3, Math.max(...xs) + 0.3];
  const wide = Math.min(5.2, Math.max(east - west, shape * tall));
  const middle = Math.max(-2.6 + wide / 2, Math.min(2.6 - wide / 2, (west + east) / 2));
  const centre = (south + north) / 2;
  const high = Math.max(tall, wide / (1.25 * shape)) / 2;
  return { west: middle - wide / 2, east: middle + wide / 2, south: centre - high, north: centre + high };
}

// Names of circles, for as many as fit, first ones first: inside (but not in a hollow circle), right, left, above or below.
/** @param {(Circle & { name: string, hollow?: boolean })[]} circles @param {number} width @param {number} height @returns {MapLabel[]} */
export function labelsOf(circles, width, height) {
  /** @type {Box[]} */
  const taken = circles.map(({ x, y, r }) => ({ left: x - r, right: x + r, top: y - r, bottom: y + r }));
  /** @type {MapLabel[]} */
  const labels = [];
  circles.forEach((circle, at) => {
    const { x, y, r, name, hollow } = circle;
    const wide = textWidth(name) + 2;
    if (!hollow && textWidth(name, true) < 2 * r - 4) {
      labels.push({ at, x, y, anchor: "middle", inside: true });
      return;
    }
    /** @type {[number, number, string][]} */
    const places = [
      [x + r + 2, y, "start"],
      [x - r - 2, y, "end"],
      [x, y - r - LABEL_LINE / 2 - 1, "middle"],
      [x, y + r + LABEL_LINE / 2 + 1, "middle"],
    ];
    for (const [left, middle, anchor] of places) {
      const start = anchor === "start" ? left : anchor === "end" ? left - wide : left - wide / 2;
      const box = { left: start, right: start + wide, top: middle - LABEL_LINE / 2, bottom: middle + LABEL_LINE / 2 };
      const fits = box.left >= 2 && box.right <= width - 2 && box.top >= 2 && box.bottom <= height - 2;
      if (!fits || taken.some((other) => boxesOverlap(box, other))) continue;
      taken.push(box);
      labels.push({ at, x: left, y: middle, anchor, inside: false });
      return;
    }
  });
  return labels;
}

/** @param {Box} one @param {Box} other */
const boxesOverlap = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
