"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const OPTIONS = {
    mode: "vega-lite", renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
  };
  const byId = (id) => document.getElementById(id);
  // Everything a reader sees is set as text: names of systems and examples are never read as markup.
  const element = (tag, text = "", attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  // On a narrow screen the panels of a chart stand below each other, and bars are no longer than there is room.
  const fitted = (spec) => (innerWidth >= 700 ? spec : {
    ...spec,
    ...(spec.columns && { columns: 1 }),
    ...(spec.width > 0 && { width: Math.max(160, Math.min(spec.width, innerWidth - 190)) }),
  });
  let kept = null;
  const sift = (view) => (view.signal("kept") === kept ? view : view.signal("kept", kept).resize().runAsync());

  // Charts are drawn when they come near, and one by one when there is nothing else to do (so that print has them).
  const views = new Map();
  const drawn = new Map();
  function draw(place) {
    const name = place.dataset.chart;
    if (!drawn.has(name)) drawn.set(name, embed(place, name, data.charts[name]).then(sift));
    return drawn.get(name);
  }
  async function embed(place, name, spec) {
    const { view } = await vegaEmbed(place, fitted(spec), { ...OPTIONS, downloadFileName: name });
    views.set(place, view);
    return view;
  }
  const places = [...document.querySelectorAll("[data-chart]")];
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "300px" });
  places.forEach((place) => near.observe(place));
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  const drawRest = () => {
    const next = places.find((place) => !drawn.has(place.dataset.chart));
    if (next) draw(next).then(() => idle(drawRest));
    else Promise.all(drawn.values()).then(() => { document.documentElement.dataset.drawn = "all"; });
  };
  addEventListener("load", () => idle(drawRest));
  addEventListener("beforeprint", () => document.querySelectorAll("details[data-print]").forEach((d) => { d.open = true; }));

  // Tables: a heading sorts, by mouse or keyboard.
  const numeric = (text) => { const value = parseFloat(text.replace(/,/g, "")); return Number.isNaN(value) ? -Infinity : value; };
  function sort(heading) {
    const body = heading.closest("table").tBodies[0];
    const column = heading.cellIndex;
    // Numbers begin with the largest, words with A; the second press turns that round.
    const number = heading.classList.contains("number");
    const [first, second] = number ? ["descending", "ascending"] : ["ascending", "descending"];
    const order = heading.getAttribute("aria-sort") === first ? second : first;
    for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const text = (row) => row.cells[column].textContent;
    const compare = number
      ? (a, b) => numeric(text(a)) - numeric(text(b))
      : (a, b) => text(a).localeCompare(text(b));
    body.append(...[...body.rows].sort((a, b) => sign * compare(a, b)));
  }
  document.addEventListener("click", (event) => {
    const heading = event.target.closest("th button")?.parentElement;
    if (heading) sort(heading);
  });

  // The filter: codes, names in English or their own language, families, scripts; commas between them.
  const matches = (code, word) => code === word
    || ((word.length > 2 || /[^\x00-\x7f]/.test(word)) && data.languages[code].includes(word));
  function filter(text) {
    const words = text.toLowerCase().split(",").map((word) => word.trim()).filter(Boolean);
    const codes = Object.keys(data.languages);
    const found = codes.filter((code) => words.some((word) => matches(code, word)));
    kept = found.length ? found : null;
    byId("filter-says").textContent = words.length ? (kept ? `${found.length} of ${codes.length}` : "none matches") : "";
    document.querySelectorAll("tr[data-language]").forEach((row) => {
      row.hidden = kept !== null && !kept.includes(row.dataset.language);
    });
    for (const view of views.values()) sift(view);
  }
  byId("filter").addEventListener("input", (event) => filter(event.target.value));

  if (data.explain) explain(data.explain);

  function explain({ facets, ids, cases, spec, confusion }) {
    const KEYS = ["task", "language", "attribute", "metric"];
    const chosen = {};
    let shown = null;
    const options = (key, among) => [...new Map(among.map((f) => [f[key], key === "language" ? `${f.name} (${f.language})`
      : key === "attribute" ? `${f.attribute}: ${f.title}` : f[key]]))];
    const fits = (facet, keys) => keys.every((key) => chosen[key] === "" || facet[key] === chosen[key]);
    const href = (f) => "#explain/" + KEYS.map((key) => encodeURIComponent(f[key])).join("/");

    function choose(wanted) {
      KEYS.forEach((key, place) => {
        const among = facets.filter((facet) => fits(facet, KEYS.slice(0, place)));
        const offered = options(key, among);
        if (key === "language" && offered.length > 1) offered.unshift(["", "all languages"]);
        const values = offered.map(([value]) => value);
        const start = key === "language" && values.includes("en") ? "en" : values.find((value) => value !== "");
        chosen[key] = [wanted[key], chosen[key]].find((value) => values.includes(value)) ?? start;
        const select = byId(`choose-${key}`);
        select.replaceChildren(...offered.map(([value, text]) => element("option", text, { value })));
        select.value = chosen[key];
      });
      show();
    }
    function records(found) {
      return found.flatMap((f) => f.buckets.map(([bucket, edges, n, score, low, high]) =>
        ({ system: f.system, language: f.language, name: f.name, bucket, edges, n, score, low, high })));
    }
    function show() {
      const found = facets.filter((facet) => fits(facet, KEYS));
      byId("insights").replaceChildren(...found.filter((f) => f.insight).slice(0, 12).map((f) =>
        element("p", `${f.system}, ${f.name}: ${f.insight}`, { class: "insight", dir: "auto" })));
      byId("examples").replaceChildren();
      table(found);
      confused();
      // One after the other, so that the last choice is the one that stays.
      drawn.set("explain", (drawn.get("explain") ?? Promise.resolve()).then(() => bars(found)));
    }
    async function bars(found) {
      const filled = structuredClone(spec);
      filled.data.values = records(found);
      const buckets = [...new Set(filled.data.values.map((record) => record.bucket))];
      const { x } = filled.spec.encoding;
      x.sort = buckets;
      x.axis.labelAngle = buckets.some((name) => name.length > 5) ? -40 : 0;
      const { task, language, attribute } = found[0];
      const single = found.every((facet) => facet.language === language);
      if (single) { filled.spec.height = 220; filled.spec.width.step *= 1.8; }
      const name = ["explain", task, single ? language : "all", attribute].join("-").replace(/[^\w.-]+/g, "-");
      const place = byId("explain-chart");
      shown?.finalize();
      const view = shown = await embed(place, name, filled);
      view.addEventListener("click", (_, item) => {
        const hit = item?.datum;
        const facet = hit && found.find((f) => f.system === hit.system && f.language === hit.language);
        if (facet) examples(facet, facet.buckets.find(([name]) => name === hit.bucket));
      });
      // A language that was chosen here stays, whatever the filter says.
      if (single) views.delete(place);
      else await sift(view);
    }
    function table(found) {
      byId("bucket-rows").replaceChildren(...found.flatMap((facet) => facet.buckets.map((bucket) => {
        const [name, edges, n, score, low, high] = bucket;
        const row = element("tr", "", chosen.language ? {} : { "data-language": facet.language });
        row.hidden = kept !== null && !chosen.language && !kept.includes(facet.language);
        row.append(element("td", facet.system, { dir: "auto" }), element("td", facet.name), element("td", name, { dir: "auto" }),
          element("td", edges, { class: "number" }));
        for (const text of [n.toLocaleString("en"), score.toFixed(1), `${low.toFixed(1)}–${high.toFixed(1)}`])
          row.append(element("td", text, { class: "number" }));
        const cell = element("td");
        if (bucket[7]) {
          const button = element("button", "examples", { class: "pick", type: "button", "aria-expanded": "false", "aria-controls": "examples",
            "aria-label": `examples of ${facet.name}, ${name}` });
          button.addEventListener("click", () => examples(facet, bucket));
          button.bucket = bucket;
          cell.append(button);
        }
        row.append(cell);
        return row;
      })));
    }
    function examples(facet, bucket) {
      const [name, edges, n, , , , places, total] = bucket;
      const cell = `${facet.task}/${facet.language}`;
      const listed = places.map((place) => ids[cell][place]);
      document.querySelectorAll(".pick").forEach((b) => b.setAttribute("aria-expanded", String(b.bucket === bucket)));
      const range = edges ? ` (${edges})` : "";
      const list = element("ol", "", listed.some((id) => cases[cell][id]) ? { class: "cases" } : {});
      list.append(...listed.map((id) => example(id, cases[cell][id], facet.language)));
      const part = listed.length < total ? `; the explanation's own file has ${total.toLocaleString("en")}` : "";
      byId("examples").replaceChildren(
        element("h3", `${facet.system}, ${facet.task}, ${facet.name}, ${facet.attribute} ${name}${range}`, { tabindex: "-1", dir: "auto" }),
        element("p", `n = ${n.toLocaleString("en")}; ${listed.length} examples are listed${part}.`), list);
      byId("examples").firstChild.focus({ preventScroll: true });
      byId("examples").scrollIntoView({ block: "nearest" });
    }
    function example(id, text, lang) {
      const item = element("li");
      item.append(element("bdi", id, { dir: "auto", class: "id" }));
      if (!text) return item;
      const said = text.said.map(([system, answer, score]) => [score === null ? system : `${system} (${score.toFixed(0)})`, answer]);
      const facts = element("dl");
      for (const [what, words] of [...text.inputs, ["gold", text.gold], ...said])
        facts.append(element("dt", what, { dir: "auto" }), element("dd", words, { dir: "auto", lang }));
      item.append(facts);
      return item;
    }
    function confused() {
      const cell = `${chosen.task}/${chosen.language}`;
      const tables = Object.entries(confusion).filter(([, cells]) => cells[cell]).map(([system, cells]) => {
        const gold = Object.keys(cells[cell]);
        const said = [...new Set(gold.flatMap((label) => Object.keys(cells[cell][label])))].sort();
        const made = element("table");
        made.append(element("caption", `${system}: gold label (rows) by prediction (columns)`));
        const head = made.createTHead().insertRow();
        for (const text of ["", ...said]) head.append(element("th", text, { scope: "col", dir: "auto" }));
        const body = made.createTBody();
        for (const label of gold) {
          const row = body.insertRow();
          row.append(element("th", label, { scope: "row", dir: "auto" }));
          for (const text of said) row.append(element("td", String(cells[cell][label][text] ?? 0), { class: "number" }));
        }
        return made;
      });
      byId("confusion").replaceChildren(...tables);
    }
    const follow = () => {
      const [section, ...words] = location.hash.slice(1).split("/");
      if (section !== "explain" || !words.length) return;
      choose(Object.fromEntries(words.map((word, place) => [KEYS[place], decodeURIComponent(word)])));
      byId("explain").scrollIntoView();
    };
    for (const key of KEYS)
      byId(`choose-${key}`).addEventListener("change", (event) => choose({ ...chosen, [key]: event.target.value }));
    const told = facets.filter((facet) => facet.insight);
    byId("findings").hidden = !told.length;
    byId("findings").querySelector("ul").append(...told.slice(0, 300).map((f) => {
      const item = element("li");
      item.append(element("a", `${f.system}, ${f.task}, ${f.name}`, { href: href(f), dir: "auto" }), `: ${f.insight}`);
      return item;
    }));
    addEventListener("hashchange", follow);
    choose({});
    follow();
  }
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
