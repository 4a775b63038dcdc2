import { segmentCounts } from "../board/coverage.js";
import { countText, element, plural } from "../page/dom.js";
import { segmentsOf } from "../board/segments.js";
import { arrowKeys } from "../page/keys.js";
import { changeParams } from "../page/state.js";
import { withTip } from "../page/tips.js";

// Another segment has other columns: a sort column or a filter of tasks would not fit it.
const OF_SEGMENT = ["task", "metric", "sort", "dir", "page", "y", "hide"];
/** @param {string} id */
const chooseSegment = (id) =>
  changeParams({ segment: id, ...Object.fromEntries(OF_SEGMENT.map((key) => [key, null])) });

// The segments, each with the number of matching systems that cover it; nothing if the board has one segment.
/** @param {Board} board @param {URLSearchParams} params */
export function segmentTabs(board, params) {
  return tabsOf(segmentsOf(board), segmentCounts(board, params), params.get("segment"));
}

// The same for any parts with their numbers of systems.
/** @param {Segment[]} segments @param {Map<string, number>} counts @param {string | null} chosen */
export function tabsOf(segments, counts, chosen) {
  if (segments.length < 2) return null;
  /** @param {Segment} options */
  const tab = ({ id, title, words }) =>
    withTip(
      element(
        "button",
        { type: "button", "data-key": `segment-${id}`, "aria-pressed": String(id === chosen), click: () => chooseSegment(id) },
        `${title} `,
        element("span", { class: "number" }, countText(counts.get(id))),
      ),
      () => [title, `${plural(counts.get(id) ?? 0, "matching system")} with results for ${words}`],
    );
  const tasks = segments.filter(({ kind }) => kind === "task");
  const parts = element(
    "div",
    { class: "parts", role: "toolbar", "aria-label": "Categories" },
    segments.filter(({ kind }) => kind !== "task").map(tab),
  );
  arrowKeys(parts, (node) => node.getAttribute("aria-pressed") === "true");
  return element(
    "div",
    { class: "tabs segments", role: "group", "aria-label": "Part of the benchmark" },
    parts,
    tasks.length ? taskSelect(tasks, counts, chosen) : null,
  );
}

/** @param {Segment[]} tasks @param {Map<string, number>} counts @param {string | null} chosen */
function taskSelect(tasks, counts, chosen) {
  const isChosen = tasks.some(({ id }) => id === chosen);
  return element(
    "select",
    {
      class: isChosen ? "picked" : null,
      "aria-label": "One task",
      "data-key": "segment-task",
      change: ({ target }) => target.value && chooseSegment(target.value),
    },
    element("option", { value: "", selected: !isChosen }, "One task"),
    tasks.map(({ id, title }) =>
      element("option", { value: id, selected: id === chosen }, `${title} · ${countText(counts.get(id))}`),
    ),
  );
}
