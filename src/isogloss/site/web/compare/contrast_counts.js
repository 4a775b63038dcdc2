import { printedScore } from "../page/dom.js";
import { leadOf } from "./contrasts.js";

// How many contrasts each system wins by the test, how many are not distinguishable, and how many have no test.
/** @param {Contrast[]} contrasts @returns {ContrastCounts} */
export function contrastCounts(contrasts) {
  const tested = contrasts.filter(({ test }) => test);
  const of = (/** @type {string} */ side) => tested.filter(({ winner }) => winner === side).length;
  return {
    first: of("first"),
    second: of("second"),
    open: of(""),
    untested: contrasts.length - tested.length,
    all: contrasts.length,
  };
}

// In how many contrasts each system has the better score, as printed, and in how many both have the same.
/** @param {Contrast[]} contrasts */
export function betterCounts(contrasts) {
  const leads = contrasts.map(({ lower, first, second }) => leadOf(lower, printedScore(first), printedScore(second)));
  const first = leads.filter((lead) => lead > 0).length;
  const second = leads.filter((lead) => lead < 0).length;
  return { first, second, equal: leads.length - first - second, all: leads.length };
}
