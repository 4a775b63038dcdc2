import { METADATA, disclosed } from "../board/describe.js";
import { element, listed, missing, outside } from "../page/dom.js";
import { facts } from "../board/parts.js";
import { systemNotes } from "./system_head.js";

// The facts of a system that are known, and one sentence on those that are not disclosed.
/** @param {Board} board @param {System} system @param {Detail} detail */
export function factsSection(board, system, detail) {
  const { known, undisclosed } = systemFacts(system);
  const notes = systemNotes(board, system);
  return element(
    "section",
    {},
    element("h2", {}, "About this system"),
    facts([
      ...known,
      ["Date", system.date ?? null],
      ["Paper", system.paper ? outside(system.url, system.paper) : null],
      ["Link", system.url && !system.paper ? outside(system.url, system.url) : null],
      ["Source of the scores", system.source || null],
    ]),
    undisclosed.length ? element("p", { class: "soft" }, `Not disclosed: ${listed(undisclosed)}.`) : null,
    notes.length
      ? element(
          "ul",
          { class: "notes" },
          notes.map((note) => element("li", {}, note)),
        )
      : null,
    detail ? allMetadata(detail) : null,
  );
}

/** @param {System} system @returns {{ known: Child[][], undisclosed: string[] }} */
export function systemFacts(system) {
  const stated = METADATA.filter(({ id, value }) => value && id !== "source");
  const isKnown = (/** @type {TableColumn<System>} */ { value }) => !missing(value?.(system));
  return {
    known: stated.filter(isKnown).map(({ title, value, text }) => [title, disclosed(value?.(system), text)]),
    undisclosed: stated
      .filter((each) => !isKnown(each) && !each.sparse)
      .map(({ id, title }) => (id === "active" ? "active parameters" : title.toLowerCase())),
  };
}

/** @param {SystemDetail} detail */
function allMetadata({ metadata }) {
  const pairs = Object.entries(metadata ?? {});
  /** @param {unknown} value */
  const text = (value) =>
    value !== null && typeof value === "object"
      ? JSON.stringify(value)
      : value === null || value === ""
        ? "not disclosed"
        : String(value);
  return pairs.length
    ? element(
        "details",
        {},
        element("summary", {}, "All metadata"),
        facts(pairs.map(([name, value]) => [name, text(value)])),
      )
    : null;
}
