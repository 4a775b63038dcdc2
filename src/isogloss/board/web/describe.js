import { languageName } from "./decode.js";
import { element, link, listed, missing, nameOf, plural, scoreText, sizeText } from "./dom.js";
import { hashOf } from "./state.js";
import { withTip } from "./tips.js";

const NOT_DISCLOSED = "not disclosed";
const CATEGORY_TITLES = {
  classification: "Classification",
  structured: "Structured prediction",
  qa: "Question answering",
  retrieval: "Retrieval",
};
export const categoryTitle = (name) => CATEGORY_TITLES[name] ?? name;

// What a column of scores is called outside of its table, where "Avg" would not say of what.
export const shortScoreTitle = ({ kind, id, title }) => (kind === "category" ? categoryTitle(id) : title);
export const scoreTitle = (column) =>
  column.kind === "category" ? `${shortScoreTitle(column)} average` : column.title;

const systemLink = (system) => link(hashOf(["system", system.id]), nameOf(system.name, { class: "name" }));

// A system in a sentence: figures of different regimes stand side by side, so each says which it is of.
export const systemWithRegime = (system) => [
  link(hashOf(["system", system.id]), nameOf(system.name)),
  system.regime ? [" (", nameOf(system.regime), ")"] : "",
];

// A system in a table: several have one name, and differ in their regime.
export const systemCell = (system) => [
  systemLink(system),
  element("span", { class: "under" }, nameOf(system.regime ?? ""), badges(system)),
];

const softText = (text) => element("span", { class: "soft" }, text);
export const disclosed = (value, text = (known) => known, unknown = NOT_DISCLOSED) =>
  missing(value)
    ? softText(unknown)
    : value === "" || value === false || value === "none"
      ? "no"
      : value === true
        ? "yes"
        : text(value);

export function badges(system) {
  const badge = (text, kind, lines) =>
    withTip(element("span", { class: `badge ${kind}`, tabindex: kind === "warn" ? "0" : null }, text), () => lines);
  return [
    system.contamination ? badge("⚠ contamination", "warn", ["Declared contamination", system.contamination]) : null,
    system.reported ? badge("reported", "plain", ["Reported, not scored here", system.source || system.paper]) : null,
    system.kind === "floor"
      ? badge("floor", "plain", ["A floor", "What needs no understanding: majority class, random choice or the like."])
      : null,
  ];
}

export function provenanceLines(board, system, task, code) {
  const found = board.provenance?.[system.provenance];
  if (!found) return [system.reported ? `reported: ${system.source || system.paper || "source not given"}` : ""];
  const sums = found.checksums[task?.id] ?? {};
  const sum = code
    ? sums[code]
    : Object.keys(sums).length
      ? plural(Object.keys(sums).length, "checksum") + " on the system's page"
      : "";
  return [`scorer Isogloss ${found.scorer}${sum ? `; data ${sum}` : ""}`];
}

export const intervalText = ({ low, high }) =>
  missing(low) || missing(high) ? "" : `95 % interval ${scoreText(low)}–${scoreText(high)}`;

const percentText = (share) => `${(100 * share).toFixed(1)} %`;
export const unparsedText = (share) => (share ? `${percentText(share)} of the answers missing or not readable` : "");

// The cells that are missing, by name.
export function lackText(board, row, column = null) {
  const mine = row
    .lacking()
    .filter(
      ({ column: { task } }) =>
        !column || column.kind === "overall" || column.id === task.id || column.id === task.category,
    );
  if (!mine.length) return "not reported";
  return `missing: ${mine
    .map(({ column: { task, codes: all }, codes }) =>
      codes.length === all.length
        ? task.name
        : `${task.name} in ${listed(
            codes.map((code) => languageName(board, code)),
            8,
          )}`,
    )
    .join("; ")}`;
}

// What is known of systems, beyond scores. Table 13 of the paper and more.
export const METADATA = [
  { id: "kind", title: "Kind", value: (s) => s.kind },
  {
    id: "regime",
    title: "Regime",
    value: (s) => s.regime,
    hint: "How the system saw the task and the languages before the test.",
  },
  { id: "year", title: "Year", value: (s) => s.year ?? null, numeric: true },
  { id: "parameters", title: "Parameters", value: (s) => s.parameters ?? null, numeric: true, text: sizeText },
  {
    id: "active",
    title: "Active",
    value: (s) => s.parameters_active ?? null,
    numeric: true,
    text: sizeText,
    hint: "Parameters that one token uses.",
  },
  { id: "open", title: "Open weights", value: (s) => s.open_weights ?? null, text: (value) => (value ? "yes" : "no") },
  { id: "pretraining", title: "Pre-training data", value: (s) => s.pretraining_data ?? null },
  { id: "parallel", title: "Parallel data", value: (s) => s.parallel_data ?? null },
  { id: "translated", title: "Translated data", value: (s) => s.translated_data ?? null },
  { id: "licence", title: "Licence", value: (s) => s.licence ?? null },
  { id: "contamination", title: "Contamination", value: (s) => s.contamination || "none declared" },
  {
    id: "unparsed",
    title: "Unparsed",
    value: (s) => s.unparsed ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: percentText,
    hint: "Share of answers that are missing or could not be read; they count as wrong.",
  },
  {
    id: "tokens",
    title: "Tokens",
    value: (s) => s.tokens ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: sizeText,
    hint: "Tokens that the evaluation took.",
  },
  {
    id: "cost",
    title: "Cost",
    value: (s) => s.cost ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: (value) => `$${value.toFixed(2)}`,
    hint: "What the evaluation cost, in US dollars.",
  },
  {
    id: "coverage",
    title: "Cells",
    value: null,
    numeric: true,
    hint: "Cells (a task in a language) with a score, of all the board has.",
  },
  { id: "source", title: "Source", value: (s) => s.source || s.paper || null },
];
