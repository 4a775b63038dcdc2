// @ts-check
import { byId, countText, element, scoreText, signedText } from "../page/dom.js";
import { contrastBuckets, intervalWords } from "./report_buckets.js";
import { bucketFigures } from "./report_figures.js";
import { languageRow, numberCells, wordCell } from "./report_tables.js";

/** @typedef {import("./report_buckets.js").ContrastFacet} ContrastFacet */

/** One system minus another in the chosen part of the explanations: a sentence, charts and a table. */
export class PairPart {
  /** @param {any} section the explanations */
  constructor(section) {
    this.section = section;
    this.select = /** @type {HTMLSelectElement} */ (byId("choose-pair"));
    const { pairs } = section.data;
    /** @type {ContrastFacet[][]} */
    this.contrasts = pairs.map((/** @type {any} */ pair) =>
      pair.facets.map((/** @type {any[]} */ packed) => this.contrast(pair, packed)),
    );
    byId("versus").hidden = false;
    this.select.append(
      ...pairs.map((/** @type {any} */ { first, second }, /** @type {number} */ at) =>
        element("option", { value: String(at) }, `${first} − ${second}`),
      ),
    );
    /** @type {HTMLElement} */ (this.select.parentElement).hidden = pairs.length < 2;
    this.select.addEventListener("change", () => this.show());
    section.filter.onChange(() => section.chosen.language || this.drawCharts());
    this.linkTurns();
  }
  /**
   * @param {{ first: string, second: string }} pair
   * @param {any[]} packed
   * @returns {ContrastFacet}
   */
  contrast({ first, second }, [place, metric, numbers]) {
    const cut = this.section.cut(place);
    const metricName = this.section.data.metrics[metric];
    return { ...cut, buckets: contrastBuckets(cut.buckets, numbers), metric: metricName, pair: `${first} − ${second}` };
  }
  /** Link the buckets in which the order of two systems is significantly reversed. */
  linkTurns() {
    const turned = (/** @type {ContrastFacet} */ { buckets }) =>
      buckets.filter((bucket) => bucket.significant && bucket.turns);
    const facets = this.contrasts.flat().filter((facet) => turned(facet).length);
    byId("turns").hidden = !facets.length;
    const text = (/** @type {ContrastFacet} */ facet) => {
      const buckets = turned(facet).map(({ name, value }) => `${name} ${signedText(value)}`);
      return `${facet.attribute} ${buckets.join(", ")}`;
    };
    this.section.link(byId("turns").querySelector("ul"), facets, text);
  }
  get pair() {
    return this.section.data.pairs[Number(this.select.value || 0)];
  }
  get shown() {
    return this.contrasts[Number(this.select.value || 0)].filter((facet) => this.section.fits(facet));
  }
  show() {
    const { first, second } = this.pair;
    byId("versus-title").textContent = `${first} minus ${second}`;
    const heads = byId("contrast-rows").closest("table").tHead.rows[0].cells;
    [first, second].forEach((name, side) => (heads[3 + side].firstChild.textContent = name));
    this.showCell();
    this.showRows();
    this.drawCharts();
  }
  drawCharts() {
    const { chosen, filter } = this.section;
    const kept = chosen.language ? this.shown : this.shown.filter(({ language }) => filter.keeps(language));
    const figures = kept.map((facet) => ({ facet, caption: [facet.name], signed: true }));
    byId("versus-chart").replaceChildren(
      ...(figures.length ? bucketFigures(figures, (facet, bucket) => this.section.showBucket(facet, bucket)) : []),
    );
  }
  /** Show the whole cell in one sentence, with the examples that only one of the two systems gets right. */
  showCell() {
    const { first, second, cells } = this.pair;
    const { task, language } = this.section.chosen;
    const cell = cells[`${task}/${language}`];
    if (!cell) {
      const text = language
        ? "This pair has no such cell."
        : "Choose a language to see which examples only one system gets right.";
      byId("versus-says").replaceChildren(element("p", { class: "intro" }, text));
      return;
    }
    const [n, difference, ours, theirs, ...places] = cell;
    byId("versus-says").replaceChildren(
      element(
        "p",
        {},
        `Over all ${countText(n)} examples: ${signedText(difference / 10)} points. `,
        this.rightButton(first, second, ours, places[0]),
        " ",
        this.rightButton(second, first, theirs, places[1]),
      ),
    );
  }
  /**
   * @param {string} right
   * @param {string} wrong
   * @param {number} count
   * @param {number[]} places
   */
  rightButton(right, wrong, count, places) {
    const { chosen, data } = this.section;
    const heading = `${chosen.task}, ${data.names[chosen.language]}: ${right} right, ${wrong} wrong`;
    const button = element(
      "button",
      {
        class: "pick",
        type: "button",
        dir: "auto",
        "aria-expanded": "false",
        "aria-controls": "examples",
        disabled: !places.length,
      },
      `${right} right, ${wrong} wrong: ${countText(count)}`,
    );
    const listed = { places, total: places.length };
    button.addEventListener("click", () => this.section.listExamples(heading, chosen, listed, count, button));
    return button;
  }
  showRows() {
    byId("contrast-rows").replaceChildren(
      ...this.shown.flatMap((facet) =>
        facet.buckets.map((bucket) => {
          const { name, n, first, second, value, low, high, q, significant, turns } = bucket;
          const marks = (significant ? "●" : "") + (turns ? "⇄" : "");
          const numbers = [
            countText(n),
            scoreText(first),
            scoreText(second),
            signedText(value),
            intervalWords(low, high, true),
            q,
            marks,
          ];
          const cells = [
            wordCell(facet.name),
            wordCell(name),
            ...numberCells(...numbers),
            this.section.picker(facet, bucket),
          ];
          return languageRow(cells, facet.language, this.section.chosen.language ? null : this.section.filter);
        }),
      ),
    );
  }
}
