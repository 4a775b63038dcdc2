import { figureShare, isSingle, wholeShare, withoutReference } from "./basis.js";
import { element } from "../page/dom.js";
import { relativeLines, populationText } from "./language_words.js";
import { autonym, familyLink, framedTable, languageLink } from "../board/parts.js";
import { memoized } from "../board/ranking.js";

/** @param {Language} a @param {Language} b */
const bySpeakers = (a, b) => (b.speakers ?? -1) - (a.speakers ?? -1) || a.name.localeCompare(b.name);

// The languages below the share, and those that nothing is known of.
/** @param {Board} board @param {Basis} basis @param {Service} service @param {number} share */
export function serviceLists(board, basis, { unserved, untested }, share) {
  const apart = new Set(withoutReference(basis));
  const unknown = untested.languages.filter((language) => !apart.has(language));
  return [
    element("h2", { id: "unserved", tabindex: "-1" }, `Not served at ${wholeShare(share)} (${unserved.languages.length})`),
    unserved.languages.length
      ? unservedTable(basis, [...unserved.languages].sort(bySpeakers))
      : element("p", { class: "soft" }, "Every compared language reaches this share."),
    unknown.length
      ? [
          element("h2", {}, `Untested (${unknown.length})`),
          element("p", { class: "untested names" }, namedLanguages([...unknown].sort(bySpeakers))),
        ]
      : null,
    apart.size
      ? element(
          "p",
          { class: "soft" },
          `Tested, but on no task with ${basis.reference} to compare with: `,
          namedLanguages([...apart].sort(bySpeakers)),
          ".",
        )
      : null,
  ];
}

/** @param {Language[]} languages */
const namedLanguages = (languages) =>
  languages.flatMap((language, at) => [at ? ", " : "", element("span", { class: "one" }, languageLink(language))]);

/** @param {Basis} basis @param {Language[]} languages */
function unservedTable(basis, languages) {
  const headings = ["Language", "Family", "Speakers", `% of ${basis.reference}`, "Tasks", "Best scores"];
  const rows = unservedRows(basis);
  return framedTable(
    "Languages that are not served",
    headings,
    languages.map(({ code }) => rows(code)),
    { className: "unserved", isNumber: (at) => at > 1 && at < 5 },
  );
}

// The row of each language, made once: it stays on the page while the share moves.
const unservedRows = memoized((/** @type {Basis} */ basis) => {
  /** @type {Map<string, HTMLElement>} */
  const made = new Map();
  const named = new Map(basis.languages.map((language) => [language.code, language]));
  return (/** @type {string} */ code) => {
    const row = made.get(code) ?? unservedRow(basis, /** @type {Language} */ (named.get(code)));
    made.set(code, row);
    return row;
  };
});

/** @param {Basis} basis @param {Language} language */
function unservedRow(basis, language) {
  const { share = NaN, parts = [] } = basis.relative.get(language.code) ?? {};
  return element(
    "tr",
    { "data-key": `unserved-${language.code}` },
    element("th", { scope: "row" }, languageLink(language), " ", autonym(language)),
    element("td", {}, familyLink(language.family)),
    element("td", { class: "number" }, populationText(language.speakers)),
    element("td", { class: "number", "data-of": basis.reference }, figureShare(share)),
    element("td", { class: "number" }, isSingle(basis, language.code) ? "1 only" : parts.length),
    element("td", { class: "parts" }, relativeLines(parts, language.code)),
  );
}
