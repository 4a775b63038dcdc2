// Three or four systems: the verdicts on all pairs, and on who could be the best.
import { population } from "../board/tested_on.js";
import { element, nameOf, partText } from "../page/dom.js";
import { gapText, pairName, verdictKind } from "./verdict.js";

/** @param {PairContrasts[]} contrasts */
function pairsText(contrasts) {
  const tested = contrasts.filter(({ top }) => top?.test);
  const differ = tested.filter(({ top }) => top?.winner).length;
  const [open, untested] = [tested.length - differ, contrasts.length - tested.length];
  return [
    partText(differ, contrasts.length, "pair", ["differs", "differ"]).concat(" significantly"),
    open ? `${open} ${open === 1 ? "is" : "are"} not distinguishable` : "",
    untested ? `${untested} ${untested === 1 ? "is" : "are"} not tested` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

// The verdict on several systems: those that no other beats significantly, if every pair has the same test.
/** @param {System[]} systems @param {{ pair: System[] }[]} compared @param {PairContrasts[]} contrasts @returns {Child[]} */
export function bestWords(systems, compared, contrasts) {
  const tops = contrasts.map(({ top }) => top);
  const test = tops[0]?.test ?? "";
  if (!test || tops.some((top, at) => top?.test !== test || !contrasts[at].complete)) return [pairsText(contrasts)];
  const beaten = new Set(
    tops.flatMap((top, at) => (top?.winner ? [compared[at].pair[top.winner === "first" ? 1 : 0]] : [])),
  );
  const best = systems.filter((system) => !beaten.has(system));
  const names = best.map((system, at) => [at ? (at === best.length - 1 ? " and " : ", ") : "", pairName(system)]);
  const where = population(test);
  return best.length === 1
    ? [names, ` is the best of ${systems.length} systems ${where}`]
    : [names, ` could each be the best of ${systems.length} systems ${where}`];
}

// All pairs: the verdict on the system of the row against that of the column.
/** @param {System[]} systems @param {ComparedPair[]} compared @param {PairContrasts[]} contrasts */
export function verdictMatrix(systems, compared, contrasts) {
  /** @param {System} row @param {System} column */
  const cell = (row, column) => {
    if (row === column) return element("td", { class: "none" });
    const at = compared.findIndex(({ pair }) => pair.includes(row) && pair.includes(column));
    const { top } = contrasts[at];
    if (!top) return element("td", { class: "unknown" }, "nothing in common");
    const side = compared[at].pair[0] === row ? "first" : "second";
    const kind = verdictKind(top);
    const words =
      kind === "untested" ? "not tested" : kind === "open" ? "not distinguishable" : kind === side ? "better" : "worse";
    return element(
      "td",
      { class: kind === "untested" ? "unknown" : kind === "open" ? "" : "sure" },
      element("b", {}, words),
      element("span", { class: "of" }, gapText(top, side)),
    );
  };
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Verdicts on all pairs" },
    element(
      "table",
      { class: "data verdicts" },
      element("caption", {}, "Each row against each column"),
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td"),
          systems.map((system) => element("th", { scope: "col" }, nameOf(system.fullName))),
        ),
      ),
      element(
        "tbody",
        {},
        systems.map((row) =>
          element(
            "tr",
            {},
            element("th", { scope: "row" }, nameOf(row.fullName)),
            systems.map((column) => cell(row, column)),
          ),
        ),
      ),
    ),
  );
}
