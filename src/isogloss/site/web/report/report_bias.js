// @ts-check
import { boxPlot } from "../charts/box_plot.js";
import { scorePaint } from "../charts/colour.js";
import { byId, countText, element, nameOf, plural } from "../page/dom.js";
import { heatTable } from "../charts/heatmap.js";
import { followChoices, offer } from "./report_choices.js";
import { languageRow, numberCells } from "./report_tables.js";

/** @typedef {import("./report_tables.js").LanguageFilter} LanguageFilter */
/** @typedef {{ task: string, language: string, name: string, n: number, numbers: number[] }} BiasRow */

const BIAS_KEYS = ["task", "attribute"];
const NUMBER_COLUMNS = ["mean", "minimum", "25 %", "median", "75 %", "maximum"];
// Maximum number of values of a discrete attribute with their own column.
const MOST_VALUES = 8;

/**
 * Return the remainder of some shares; since they are rounded, a tiny remainder counts as 0.
 * @param {number[]} shares
 */
export function leftOver(shares) {
  const rest = 1 - shares.reduce((sum, share) => sum + share, 0);
  return rest > 0.005 ? rest : 0;
}

/** Distributions of an attribute by language, and the distances between a task's languages. */
export class BiasPart {
  /**
   * @param {Record<string, any>} data
   * @param {LanguageFilter} filter
   */
  constructor(data, filter) {
    this.data = data;
    this.filter = filter;
    /** @type {Record<string, string>} */
    this.chosen = {};
    followChoices("bias", BIAS_KEYS, "choose-bias-", this);
    filter.onChange(() => this.draw());
  }
  /** @param {Record<string, string>} wanted */
  choose(wanted) {
    const { tasks, titles } = this.data;
    const { chosen } = this;
    /** @type {[string, string][]} */
    const options = Object.keys(tasks).map((task) => [task, task]);
    if (options.length > 1) options.unshift(["", "all tasks"]);
    chosen.task = offer(byId("choose-bias-task"), options, [wanted.task, chosen.task], (values) =>
      values.find(Boolean),
    );
    // Tasks can be compared only by attributes that several of them have.
    const count = (/** @type {string} */ attribute) => Object.values(tasks).filter((task) => attribute in task).length;
    const attributes = chosen.task
      ? Object.keys(tasks[chosen.task])
      : Object.keys(titles).filter((name) => count(name) > 1);
    chosen.attribute = offer(
      byId("choose-bias-attribute"),
      attributes.map((name) => [name, `${name}: ${titles[name]}`]),
      [wanted.attribute, chosen.attribute],
      ([first]) => first,
    );
    this.show();
  }
  get discrete() {
    return this.chosen.attribute in this.data.values;
  }
  /** @returns {BiasRow[]} */
  get rows() {
    const { task, attribute } = this.chosen;
    return Object.entries(this.data.tasks)
      .filter(([name, attributes]) => (task ? name === task : attribute in attributes))
      .flatMap(([name, attributes]) =>
        Object.entries(attributes[attribute]).map(([language, [n, ...numbers]]) => ({
          ...{ task: name, language, name: this.data.names[language], n, numbers },
        })),
      );
  }
  show() {
    const rows = this.rows;
    const columns = this.discrete ? this.valueColumns(rows) : NUMBER_COLUMNS;
    const cells = this.discrete ? rows.map((row) => ({ ...row, numbers: this.divided(row, columns) })) : rows;
    this.shown = { columns, cells };
    this.showRows(columns, cells);
    this.draw();
    this.showDistances();
  }
  /** Draw the distributions of the languages that the filter keeps, task by task. */
  draw() {
    const { columns, cells } = this.shown ?? { columns: [], cells: [] };
    const kept = cells.filter(({ language }) => this.filter.keeps(language));
    const tasks = [...new Set(kept.map(({ task }) => task))];
    const draw = this.discrete ? shareTable : boxes;
    byId("bias-chart").replaceChildren(
      ...tasks.map((task) =>
        element(
          "div",
          { class: "panel-part" },
          tasks.length > 1 ? element("h4", {}, task) : null,
          draw(
            kept.filter((cell) => cell.task === task),
            columns,
          ),
        ),
      ),
    );
  }
  /**
   * Return the values with a column of their own: the most frequent over all rows.
   * @param {BiasRow[]} rows
   */
  valueColumns(rows) {
    const { others } = this.data;
    const sums = new Map();
    for (const { task, numbers } of rows)
      this.valueNames(task).forEach((value, at) => sums.set(value, (sums.get(value) ?? 0) + numbers[at]));
    const order = [...sums].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    if (order.length > MOST_VALUES) return [...order.slice(0, MOST_VALUES - 1), others];
    return rows.some(({ numbers }) => leftOver(numbers)) ? [...order, others] : order;
  }
  /**
   * @param {string} task
   * @returns {string[]}
   */
  valueNames(task) {
    return this.data.values[this.chosen.attribute][task].map((/** @type {string} */ value) => value || "(none)");
  }
  /**
   * Return the shares of a row in the columns; values without a column count as others.
   * @param {BiasRow} row
   * @param {string[]} columns
   */
  divided({ task, numbers }, columns) {
    const { others } = this.data;
    const share = new Map(this.valueNames(task).map((value, at) => [value, numbers[at]]));
    const shares = columns.map((value) => (value === others ? 0 : (share.get(value) ?? 0)));
    return columns.map((value, at) => (value === others ? leftOver(shares) : shares[at]));
  }
  /**
   * @param {string[]} columns
   * @param {BiasRow[]} cells
   */
  showRows(columns, cells) {
    const heads = ["task", "language", "n", ...columns].map((text, at) =>
      element(
        "th",
        { scope: "col", class: at > 1 ? "number" : null },
        element("button", { type: "button", class: "sort", dir: "auto" }, text),
      ),
    );
    const body = byId("bias-rows");
    body.closest("table").tHead.rows[0].replaceChildren(...heads);
    const text = (/** @type {number} */ number) => (this.discrete ? `${(100 * number).toFixed(1)} %` : String(number));
    body.replaceChildren(
      ...cells.map(({ task, name, n, language, numbers }) =>
        languageRow(
          [element("td", {}, task), element("td", {}, name), ...numberCells(countText(n), ...numbers.map(text))],
          language,
          this.filter,
        ),
      ),
    );
  }
  showDistances() {
    const { task, attribute } = this.chosen;
    const { names, distances } = this.data;
    const found = distances[task]?.[attribute];
    const unit = this.discrete ? "0 to 1" : "in the attribute's unit";
    byId("distance-title").textContent = found ? `Distances between languages: ${found[0]}, ${unit}` : "";
    byId("distance-chart").replaceChildren();
    if (!found) {
      const text = task
        ? "A single language has no distances."
        : "Choose a task to see the distances between its languages.";
      byId("distance-says").textContent = text;
      return;
    }
    const pairs = distancePairs(found);
    const most = Math.max(...pairs.map(([, , distance]) => distance));
    const farthest = pairs.filter(([, , distance]) => distance === most);
    const [[one, two]] = farthest;
    const tied = farthest.length > 1 ? `, and ${plural(farthest.length - 1, "other pair")}` : "";
    const noise = found[4] ? ` Pairs within chance: ${found[4]} of ${pairs.length}.` : "";
    byId("distance-says").textContent = most
      ? `Farthest apart: ${names[one]} and ${names[two]}${tied} (${most}).${noise}`
      : "All languages are alike.";
    byId("distance-chart").replaceChildren(distanceTable(found[1], pairs, names));
  }
}

/**
 * Return the pairs of languages with their distances, from the whole units above the diagonal.
 * @param {any[]} table measure, languages, unit, units above the diagonal
 * @returns {[string, string, number][]}
 */
export const distancePairs = ([, languages, unit, above]) =>
  above.flatMap((/** @type {number[]} */ row, /** @type {number} */ one) =>
    row.map((far, step) => [languages[one], languages[one + 1 + step], Number((far * unit).toPrecision(3))]),
  );

/**
 * @param {BiasRow[]} cells
 */
const boxes = (cells) =>
  boxPlot(
    cells
      .filter(({ numbers }) => numbers.length === NUMBER_COLUMNS.length)
      .map(({ name, n, numbers: [mean, ...quartiles] }) => ({ name, n, mean, quartiles })),
    "Quartiles by language",
  );

/**
 * @param {BiasRow[]} cells
 * @param {string[]} columns
 */
const shareTable = (cells, columns) =>
  heatTable({
    rows: cells,
    columns: columns.map((title, at) => ({ title, at })),
    caption: "Share of examples with each value, in per cent",
    rowHead: (/** @type {BiasRow} */ { name }) => name,
    columnHead: (/** @type {{ title: string }} */ { title }) => nameOf(title),
    value: (/** @type {BiasRow} */ { numbers }, /** @type {{ at: number }} */ { at }) => 100 * numbers[at],
    paintOf: (/** @type {number} */ share) => scorePaint(100 - share),
    text: (/** @type {number} */ share) => String(Math.round(share)),
    tip: (
      /** @type {BiasRow} */ { name, n },
      /** @type {{ title: string }} */ { title },
      /** @type {number} */ share,
    ) => [`${name}, ${title}: ${share.toFixed(1)} %`, `of ${countText(n)} examples`],
    href: undefined,
  });

/**
 * @param {string[]} languages
 * @param {[string, string, number][]} pairs
 * @param {Record<string, string>} names
 */
function distanceTable(languages, pairs, names) {
  const far = new Map(
    pairs.flatMap(([one, two, value]) => [
      [`${one} ${two}`, value],
      [`${two} ${one}`, value],
    ]),
  );
  const most = Math.max(...pairs.map(([, , value]) => value)) || 1;
  const sorted = [...languages].sort((a, b) => names[a].localeCompare(names[b]));
  return heatTable({
    rows: sorted,
    columns: sorted,
    caption: "Distances between languages",
    rowHead: (/** @type {string} */ code) => names[code],
    columnHead: (/** @type {string} */ code) => code,
    value: (/** @type {string} */ one, /** @type {string} */ two) => far.get(`${one} ${two}`),
    paintOf: (/** @type {number} */ value) => scorePaint(most - value, 0, most),
    text: (/** @type {number} */ value) => String(Number(value.toPrecision(2))),
    tip: (/** @type {string} */ one, /** @type {string} */ two, /** @type {number} */ value) => [
      `${names[one]} and ${names[two]}`,
      `distance ${value}`,
    ],
    href: undefined,
  });
}
