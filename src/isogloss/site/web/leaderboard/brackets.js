import { element } from "../page/dom.js";

// Brackets beside the ranks join systems that are not significantly different: one bracket per group, in parallel lanes.

export const MOST_LANES = 6;

/** @typedef {{ lanes: string[], more: number }} RowLanes */

// The lanes of each row: "start", "member" and "end" of a bracket, "through" where it passes a system of no such group, or "".
// `more` counts the brackets of a row for which there is no lane.
/** @param {string[][]} groups @param {string[]} ids @returns {{ rows: Map<string, RowLanes>, count: number }} */
export function bracketLanes(groups, ids) {
  if (!groups.length) return { rows: new Map(), count: 0 };
  const places = new Map(ids.map((id, at) => [id, at]));
  const spans = groups
    .map((group) => group.map((id) => places.get(id) ?? -1).filter((at) => at >= 0))
    .filter((members) => members.length > 1)
    .map((members) => ({ members: new Set(members), from: Math.min(...members), to: Math.max(...members) }))
    .sort((a, b) => a.from - b.from || b.to - a.to);
  /** @type {RowLanes[]} */
  const rows = ids.map(() => ({ lanes: [], more: 0 }));
  /** @type {number[]} */
  const ends = [];
  for (const { members, from, to } of spans) {
    const free = ends.findIndex((end) => end < from);
    const lane = free < 0 ? ends.length : free;
    if (lane >= MOST_LANES) {
      for (const at of members) rows[at].more += 1;
      continue;
    }
    ends[lane] = to;
    for (let at = from; at <= to; at++)
      rows[at].lanes[lane] = at === from ? "start" : at === to ? "end" : members.has(at) ? "member" : "through";
  }
  const filled = rows.map(({ lanes, more }) => ({ lanes: Array.from(ends, (_, lane) => lanes[lane] ?? ""), more }));
  return { rows: new Map(ids.map((id, at) => [id, filled[at]])), count: ends.length };
}

/** @param {RowLanes | undefined} row */
export function drawnLanes(row) {
  if (!row?.lanes.length) return null;
  const drawn = element(
    "span",
    { class: "lanes", "aria-hidden": "true" },
    row.lanes.map((kind) => element("i", { class: kind ? `lane ${kind}` : null })),
  );
  return [row.more ? element("span", { class: "of", "aria-hidden": "true" }, `+${row.more}`) : null, drawn];
}
