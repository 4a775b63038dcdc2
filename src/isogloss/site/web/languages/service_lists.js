import { figureShare, isSingle, shareText, withoutReference } from "./basis.js";
import { element } from "../page/dom.js";
import { relativeLines, peopleText } from "./language_words.js";
import { autonym, familyLink, languageLink, plainTable } from "../board/parts.js";

/** @param {Language} a @param {Language} b */
const bySpeakers = (a, b) => (b.speakers ?? -1) - (a.speakers ?? -1) || a.name.localeCompare(b.name);

// The languages below the share, and those that nothing is known of.
/** @param {Board} board @param {Basis} basis @param {Service} service @param {number} share */
export function serviceLists(board, basis, { unserved, untested }, share) {
  const apart = new Set(withoutReference(basis));
  const unknown = untested.languages.filter((language) => !apart.has(language));
  return [
    element("h2", { id: "unserved", tabindex: "-1" }, `Not served at ${shareText(share)} (${unserved.languages.length})`),
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
const unservedTable = (basis, languages) =>
  plainTable(
    "Languages that are not served",
    ["Language", "Family", "Speakers", `% of ${basis.reference}`, "Tasks", "Best scores"],
    languages.map((language) => {
      const { share = NaN, parts = [] } = basis.relative.get(language.code) ?? {};
      return [
        element("th", { scope: "row" }, languageLink(language), " ", autonym(language)),
        element("td", {}, familyLink(language.family)),
        element("td", { class: "number" }, peopleText(language.speakers)),
        element("td", { class: "number" }, figureShare(share)),
        element("td", { class: "number" }, isSingle(basis, language.code) ? "1 only" : parts.length),
        element("td", { class: "parts" }, relativeLines(parts, language.code)),
      ];
    }),
  );
