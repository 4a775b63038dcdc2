// @ts-check
import { element } from "../page/dom.js";

/**
 * Return the number that a cell begins with; a cell without one sorts below all numbers.
 * @param {string} text
 */
export function leadingNumber(text) {
  const value = parseFloat(text.replace(/[,<]/g, "").replace("−", "-"));
  return Number.isNaN(value) ? -Infinity : value;
}

/**
 * Sort a table by a column: numbers begin with the largest, words with A; a second press reverses the order.
 * @param {HTMLTableCellElement} heading
 */
function sortTable(heading) {
  const body = heading.closest("table")?.tBodies[0];
  if (!body) return;
  const isNumber = heading.classList.contains("number");
  const [first, second] = isNumber ? ["descending", "ascending"] : ["ascending", "descending"];
  const order = heading.getAttribute("aria-sort") === first ? second : first;
  for (const other of heading.parentElement?.children ?? []) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const text = (/** @type {HTMLTableRowElement} */ row) => row.cells[heading.cellIndex].textContent ?? "";
  const compare = (/** @type {HTMLTableRowElement} */ a, /** @type {HTMLTableRowElement} */ b) =>
    isNumber ? leadingNumber(text(a)) - leadingNumber(text(b)) : text(a).localeCompare(text(b));
  body.append(...[...body.rows].sort((a, b) => sign * compare(a, b)));
}

/** Let headings sort their tables, by mouse or keyboard. */
export function startSorting() {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("th button") : null;
    if (button) sortTable(/** @type {HTMLTableCellElement} */ (button.parentElement));
  });
}

/**
 * Return the languages that a comma-separated filter matches: codes, names in English or their own language, families
 * and scripts.
 * @param {string} text
 * @param {Record<string, string>} languages search words by code
 * @returns {{ words: string[], codes: string[] }}
 */
export function matchedLanguages(text, languages) {
  const words = text
    .toLowerCase()
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  const matches = (/** @type {string} */ code, /** @type {string} */ word) =>
    code === word || ((word.length > 2 || /[^ -~]/.test(word)) && languages[code].includes(word));
  return { words, codes: Object.keys(languages).filter((code) => words.some((word) => matches(code, word))) };
}

/** Name the language of each row in tables that have a column of language codes. */
function nameRowLanguages() {
  for (const table of document.querySelectorAll("table[data-codes]"))
    if (table instanceof HTMLTableElement)
      for (const row of table.tBodies[0].rows) {
        const code = row.cells[Number(table.dataset.codes)].textContent;
        if (code) row.dataset.language = code;
      }
}

/**
 * The page's language filter.
 * @typedef {{ kept: string[] | null, onChange: (listener: () => void) => void, keeps: (code: string) => boolean }} LanguageFilter
 */

/**
 * Connect the search field with the rows of languages; charts listen to it.
 * @param {Record<string, string>} languages
 * @returns {LanguageFilter}
 */
export function languageFilter(languages) {
  const form = /** @type {HTMLFormElement} */ (document.querySelector("form"));
  const field = /** @type {HTMLInputElement} */ (document.getElementById("filter"));
  const says = /** @type {HTMLOutputElement} */ (document.getElementById("filter-says"));
  /** @type {(() => void)[]} */
  const listeners = [];
  /** @type {LanguageFilter} */
  const filter = {
    kept: null,
    onChange: (listener) => listeners.push(listener),
    keeps: (code) => filter.kept === null || filter.kept.includes(code),
  };
  nameRowLanguages();
  form.hidden = !Object.keys(languages).length;
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", () => {
    const { words, codes } = matchedLanguages(field.value, languages);
    filter.kept = codes.length ? codes : null;
    says.textContent = !words.length
      ? ""
      : codes.length
        ? `${codes.length} of ${Object.keys(languages).length}`
        : "no match";
    for (const row of document.querySelectorAll("tr[data-language]"))
      if (row instanceof HTMLTableRowElement) row.hidden = !filter.keeps(row.dataset.language ?? "");
    for (const listener of listeners) listener();
  });
  return filter;
}

/**
 * Return a row that the filter may hide, unless its language was chosen by hand.
 * @param {HTMLElement[]} cells
 * @param {string} language
 * @param {LanguageFilter | null} filter null for a language chosen by hand
 */
export const languageRow = (cells, language, filter) =>
  element(
    "tr",
    { "data-language": filter ? language : null, hidden: filter !== null && !filter.keeps(language) },
    cells,
  );

/**
 * @param {string} text
 */
export const wordCell = (text) => element("td", { dir: "auto" }, text);

/**
 * @param {string[]} texts
 */
export const numberCells = (...texts) => texts.map((text) => element("td", { class: "number" }, text));
