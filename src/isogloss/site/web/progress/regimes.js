import { markLegend } from "../charts/plots.js";

// Groups of regimes ("zero-shot, …" names other test data): systems of different groups had different data to learn from, so they are never joined by a line.
/** @type {(Regime & { fits: RegExp })[]} */
const REGIMES = [
  { id: "prompted", title: "Prompted", style: ["#CC79A7", "triangle"], fits: /examples|prompt|few-shot|\d-shot/i },
  { id: "zero-shot", title: "Zero-shot transfer", style: ["#0072B2", "circle"], fits: /^zero-shot(?!,)/i },
  { id: "translated", title: "Translated data", style: ["#D55E00", "diamond"], fits: /translat/i },
  { id: "in-language", title: "In-language data", style: ["#009E73", "square"], fits: /^in-language/i },
  { id: "embedding", title: "Embedding, not fine-tuned", style: ["#E69F00", "down"], fits: /^embedding/i },
];
/** @type {Regime} */
const OTHER = { id: "other", title: "Other", style: ["#7A7A7A", "cross"] };

/** @param {System} system @returns {Regime} */
export const regimeOf = (system) => REGIMES.find(({ fits }) => fits.test(system.regime ?? "")) ?? OTHER;

// The groups on a board, in a fixed order.
/** @param {System[]} systems @returns {Regime[]} */
export function regimesOf(systems) {
  const found = new Set(systems.map((system) => regimeOf(system).id));
  return [...REGIMES, OTHER].filter(({ id }) => found.has(id));
}

// The groups that the reader chose; all if none.
/** @param {Board} board @param {URLSearchParams} params */
export function chosenRegimes(board, params) {
  const all = regimesOf(board.systems);
  const chosen = all.filter(({ id }) => params.getAll("regime").includes(id));
  return chosen.length ? chosen : all;
}

/** @param {Regime[]} regimes @param {Child} [more] */
export const regimeLegend = (regimes, more) =>
  markLegend(
    regimes.map(({ title, style }) => [title, style]),
    more,
  );
