// Dates as decimal years. A year alone stands in its middle, and so does a month.
const FIRST = 1950;
const LAST = 2100;

/** @param {Maybe<string>} text */
export function decimalYear(text) {
  const [, year, month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?/.exec(text ?? "") ?? [];
  if (!year || Number(year) < FIRST || Number(year) > LAST) return NaN;
  if (!month) return Number(year) + 0.5;
  const months = Number(month) - 1 + (day ? (Number(day) - 1) / 31 : 0.5);
  return months >= 0 && months < 12 ? Number(year) + months / 12 : NaN;
}

// The date of a system as it is known: its date, or the year of its paper; "" if neither is.
/** @param {System} system */
export const dateText = (system) =>
  [system.date, String(system.year ?? "")].find((text) => !Number.isNaN(decimalYear(text))) ?? "";

const MONTHS = "January February March April May June July August September October November December".split(" ");

// "2020-03" as "March 2020".
/** @param {string} text */
export function monthText(text) {
  const [year, month] = text.split("-");
  return month ? `${MONTHS[Number(month) - 1]} ${year}` : year;
}

/** @param {number} from @param {number} to */
export const yearTicks = (from, to) =>
  Array.from({ length: Math.max(1, Math.ceil(to) - Math.floor(from) + 1) }, (_, at) => Math.floor(from) + at);
