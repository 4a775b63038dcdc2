const EXPLAIN_KEYS = ["task", "language", "attribute", "metric"];
const tenth = (value) => value.toFixed(1);
// Scores come as whole tenths; a bucket with too few examples has no interval.
const fromTenths = (tenths) => tenths.map((value) => (value === null ? null : value / 10));
const span = (low, high, text, joint) => (low === null ? "—" : `${text(low)}${joint}${text(high)}`);

// What is chosen of the explanations: its findings, a chart, a table, confusions, examples, and pairs of systems.
class ExplainSection {
  constructor({ facets, ...found }) {
    Object.assign(this, found, { chosen: {}, draw: redrawn("explain-chart") });
    this.facets = facets.map((packed) => this.facet(packed));
    this.versus = this.pairs.length ? new PairSection(this) : null;
    const told = this.facets.filter((facet) => facet.insight);
    byId("findings").hidden = !told.length;
    this.link(byId("findings").querySelector("ul"), told, (facet) => facet.insight);
    followChoices("explain", EXPLAIN_KEYS, "choose-", this);
  }
  // A cell along an attribute, with its buckets.
  cut(place) {
    const [task, language, attribute, buckets] = this.cuts[place];
    return { task, language, name: this.names[language], attribute, title: this.titles[attribute], buckets };
  }
  facet([system, place, metric, tenths, insight = ""]) {
    const found = this.cut(place);
    const buckets = found.buckets.map(([name, edges, n, places, total], at) => {
      const [score, low, high] = fromTenths(tenths.slice(3 * at, 3 * at + 3));
      return { name, edges, n, places, total, score, low, high, interval: span(low, high, tenth, "–") };
    });
    return { ...found, buckets, system: this.systems[system], metric: this.metrics[metric], insight };
  }
  fits(facet, keys = EXPLAIN_KEYS) {
    return keys.every((key) => this.chosen[key] === "" || facet[key] === this.chosen[key]);
  }
  choose(wanted) {
    EXPLAIN_KEYS.forEach((key, place) => {
      const offered = this.options(key, this.facets.filter((facet) => this.fits(facet, EXPLAIN_KEYS.slice(0, place))));
      if (key === "language" && offered.length > 1) offered.unshift(["", "all languages"]);
      const start = (values) => (key === "language" && values.includes("en") ? "en" : values.find((value) => value !== ""));
      this.chosen[key] = offer(byId(`choose-${key}`), offered, [wanted[key], this.chosen[key]], start);
    });
    this.show();
  }
  options(key, among) {
    const text = { language: (facet) => `${facet.name} (${facet.language})`, attribute: (facet) => `${facet.attribute}: ${facet.title}` };
    return [...new Map(among.map((facet) => [facet[key], text[key]?.(facet) ?? facet[key]]))];
  }
  show() {
    const found = this.facets.filter((facet) => this.fits(facet));
    byId("insights").replaceChildren(...found.filter((f) => f.insight).slice(0, 12).map((f) =>
      element("p", `${f.system}, ${f.name}: ${f.insight}`, { class: "insight", dir: "auto" })));
    byId("examples").replaceChildren();
    this.showRows(found);
    this.showConfusion();
    this.drawBars(found);
    this.versus?.show();
  }
  // A specification with other records; panels are larger where there is one, labels turned where they are long.
  filled(spec, records) {
    const made = structuredClone(spec);
    made.data.values = records;
    const buckets = [...new Set(records.map((record) => record.bucket))];
    for (const part of [made.spec, ...made.spec.layer]) {
      const x = part.encoding?.x;
      if (!x) continue;
      x.sort = buckets;
      x.axis.labelAngle = buckets.some((name) => name.length > 5) ? -40 : 0;
    }
    if (this.chosen.language) { made.spec.height = 220; made.spec.width.step *= 1.8; }
    return made;
  }
  drawBars(found) {
    const records = found.flatMap((f) => f.buckets.map(({ name: bucket, edges, n, score, low, high, interval }) =>
      ({ system: f.system, language: f.language, name: f.name, bucket, edges, n, score, low, high, interval })));
    const click = (hit) => {
      const facet = found.find((f) => f.system === hit.system && f.language === hit.language);
      if (facet) this.showBucket(facet, facet.buckets.find(({ name }) => name === hit.bucket));
    };
    const { task, language, attribute } = this.chosen;
    const name = ["explain", task, language || "all", attribute].join("-");
    this.draw(name, this.filled(this.spec, records), { follows: !language, click });
  }
  showRows(found) {
    byId("bucket-rows").replaceChildren(...found.flatMap((facet) => facet.buckets.map((bucket) => {
      const { name, edges, n, score, interval } = bucket;
      const numbers = figures(edges, n.toLocaleString("en"), tenth(score), interval);
      const cells = [words(facet.system), element("td", facet.name), words(name), ...numbers, this.picker(facet, bucket)];
      return languageRow(cells, facet.language, !this.chosen.language);
    })));
  }
  picker(facet, bucket) {
    const cell = element("td");
    if (!bucket.total) return cell;
    const button = element("button", "examples", { class: "pick", type: "button", "aria-expanded": "false", "aria-controls": "examples",
      "aria-label": `examples of ${facet.name}, ${bucket.name}` });
    button.addEventListener("click", () => this.showBucket(facet, bucket));
    button.shows = bucket;
    cell.append(button);
    return cell;
  }
  showBucket(facet, bucket) {
    const range = bucket.edges ? ` ${bucket.edges}` : "";
    const who = facet.system ? `${facet.system}, ` : "";
    this.showExamples(`${who}${facet.task}, ${facet.name}, ${facet.attribute} ${bucket.name}${range}`, facet, bucket, bucket.n);
  }
  // Examples below a heading that says what they are; `shows` is what the button was for.
  showExamples(heading, { task, language }, shows, n) {
    const cell = `${task}/${language}`;
    const listed = shows.places.map((place) => this.ids[cell][place]);
    const texts = this.cases[cell];
    document.querySelectorAll(".pick").forEach((b) => b.setAttribute("aria-expanded", String(b.shows === shows)));
    const made = element("ol", "", listed.some((id) => texts[id]) ? { class: "cases" } : {});
    made.append(...listed.map((id) => this.example(id, texts[id], language)));
    const part = listed.length < shows.total ? `; the explanation's own file has ${shows.total.toLocaleString("en")}` : "";
    byId("examples").replaceChildren(
      element("h3", heading, { tabindex: "-1", dir: "auto" }),
      element("p", `n = ${n.toLocaleString("en")}; ${listed.length === 1 ? "1 example is" : `${listed.length} examples are`} listed${part}.`), made);
    byId("examples").firstChild.focus({ preventScroll: true });
    byId("examples").scrollIntoView({ block: "nearest" });
  }
  example(id, text, lang) {
    const item = element("li");
    item.append(element("bdi", id, { dir: "auto", class: "id" }));
    if (!text) return item;
    const [inputs, gold, answers] = text;
    const said = answers.map(([system, answer, score]) => [this.systems[system] + (score === null ? "" : ` (${score})`), answer]);
    const facts = element("dl");
    for (const [what, content] of [...inputs, ["gold", gold], ...said])
      facts.append(element("dt", what, { dir: "auto" }), element("dd", content, { dir: "auto", lang }));
    item.append(facts);
    return item;
  }
  showConfusion() {
    const cell = `${this.chosen.task}/${this.chosen.language}`;
    const having = Object.entries(this.confusion).filter(([, cells]) => cells[cell]);
    byId("confusion").replaceChildren(...having.map(([system, cells]) => confusionTable(system, cells[cell])));
  }
  // Links to facets in a list, each with what is said of it.
  link(list, facets, text) {
    list.append(...facets.slice(0, 300).map((facet) => {
      const item = element("li");
      const href = "#explain/" + EXPLAIN_KEYS.map((key) => encodeURIComponent(facet[key])).join("/");
      item.append(element("a", `${facet.system ?? facet.pair}, ${facet.task}, ${facet.name}`, { href, dir: "auto" }), `: ${text(facet)}`);
      return item;
    }));
  }
}

function confusionTable(system, counts) {
  const gold = Object.keys(counts);
  const said = [...new Set(gold.flatMap((label) => Object.keys(counts[label])))].sort();
  const made = element("table");
  made.append(element("caption", `${system}: gold label (rows) by prediction (columns)`));
  const head = made.createTHead().insertRow();
  head.append(element("td"), ...said.map((text) => element("th", text || "(none)", { scope: "col", dir: "auto" })));
  const body = made.createTBody();
  for (const label of gold) {
    const line = body.insertRow();
    line.append(element("th", label || "(none)", { scope: "row", dir: "auto" }), ...figures(...said.map((text) => String(counts[label][text] ?? 0))));
  }
  return made;
}
