import { countText } from "../page/dom.js";

// Words for the tests of an order of systems, as in scoring/tested_on.py: every page names a test and its population alike.
/** @type {Record<string, { population: string, test: string }>} */
const WORDS = {
  examples: { population: "on new examples in these languages", test: "all pairs tested on the same examples" },
  languages: { population: "in similar languages", test: "all pairs tested over languages" },
};

/** @param {string} test */
export const population = (test) => WORDS[test].population;

// "2 systems cannot be tested: they lack scores per language".
/** @param {number} count */
export const lackingTestText = (count) =>
  count === 1
    ? "1 system cannot be tested: it lacks scores per language"
    : `${countText(count)} systems cannot be tested: they lack scores per language`;

/** @param {string} test */
export const testedOn = (test) => `${WORDS[test].population} (${WORDS[test].test}, Holm's correction)`;
