import { CUT_RULES } from "./buckets.js";
import { digitsText, element } from "../page/dom.js";
import { edgeStrip } from "./edge_strip.js";
import { MOST_BUCKETS, changedCuts, parsedEdges } from "./live_buckets.js";
import { changeParams, readRoute } from "../page/state.js";

// Let a reader re-bucket an attribute: drag markers along its distribution, move them with the arrow keys, type edges, or
// choose a rule. The address holds the result.
/** @param {{ name: string, cut: Cut | null, column: ValueColumn, counts: Float64Array, edges: number[] }} options */
export function edgeEditor({ name, cut, column, counts, edges }) {
  /** @param {Cut | null} next @param {boolean} [replace] */
  const change = (next, replace = false) =>
    changeParams({ cut: changedCuts(readRoute().params, name, next) }, { replace });
  /** @param {any} options */
  const choose = ({ target }) => {
    const [rule, count, typed] = target.parentNode.querySelectorAll("select, input");
    const buckets = Math.min(MOST_BUCKETS, Math.max(2, Math.round(Number(count.value)) || 4));
    change(rule.value === "at" ? { rule: "at", edges: parsedEdges(typed.value) } : { rule: rule.value, buckets });
  };
  const rule = cut?.rule ?? "equal";
  return element(
    "div",
    { class: "edges", role: "group", "aria-label": `Buckets of ${name}` },
    edgeStrip(name, { column, counts, edges, moved: (next) => change({ rule: "at", edges: next }, true) }),
    element(
      "div",
      { class: "edge-line" },
      element(
        "select",
        { "aria-label": `Bucketing of ${name}`, change: choose },
        [...CUT_RULES, ["at", "custom edges"]].map(([id, title]) =>
          element("option", { value: id, selected: id === rule }, title),
        ),
      ),
      element("input", {
        type: "number",
        min: "2",
        max: String(MOST_BUCKETS),
        "aria-label": `Number of buckets of ${name}`,
        value: String(cut?.buckets ?? edges.length + 1),
        disabled: rule === "at",
        change: choose,
      }),
      element("input", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        "aria-label": `Edges of ${name}`,
        value: edges.map(digitsText).join(", "),
        change: ({ target }) => change({ rule: "at", edges: parsedEdges(target.value) }),
      }),
      cut ? element("button", { type: "button", class: "chip clear", click: () => change(null) }, "reset") : null,
    ),
  );
}
