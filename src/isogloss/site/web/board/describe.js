import { languageName } from "./decode.js";
import { element, link, listed, missing, nameOf, percentText, plural, scoreText, sizeText } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

export const NOT_DISCLOSED = "not disclosed";
// Smallest share of unparsed predictions that is shown next to a system's name.
const NOTABLE_SHARE = 0.01;
/** @type {Record<string, string>} */
const CATEGORY_TITLES = {
  classification: "Classification",
  structured: "Structured prediction",
  qa: "Question answering",
  retrieval: "Retrieval",
};
/** @param {string} name */
export const categoryTitle = (name) => CATEGORY_TITLES[name] ?? name;

// A score column's title outside its table, where "Avg" is ambiguous.
/** @param {Pick<ScoreColumn, "id" | "kind" | "title">} options */
export const shortScoreTitle = ({ kind, id, title }) => (kind === "category" ? categoryTitle(id) : title);
/** @param {ScoreColumn} column */
export const scoreTitle = (column) =>
  column.kind === "category" ? `${shortScoreTitle(column)} average` : column.title;

/** @param {System} system */
const systemLink = (system) => link(hashOf(["system", system.id]), nameOf(system.name, { class: "name" }));

// A system in a sentence, with its regime.
/** @param {System} system */
export const systemWithRegime = (system) => [
  link(hashOf(["system", system.id]), nameOf(system.name)),
  system.regime ? [" (", nameOf(system.regime), ")"] : "",
];

// A system in a table: the regime distinguishes systems with the same name.
/** @param {System} system */
export const systemCell = (system) => [
  systemLink(system),
  " ",
  element("span", { class: "under" }, nameOf(system.regime ?? ""), " ", badges(system)),
];

/** @param {string} text */
const softText = (text) => element("span", { class: "soft" }, text);
/** @param {any} value @param {(value: any) => string} [text] @param {string} [unknown] */
export const disclosed = (value, text = (disclosedValue) => disclosedValue, unknown = NOT_DISCLOSED) =>
  missing(value)
    ? softText(unknown)
    : value === "" || value === false || value === "none"
      ? "no"
      : value === true
        ? "yes"
        : text(value);

/** @param {System} system */
export function badges(system) {
  /** @param {string} text @param {string} kind @param {Maybe<string>[]} lines */
  const badge = (text, kind, lines) =>
    withTip(element("span", { class: `badge ${kind}`, tabindex: kind === "warn" ? "0" : null }, text), () => lines);
  return [
    system.contamination ? badge("⚠ contamination", "warn", ["Declared contamination", system.contamination]) : null,
    system.reported ? badge("reported", "reported", ["Reported, not scored here", system.source || system.paper]) : null,
    system.kind === "floor"
      ? badge("floor", "plain", [
          "Floor baseline",
          "Needs no language understanding, for example majority class or random choice.",
        ])
      : null,
    // The column may be out of sight, and the share qualifies every score.
    (system.unparsed ?? 0) >= NOTABLE_SHARE
      ? badge(`${percentText(system.unparsed ?? 0)} unparsed`, "plain", [
          unparsedText(system.unparsed),
          "They count as wrong.",
        ])
      : null,
  ];
}

/** @param {Board} board @param {System} system @param {Task} task @param {string} code */
export function provenanceLines(board, system, task, code) {
  const provenance = board.provenance?.[system.provenance];
  if (!provenance) return [system.reported ? `reported: ${system.source || system.paper || "source unknown"}` : ""];
  const sums = provenance.checksums[task?.id] ?? {};
  const sum = code
    ? sums[code]
    : Object.keys(sums).length
      ? `${plural(Object.keys(sums).length, "checksum")} on the system's page`
      : "";
  return [`scorer Isogloss ${provenance.scorer}${sum ? `; data ${sum}` : ""}`];
}

/** @param {{ low?: number | null, high?: number | null }} options */
export const intervalText = ({ low, high }) =>
  missing(low) || missing(high) ? "" : `95 % interval ${scoreText(low)}–${scoreText(high)}`;

/** @param {Maybe<number>} share */
export const unparsedText = (share) => (share ? `${percentText(share)} of predictions missing or unparseable` : "");

// With cents, or with two digits if it is less than a few of them.
/** @param {number} dollars */
const costText = (dollars) => `$${dollars >= 0.1 || !dollars ? dollars.toFixed(2) : Number(dollars.toPrecision(2))}`;

// List the missing cells by name.
/** @param {Board} board @param {Pick<Standing, "lacking">} row @param {Pick<ScoreColumn, "id" | "kind"> | null} [column] */
export function lackText(board, row, column = null) {
  const cells = row
    .lacking()
    .filter(
      ({ column: { task } }) =>
        !column || column.kind === "overall" || column.id === task.id || column.id === task.category,
    );
  if (!cells.length) return "not reported";
  return `missing: ${cells
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

// Units of numbers in files.
export const MILLIONS = { title: "millions", of: 1e6 };
export const DOLLARS = { title: "US dollars", of: 1 };

// System metadata: table 13 of the paper and more.
/** @type {TableColumn<System>[]} */
export const METADATA = [
  { id: "kind", title: "Kind", value: (s) => s.kind },
  {
    id: "regime",
    title: "Regime",
    value: (s) => s.regime,
    hint: "The training data for the task and its languages.",
  },
  { id: "year", title: "Year", value: (s) => s.year ?? null, numeric: true },
  {
    id: "parameters",
    title: "Parameters",
    value: (s) => s.parameters ?? null,
    numeric: true,
    text: sizeText,
    unit: MILLIONS,
  },
  {
    id: "active",
    title: "Active",
    value: (s) => s.parameters_active ?? null,
    numeric: true,
    text: sizeText,
    unit: MILLIONS,
    hint: "Parameters used per token.",
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
    unit: { title: "%", of: 0.01 },
    hint: "Share of missing or unparseable predictions; they count as wrong.",
  },
  {
    id: "tokens",
    title: "Tokens",
    value: (s) => s.tokens ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: sizeText,
    unit: MILLIONS,
    hint: "Tokens used for the evaluation.",
  },
  {
    id: "cost",
    title: "Cost",
    value: (s) => s.cost ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: costText,
    unit: DOLLARS,
    hint: "Cost of the evaluation in US dollars.",
  },
  {
    id: "thousand",
    title: "Cost per 1,000",
    value: (s) => s.thousand_cost ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: costText,
    unit: DOLLARS,
    hint: "Cost of 1,000 examples in US dollars, over all languages and prompts.",
  },
  {
    id: "prompts",
    title: "Prompt sd",
    value: (s) => s.prompt_sd ?? null,
    numeric: true,
    lower: true,
    sparse: true,
    text: scoreText,
    hint: "Standard deviation of the overall score between prompts, in points.",
  },
  {
    id: "coverage",
    title: "Cells",
    value: null,
    numeric: true,
    hint: "Cells with a score; a cell is one task in one language.",
  },
  { id: "source", title: "Source", value: (s) => s.source || s.paper || null },
];
