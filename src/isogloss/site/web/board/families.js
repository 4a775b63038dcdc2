import { element } from "../page/dom.js";
import { byFamily } from "./parts.js";
import { groupedBy } from "./ranking.js";
import { hashOf } from "../page/state.js";
import { withTip } from "../page/tips.js";

const OTHERS = "Other families";

// Group languages by a key, the largest groups first.
/** @param {Language[]} languages @param {(language: Language) => string} key @returns {[string, Language[]][]} */
export const largestFirst = (languages, key) =>
  [...groupedBy(languages, key)].sort(([one, a], [other, b]) => b.length - a.length || one.localeCompare(other));

// Languages in bands of their families, the largest family first; families of one language share the last band.
/** @param {Language[]} languages @returns {FamilyBand[]} */
export function familyBands(languages) {
  const families = largestFirst([...languages].sort(byFamily), ({ family }) => family);
  const single = families.filter(([, own]) => own.length === 1);
  const merged = single.length > 1 ? single : [];
  const bands = families
    .filter((family) => !merged.includes(family))
    .map(([name, own]) => ({ name, href: hashOf(["family", name]), languages: own }));
  return merged.length
    ? [...bands, { name: OTHERS, href: undefined, languages: merged.flatMap(([, own]) => own) }]
    : bands;
}

// What a tip says of a language: its name, its own name and where it belongs.
/** @param {Language} language */
export const languageLines = ({ name, autonym, family, branch }) => [
  autonym && autonym !== name ? `${name} · ${autonym}` : name,
  branch && branch !== family ? `${family}, ${branch}` : family,
];

// The columns of a heat map by language: names, under family bands unless another order is given.
/** @param {Language[]} languages @param {(language: Language) => string | null} hrefOf @param {{ ordered?: boolean }} [options] */
export function languageHeads(languages, hrefOf, { ordered = false } = {}) {
  const bands = ordered ? [] : familyBands(languages);
  return {
    columns: ordered ? languages : bands.flatMap((band) => band.languages),
    bands: bands.map(({ name, href, languages: own }) => ({
      name,
      href,
      size: own.length,
      lines: [name, own.map((language) => language.name).join(", ")],
    })),
    turned: true,
    columnHead: (/** @type {Language} */ language) =>
      element(
        "span",
        {},
        withTip(element(hrefOf(language) ? "a" : "span", { href: hrefOf(language) }, language.name), () => languageLines(language)),
      ),
  };
}
