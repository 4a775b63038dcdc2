// The order of systems that tests of all pairs support: rank sets and groups, as in metrics/ordering.py.
import { ALPHA } from "./distributions.js";

// Holm's correction of p-values, in the order given. NaN, a pair that cannot be tested, counts as 1.
/** @param {number[]} pValues */
export function holm(pValues) {
  const known = pValues.map((p) => (Number.isNaN(p) ? 1 : p));
  const order = known.map((_, at) => at).sort((a, b) => known[a] - known[b]);
  const corrected = new Float64Array(pValues.length);
  let least = 0;
  order.forEach((at, step) => {
    least = Math.max(least, Math.min(1, known[at] * (known.length - step)));
    corrected[at] = least;
  });
  return corrected;
}

// Letters of more systems cannot be read, so that they have no groups; board/ranking.py has the same limit.
export const MOST_LETTERED = 100;

// Rank sets of k systems, and groups of systems that are not significantly different, best first. Two systems share a group
// if and only if they are not significantly different. `p(i, j)` is the uncorrected p-value of a pair with i < j.
/**
 * @param {number[]} values
 * @param {(one: number, other: number) => number} p
 * @param {boolean} [lower]
 * @returns {Ordering}
 */
export function ordering(values, p, lower = false) {
  const count = values.length;
  const raw = [];
  for (let one = 0; one < count; one++) for (let other = one + 1; other < count; other++) raw.push(p(one, other));
  const corrected = holm(raw);
  // Pairs before those of `one`, and before `other` among them.
  return correctedOrdering(values, (one, other) => corrected[(one * (2 * count - one - 3)) / 2 + other - 1], lower);
}

// The same from corrected p-values.
/**
 * @param {number[]} values
 * @param {(one: number, other: number) => number} p
 * @param {boolean} [lower]
 * @returns {Ordering}
 */
export function correctedOrdering(values, p, lower = false) {
  const order = values
    .map((_, at) => at)
    .sort((a, b) => (lower ? values[a] - values[b] : values[b] - values[a]) || a - b);
  const count = values.length;
  const place = new Int32Array(count);
  order.forEach((at, rank) => {
    place[at] = rank;
  });
  // Pairs that differ, by place from best to worst.
  const differ = new Uint8Array(count * count);
  const [low, high] = [values.map(() => 1), values.map(() => count)];
  for (let one = 0; one < count; one++)
    for (let other = one + 1; other < count; other++) {
      if (!(p(one, other) < ALPHA) || values[one] === values[other]) continue;
      const [better, worse] = place[one] < place[other] ? [one, other] : [other, one];
      low[worse] += 1;
      high[better] -= 1;
      differ[place[one] * count + place[other]] = differ[place[other] * count + place[one]] = 1;
    }
  const groups = count > MOST_LETTERED ? [] : neededGroups(grownGroups(differ, count), count);
  return { low, high, groups: groups.map((group) => group.map((at) => order[at])) };
}

// Grow groups from the best pair without a group; each takes every system that fits, from best to worst.
/** @param {Uint8Array} differ @param {number} count */
function grownGroups(differ, count) {
  const shared = new Uint8Array(count * count);
  /** @type {number[][]} */
  const groups = [];
  for (let first = 0; first < count; first++)
    for (let step = 1; step <= count - first; step++) {
      const second = step === count - first ? first : first + step;
      if (differ[first * count + second] || shared[first * count + second]) continue;
      const group = grownGroup(differ, count, first, second);
      for (const one of group) for (const other of group) shared[one * count + other] = 1;
      groups.push(group);
    }
  return groups;
}

/** @param {Uint8Array} differ @param {number} count @param {number} first @param {number} second */
function grownGroup(differ, count, first, second) {
  const group = [...new Set([first, second])];
  for (let at = 0; at < count; at++)
    if (at !== first && at !== second && !group.some((member) => differ[member * count + at])) group.push(at);
  return group.sort((a, b) => a - b);
}

// Drop groups of which all pairs share another group.
/** @param {number[][]} groups @param {number} count */
function neededGroups(groups, count) {
  const shared = new Int32Array(count * count);
  /** @param {number[]} group @param {(pair: number) => void} visit */
  const visitPairs = (group, visit) => {
    for (const one of group) for (const other of group) visit(one * count + other);
  };
  for (const group of groups) visitPairs(group, (pair) => (shared[pair] += 1));
  return groups
    .filter((group) => {
      let needed = false;
      visitPairs(group, (pair) => (needed ||= shared[pair] === 1));
      if (!needed) visitPairs(group, (pair) => (shared[pair] -= 1));
      return needed;
    })
    .sort(byMembers);
}

/** @param {number[]} one @param {number[]} other */
function byMembers(one, other) {
  const at = one.findIndex((member, place) => member !== other[place]);
  return at < 0 ? one.length - other.length : one[at] - (other[at] ?? -1);
}

// The name of a group by its position: a to z, then aa, ab and so on.
/** @param {number} index @returns {string} */
export const letterOf = (index) =>
  (index >= 26 ? letterOf(Math.floor(index / 26) - 1) : "") + String.fromCharCode(97 + (index % 26));
