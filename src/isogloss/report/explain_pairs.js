const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(1);

// One system minus another in what is chosen of the explanations: a sentence, a table and a chart.
class PairSection {
  constructor(section) {
    this.section = section;
    this.draw = redrawn("versus-chart");
    this.select = byId("choose-pair");
    this.contrasts = section.pairs.map((pair) => pair.facets.map((packed) => this.contrast(pair, packed)));
    byId("versus").hidden = false;
    this.select.append(...section.pairs.map(({ first, second }, place) => element("option", `${first} − ${second}`, { value: place })));
    this.select.parentElement.hidden = section.pairs.length < 2;
    this.select.addEventListener("change", () => this.show());
    this.linkTurns();
  }
  contrast({ first, second }, [place, metric, numbers]) {
    const found = this.section.cut(place);
    const buckets = found.buckets.map(([name, edges, n, places, total], at) => {
      const [p, marks] = numbers.slice(7 * at + 5, 7 * at + 7);
      const [one, two, difference, low, high] = fromTenths(numbers.slice(7 * at, 7 * at + 5));
      return { name, edges, n, places, total, first: one, second: two, difference, low, high, interval: span(low, high, signed, " to "),
        p: p ? (p / 1000).toFixed(3) : "<0.001", told: marks & 1, turns: marks & 2, better: marks & 4 };
    });
    return { ...found, buckets, metric: this.section.metrics[metric], pair: `${first} − ${second}` };
  }
  // Where the order of two systems turns for sure.
  linkTurns() {
    const turned = ({ buckets }) => buckets.filter((bucket) => bucket.told && bucket.turns);
    const found = this.contrasts.flat().filter((facet) => turned(facet).length);
    byId("turns").hidden = !found.length;
    this.section.link(byId("turns").querySelector("ul"), found, (facet) =>
      `${facet.attribute} ${turned(facet).map((bucket) => `${bucket.name} ${signed(bucket.difference)}`).join(", ")}`);
  }
  show() {
    const pair = this.section.pairs[this.select.value || 0];
    const found = this.contrasts[this.select.value || 0].filter((facet) => this.section.fits(facet));
    byId("versus-title").textContent = `${pair.first} minus ${pair.second}`;
    const heads = byId("contrast-rows").closest("table").tHead.rows[0].cells;
    [pair.first, pair.second].forEach((name, side) => { heads[3 + side].firstChild.textContent = name; });
    this.showWhole(pair);
    this.showRows(found);
    if (found.length) this.drawDots(pair, found);
    else this.draw("", null);
  }
  // The whole cell in one sentence, with the examples that only one of the two has right.
  showWhole({ first, second, cells }) {
    const { task, language } = this.section.chosen;
    const cell = cells[`${task}/${language}`];
    if (!cell) {
      const text = language ? "This pair has no such cell." : "Choose one language to see what only one of the two has right.";
      byId("versus-says").replaceChildren(element("p", text, { class: "intro" }));
      return;
    }
    const [n, difference, ours, theirs, ...places] = cell;
    const text = element("p", `Over all ${n.toLocaleString("en")} examples: ${signed(difference / 10)} points. `);
    text.append(this.rightButton(first, second, ours, places[0]), " ", this.rightButton(second, first, theirs, places[1]), " ");
    byId("versus-says").replaceChildren(text);
  }
  rightButton(right, wrong, count, places) {
    const { chosen, names } = this.section;
    const label = `${right} right, ${wrong} wrong: ${count.toLocaleString("en")}`;
    const button = element("button", label, { class: "pick", type: "button", dir: "auto", "aria-expanded": "false", "aria-controls": "examples" });
    const shows = { places, total: places.length };
    const heading = `${chosen.task}, ${names[chosen.language]}: ${right} right, ${wrong} wrong`;
    button.disabled = !shows.total;
    button.shows = shows;
    button.addEventListener("click", () => this.section.showExamples(heading, chosen, shows, count));
    return button;
  }
  showRows(found) {
    byId("contrast-rows").replaceChildren(...found.flatMap((facet) => facet.buckets.map((bucket) => {
      const { name, n, first, second, difference, interval, p, told, turns } = bucket;
      const marks = (told ? "●" : "") + (turns ? "⇄" : "");
      const numbers = figures(n.toLocaleString("en"), tenth(first), tenth(second), signed(difference), interval, p, marks);
      const cells = [element("td", facet.name), words(name), ...numbers, this.section.picker(facet, bucket)];
      return languageRow(cells, facet.language, !this.section.chosen.language);
    })));
  }
  drawDots({ first, second, spec }, found) {
    const [ours, theirs, neither] = spec.spec.layer[1].encoding.color.scale.domain;
    const records = found.flatMap((f) => f.buckets.map((b) => ({ ...b, places: undefined, language: f.language, name: f.name, bucket: b.name,
      verdict: !b.told ? neither : b.better ? ours : theirs, turns: b.turns ? "yes" : "no" })));
    const click = (hit) => {
      const facet = found.find((f) => f.language === hit.language);
      const bucket = facet?.buckets.find(({ name }) => name === hit.bucket);
      if (bucket?.total) this.section.showBucket(facet, bucket);
    };
    const { task, language, attribute } = this.section.chosen;
    const name = ["difference", first, second, task, language || "all", attribute].join("-");
    this.draw(name, this.section.filled(spec, records), { follows: !language, click });
  }
}
