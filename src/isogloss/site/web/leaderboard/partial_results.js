import { segmentCounts } from "../board/coverage.js";
import { coverageMatrix } from "./coverage_matrix.js";
import { countText, element, plural } from "../page/dom.js";
import { keptSystems } from "../board/filters.js";
import { otherCounts, partialText } from "./leaderboard_words.js";
import { segmentOf } from "../board/segments.js";
import { changeParams } from "../page/state.js";

// Instead of an empty table: the segments that matching systems cover.
/** @param {Standings} table @param {URLSearchParams} params */
export function otherSegments({ board }, params) {
  const counts = [...segmentCounts(board, params)].filter(([, count]) => count);
  if (!counts.length) return null;
  return element(
    "p",
    { class: "elsewhere", "data-key": "elsewhere" },
    "Covered instead: ",
    counts.map(([id, count]) => [
      element(
        "button",
        { type: "button", "data-key": `elsewhere-${id}`, click: () => changeParams({ segment: id, page: null }) },
        `${segmentOf(board, id).title} (${countText(count)})`,
      ),
      " ",
    ]),
  );
}

// Systems with partial results: a line that opens the matrix of what they cover, and one that lists them as rows.
/** @param {Standings} table @param {URLSearchParams} params */
export function partialResults(table, params) {
  const { board } = table;
  const [partial, empty] = otherCounts(table);
  const isOpen = params.has("coverage");
  if (!partial && !empty && !isOpen) return null;
  const text = partial ? partialText(partial) : `${plural(empty, "system")} ${empty === 1 ? "has" : "have"} other results`;
  return element(
    "section",
    { class: "partials", "aria-label": "Partial results" },
    element(
      "div",
      { class: "line start" },
      element(
        "button",
        {
          type: "button",
          "data-key": "coverage",
          "aria-expanded": String(isOpen),
          click: () => changeParams({ coverage: isOpen ? null : "1" }),
        },
        `${text}: what they cover `,
        element("span", { "aria-hidden": "true" }, isOpen ? "▴" : "▾"),
      ),
      // On a board without complete systems they are the rows.
      (partial && params.has("complete")) || params.has("partial") ? partialButton(params) : null,
    ),
    isOpen ? coverageMatrix(board, keptSystems(board, params)) : null,
  );
}

/** @param {URLSearchParams} params */
const partialButton = (params) =>
  element(
    "button",
    {
      type: "button",
      "data-key": "partial",
      click: () => changeParams({ partial: params.has("partial") ? null : "1", page: null }),
    },
    params.has("partial") ? "Hide partial results" : "Show them as rows",
  );
