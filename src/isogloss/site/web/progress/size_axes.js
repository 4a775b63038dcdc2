import { DOLLARS, MILLIONS } from "../board/describe.js";
import { countText, sizeText } from "../page/dom.js";
import { dateText, decimalYear, yearTicks } from "./dates.js";

/** @param {Maybe<number>} value */
const logOf = (value) => ((value ?? 0) > 0 ? Math.log10(value ?? 0) : NaN);
/** @param {number} dollars */
const dollarText = (dollars) => (dollars >= 1000 ? `$${countText(Math.round(dollars))}` : `$${Number(dollars.toPrecision(2))}`);

// What a score is plotted against; `lacks` names systems without it.
/** @type {Axis[]} */
export const AXES = [
  {
    id: "parameters",
    title: "Parameters",
    axis: "parameters (logarithmic)",
    lacks: "an undisclosed size",
    of: (system) => logOf(system.parameters),
    unit: MILLIONS,
    log: true,
    text: (x) => sizeText(10 ** x),
  },
  {
    id: "thousand",
    title: "Cost per 1,000 examples",
    axis: "US dollars per 1,000 examples (logarithmic)",
    lacks: "an unknown cost",
    of: (system) => logOf(system.thousand_cost),
    unit: DOLLARS,
    log: true,
    text: (x) => dollarText(10 ** x),
  },
  {
    id: "cost",
    title: "Cost of the evaluation",
    axis: "US dollars for the evaluation (logarithmic)",
    lacks: "an unknown cost",
    of: (system) => logOf(system.cost),
    unit: DOLLARS,
    log: true,
    text: (x) => dollarText(10 ** x),
  },
  {
    id: "tokens",
    title: "Tokens",
    axis: "tokens of the evaluation (logarithmic)",
    lacks: "an unknown number of tokens",
    of: (system) => logOf(system.tokens),
    unit: MILLIONS,
    log: true,
    text: (x) => sizeText(10 ** x),
  },
  {
    id: "date",
    title: "Date",
    axis: "published",
    lacks: "an unknown date",
    of: (system) => decimalYear(dateText(system)),
    text: (x) => String(Math.floor(x)),
    ticks: (values) => yearTicks(Math.min(...values), Math.max(...values)),
  },
];

// The axes that any system of a board has a value on.
/** @param {Board} board */
export const axesOf = (board) => AXES.filter(({ of }) => board.systems.some((system) => !Number.isNaN(of(system))));
