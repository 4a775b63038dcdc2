// @ts-check
import { byId, countText, element, nameOf, scoreText } from "../page/dom.js";
import { exampleItem, scoredName, showExamples } from "../analysis/example_list.js";
import { intervalWords, scoreBuckets } from "./report_buckets.js";
import { followChoices, offer } from "./report_choices.js";
import { bucketFigures } from "./report_figures.js";
import { PairPart } from "./report_pairs.js";
import { languageRow, numberCells, wordCell } from "./report_tables.js";

/** @typedef {import("./report_buckets.js").Facet} Facet */
/** @typedef {import("./report_buckets.js").ReportBucket} ReportBucket */
/** @typedef {import("./report_tables.js").LanguageFilter} LanguageFilter */

const KEYS = ["task", "language", "attribute", "metric"];
const MOST_LINKS = 300;

/** The chosen part of the explanations: findings, charts, a table, confusions, examples, and pairs of systems. */
export class ExplainPart {
  /**
   * @param {Record<string, any>} data
   * @param {LanguageFilter} filter
   */
  constructor(data, filter) {
    this.data = data;
    this.filter = filter;
    /** @type {Record<string, string>} */
    this.chosen = {};
    /** @type {Facet[]} */
    this.facets = data.facets.map((/** @type {any[]} */ packed) => this.facet(packed));
    this.pairs = data.pairs.length ? new PairPart(this) : null;
    const insights = this.facets.filter((facet) => facet.insight);
    byId("findings").hidden = !insights.length;
    this.link(byId("findings").querySelector("ul"), insights, (facet) => facet.insight ?? "");
    followChoices("explain", KEYS, "choose-", this);
    filter.onChange(() => this.chosen.language || this.drawCharts());
  }
  /**
   * Return a cell along an attribute, without scores.
   * @param {number} place
   */
  cut(place) {
    const [task, language, attribute, buckets] = this.data.cuts[place];
    return { task, language, name: this.data.names[language], attribute, title: this.data.titles[attribute], buckets };
  }
  /**
   * @param {any[]} packed
   * @returns {Facet}
   */
  facet([system, place, metric, tenths, insight = ""]) {
    const cut = this.cut(place);
    const { systems, metrics } = this.data;
    return {
      ...cut,
      buckets: scoreBuckets(cut.buckets, tenths),
      system: systems[system],
      metric: metrics[metric],
      insight,
    };
  }
  /**
   * @param {Record<string, any>} facet
   * @param {string[]} [keys]
   */
  fits(facet, keys = KEYS) {
    return keys.every((key) => this.chosen[key] === "" || facet[key] === this.chosen[key]);
  }
  /** @param {Record<string, string>} wanted */
  choose(wanted) {
    KEYS.forEach((key, at) => {
      const options = this.options(
        key,
        this.facets.filter((facet) => this.fits(facet, KEYS.slice(0, at))),
      );
      if (key === "language" && options.length > 1) options.unshift(["", "all languages"]);
      const start = (/** @type {string[]} */ values) =>
        key === "language" && values.includes("en") ? "en" : values.find((value) => value !== "");
      this.chosen[key] = offer(byId(`choose-${key}`), options, [wanted[key], this.chosen[key]], start);
    });
    this.show();
  }
  /**
   * @param {string} key
   * @param {Facet[]} among
   * @returns {[string, string][]}
   */
  options(key, among) {
    const text = (/** @type {Record<string, any>} */ facet) =>
      key === "language"
        ? `${facet.name} (${facet.language})`
        : key === "attribute"
          ? `${facet.attribute}: ${facet.title}`
          : facet[key];
    return [...new Map(among.map((/** @type {Record<string, any>} */ facet) => [facet[key], text(facet)]))];
  }
  get shown() {
    return this.facets.filter((facet) => this.fits(facet));
  }
  show() {
    const { shown } = this;
    byId("insights").replaceChildren(
      ...shown
        .filter((facet) => facet.insight)
        .slice(0, 12)
        .map((facet) =>
          element("p", { class: "insight", dir: "auto" }, `${facet.system}, ${facet.name}: ${facet.insight}`),
        ),
    );
    byId("examples").replaceChildren();
    this.showRows(shown);
    this.showConfusion();
    this.drawCharts();
    this.pairs?.show();
  }
  drawCharts() {
    const kept = this.chosen.language ? this.shown : this.shown.filter(({ language }) => this.filter.keeps(language));
    byId("explain-chart").replaceChildren(
      ...bucketFigures(
        kept.map((facet) => ({ facet, caption: this.caption(facet), signed: false })),
        (facet, bucket) => this.showBucket(facet, bucket),
      ),
    );
  }
  /** @param {Facet} facet */
  caption(facet) {
    return this.data.systems.length > 1 ? [nameOf(facet.system ?? ""), `, ${facet.name}`] : [facet.name];
  }
  /** @param {Facet[]} shown */
  showRows(shown) {
    byId("bucket-rows").replaceChildren(
      ...shown.flatMap((facet) =>
        facet.buckets.map((bucket) => {
          const { name, edges, n, value, low, high } = bucket;
          const numbers = numberCells(edges, countText(n), scoreText(value), intervalWords(low, high));
          const cells = [
            wordCell(facet.system ?? ""),
            wordCell(facet.name),
            wordCell(name),
            ...numbers,
            this.picker(facet, bucket),
          ];
          return languageRow(cells, facet.language, this.chosen.language ? null : this.filter);
        }),
      ),
    );
  }
  /**
   * Return a cell with a button that lists the examples of a bucket.
   * @param {any} facet
   * @param {ReportBucket} bucket
   */
  picker(facet, bucket) {
    if (!bucket.total) return element("td");
    const label = `examples of ${facet.name}, ${bucket.name}`;
    const button = element(
      "button",
      { class: "pick", type: "button", "aria-expanded": "false", "aria-controls": "examples", "aria-label": label },
      "examples",
    );
    button.addEventListener("click", () => this.showBucket(facet, bucket, button));
    return element("td", {}, button);
  }
  /**
   * @param {any} facet
   * @param {ReportBucket} bucket
   * @param {HTMLElement | null} [button]
   */
  showBucket(facet, bucket, button = null) {
    if (!bucket.total) return;
    const system = facet.system ? `${facet.system}, ` : "";
    const heading = `${system}${facet.task}, ${facet.name}, ${facet.attribute} ${bucket.name}${bucket.edges ? ` ${bucket.edges}` : ""}`;
    this.listExamples(heading, facet, bucket, bucket.n, button);
  }
  /**
   * List examples below a heading.
   * @param {string} heading
   * @param {{ task: string, language: string }} cell
   * @param {{ places: number[], total: number }} listed
   * @param {number} n
   * @param {HTMLElement | null} button
   */
  listExamples(heading, { task, language }, { places, total }, n, button) {
    const cell = `${task}/${language}`;
    const ids = places.map((place) => this.data.ids[cell][place]);
    for (const other of document.querySelectorAll(".pick"))
      other.setAttribute("aria-expanded", String(other === button));
    const part = ids.length < total ? `; the explanation's JSON file has ${countText(total)}` : "";
    const count = ids.length === 1 ? "1 example is" : `${ids.length} examples are`;
    const items = ids.map((id) => this.example(id, this.data.cases[cell][id], language));
    showExamples(heading, `n = ${countText(n)}; ${count} listed${part}.`, items);
  }
  /**
   * @param {string} id
   * @param {any[] | undefined} text
   * @param {string} language
   */
  example(id, text, language) {
    if (!text) return exampleItem(id, [], language);
    const [inputs, gold, answers] = text;
    const given = answers.map((/** @type {any[]} */ [system, answer, score]) => [
      scoredName(this.data.systems[system], score),
      answer,
    ]);
    return exampleItem(id, [...inputs, ["gold", gold], ...given], language);
  }
  showConfusion() {
    const cell = `${this.chosen.task}/${this.chosen.language}`;
    const tables = Object.entries(this.data.confusion).filter(([, cells]) => cells[cell]);
    byId("confusion").replaceChildren(...tables.map(([system, cells]) => confusionTable(system, cells[cell])));
  }
  /**
   * Fill a list with links to facets.
   * @param {HTMLElement} list
   * @param {any[]} facets
   * @param {(facet: any) => string} text
   */
  link(list, facets, text) {
    list.append(
      ...facets.slice(0, MOST_LINKS).map((facet) => {
        const href = `#explain/${KEYS.map((key) => encodeURIComponent(facet[key])).join("/")}`;
        const name = `${facet.system ?? facet.pair}, ${facet.task}, ${facet.name}`;
        return element("li", {}, element("a", { href, dir: "auto" }, name), `: ${text(facet)}`);
      }),
    );
  }
}

/**
 * @param {string} system
 * @param {Record<string, Record<string, number>>} counts
 */
function confusionTable(system, counts) {
  const gold = Object.keys(counts);
  const predicted = [...new Set(gold.flatMap((label) => Object.keys(counts[label])))].sort();
  const head = (/** @type {string} */ text, /** @type {string} */ scope) =>
    element("th", { scope, dir: "auto" }, text || "(none)");
  return element(
    "table",
    { class: "data narrow" },
    element("caption", {}, `${system}: gold label (rows) by prediction (columns)`),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("td"),
        predicted.map((text) => head(text, "col")),
      ),
    ),
    element(
      "tbody",
      {},
      gold.map((label) =>
        element(
          "tr",
          {},
          head(label, "row"),
          numberCells(...predicted.map((text) => String(counts[label][text] ?? 0))),
        ),
      ),
    ),
  );
}
