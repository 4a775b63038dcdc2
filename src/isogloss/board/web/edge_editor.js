import { CUT_RULES } from "./buckets.js";
import { element } from "./dom.js";
import { EdgeStrip, edgeText } from "./edge_strip.js";
import { MOST_BUCKETS, changedCuts, parsedEdges } from "./live_buckets.js";
import { changeParams, readRoute } from "./state.js";

// Lets a reader cut an attribute anew: edges are dragged along the distribution of its values, moved with the arrow keys,
// typed, or left to a rule. The address has the cut, so `sync` is told whenever it changes.
export function edgeEditor(attribute) {
  const { name } = attribute;
  const change = (cut, replace = false) =>
    changeParams({ cut: changedCuts(readRoute().params, name, cut) }, { replace });
  const strip = new EdgeStrip(name, (edges) => change({ rule: "at", edges }, true));
  const rule = element(
    "select",
    { "aria-label": `How ${name} is cut`, change: () => choose() },
    CUT_RULES.map(([id, title]) => element("option", { value: id }, title)),
    element("option", { value: "at" }, "at my edges"),
  );
  const count = element("input", {
    type: "number",
    min: "2",
    max: String(MOST_BUCKETS),
    "aria-label": `Buckets of ${name}`,
    change: () => choose(),
  });
  const typed = element("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    "aria-label": `Edges of ${name}`,
    change: () => change({ rule: "at", edges: parsedEdges(typed.value) }),
  });
  const back = element("button", { type: "button", class: "chip clear", click: () => change(null) }, "reset");
  const choose = () => {
    const buckets = Math.min(MOST_BUCKETS, Math.max(2, Math.round(Number(count.value)) || 4));
    change(rule.value === "at" ? { rule: "at", edges: parsedEdges(typed.value) } : { rule: rule.value, buckets });
  };
  const sync = ({ cut, column, counts, edges }) => {
    rule.value = cut?.rule ?? "equal";
    count.value = String(cut?.buckets ?? edges.length + 1);
    count.disabled = cut?.rule === "at";
    if (document.activeElement !== typed) typed.value = edges.map(edgeText).join(", ");
    back.hidden = !cut;
    strip.sync(column, counts, edges);
  };
  const node = element(
    "div",
    { class: "edges", role: "group", "aria-label": `Buckets of ${name}` },
    strip.node,
    element("div", { class: "edge-line" }, rule, count, typed, back),
  );
  return { node, sync };
}
