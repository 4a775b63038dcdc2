function explain({ systems, metrics, titles, names, cuts, facets: packed, pairs, ids, cases, spec, confusion }) {
  const KEYS = ["task", "language", "attribute", "metric"];
  const chosen = {};
  // Unpacked: buckets with what is said of them; scores came as whole tenths.
  const cut = (place) => {
    const [task, language, attribute, buckets] = cuts[place];
    return { task, language, name: names[language], attribute, title: titles[attribute], buckets };
  };
  // A bucket with too few examples has no interval.
  const scores = (tenths) => tenths.map((value) => (value === null ? null : value / 10));
  const span = (low, high, text, joint) => (low === null ? "—" : `${text(low)}${joint}${text(high)}`);
  const tenth = (value) => value.toFixed(1);
  const facets = packed.map(([system, place, metric, tenths, insight = ""]) => {
    const found = cut(place);
    const buckets = found.buckets.map(([name, edges, n, places, total], at) => {
      const [score, low, high] = scores(tenths.slice(3 * at, 3 * at + 3));
      return { name, edges, n, places, total, score, low, high, interval: span(low, high, tenth, "–") };
    });
    return { ...found, buckets, system: systems[system], metric: metrics[metric], insight };
  });
  const options = (key, among) => [...new Map(among.map((f) => [f[key], key === "language" ? `${f.name} (${f.language})`
    : key === "attribute" ? `${f.attribute}: ${f.title}` : f[key]]))];
  const fits = (facet, keys) => keys.every((key) => chosen[key] === "" || facet[key] === chosen[key]);
  const href = (f) => "#explain/" + KEYS.map((key) => encodeURIComponent(f[key])).join("/");
  const draw = redrawn("explain-chart");

  function choose(wanted) {
    KEYS.forEach((key, place) => {
      const offered = options(key, facets.filter((facet) => fits(facet, KEYS.slice(0, place))));
      if (key === "language" && offered.length > 1) offered.unshift(["", "all languages"]);
      const start = (values) => (key === "language" && values.includes("en") ? "en" : values.find((value) => value !== ""));
      chosen[key] = offer(byId(`choose-${key}`), offered, [wanted[key], chosen[key]], start);
    });
    show();
  }
  function show() {
    const found = facets.filter((facet) => fits(facet, KEYS));
    byId("insights").replaceChildren(...found.filter((f) => f.insight).slice(0, 12).map((f) =>
      element("p", `${f.system}, ${f.name}: ${f.insight}`, { class: "insight", dir: "auto" })));
    byId("examples").replaceChildren();
    table(found);
    confused();
    bars(found);
    versus?.();
  }
  // A specification with other records; panels are larger where there is one, labels turned where they are long.
  function filled(spec, records) {
    const made = structuredClone(spec);
    made.data.values = records;
    const buckets = [...new Set(records.map((record) => record.bucket))];
    for (const part of [made.spec, ...made.spec.layer]) {
      const x = part.encoding?.x;
      if (!x) continue;
      x.sort = buckets;
      x.axis.labelAngle = buckets.some((name) => name.length > 5) ? -40 : 0;
    }
    if (chosen.language) { made.spec.height = 220; made.spec.width.step *= 1.8; }
    return made;
  }
  function bars(found) {
    const records = found.flatMap((f) => f.buckets.map(({ name: bucket, edges, n, score, low, high, interval }) =>
      ({ system: f.system, language: f.language, name: f.name, bucket, edges, n, score, low, high, interval })));
    const click = (hit) => {
      const facet = found.find((f) => f.system === hit.system && f.language === hit.language);
      if (facet) examples(facet, facet.buckets.find(({ name }) => name === hit.bucket));
    };
    const name = ["explain", chosen.task, chosen.language || "all", chosen.attribute].join("-");
    draw(name, filled(spec, records), { follows: !chosen.language, click });
  }
  // Rows of one chosen language stay, whatever the filter says.
  const attributes = (facet) => (chosen.language ? {} : { "data-language": facet.language });
  const hide = (made, facet) => { made.hidden = kept !== null && !chosen.language && !kept.includes(facet.language); return made; };
  function table(found) {
    byId("bucket-rows").replaceChildren(...found.flatMap((facet) => facet.buckets.map((bucket) => {
      const { name, edges, n, score, interval } = bucket;
      const numbers = figures(edges, n.toLocaleString("en"), tenth(score), interval);
      return hide(row([words(facet.system), element("td", facet.name), words(name), ...numbers, picker(facet, bucket)],
        attributes(facet)), facet);
    })));
  }
  function picker(facet, bucket) {
    const cell = element("td");
    if (!bucket.total) return cell;
    const button = element("button", "examples", { class: "pick", type: "button", "aria-expanded": "false", "aria-controls": "examples",
      "aria-label": `examples of ${facet.name}, ${bucket.name}` });
    button.addEventListener("click", () => examples(facet, bucket));
    button.shows = bucket;
    cell.append(button);
    return cell;
  }
  function examples(facet, bucket) {
    const range = bucket.edges ? ` ${bucket.edges}` : "";
    const who = facet.system ? `${facet.system}, ` : "";
    list(`${who}${facet.task}, ${facet.name}, ${facet.attribute} ${bucket.name}${range}`, facet, bucket, bucket.n);
  }
  // Examples below a heading that says what they are; `shows` is what the button was for.
  function list(heading, { task, language }, shows, n) {
    const cell = `${task}/${language}`;
    const listed = shows.places.map((place) => ids[cell][place]);
    document.querySelectorAll(".pick").forEach((b) => b.setAttribute("aria-expanded", String(b.shows === shows)));
    const made = element("ol", "", listed.some((id) => cases[cell][id]) ? { class: "cases" } : {});
    made.append(...listed.map((id) => example(id, cases[cell][id], language)));
    const part = listed.length < shows.total ? `; the explanation's own file has ${shows.total.toLocaleString("en")}` : "";
    byId("examples").replaceChildren(
      element("h3", heading, { tabindex: "-1", dir: "auto" }),
      element("p", `n = ${n.toLocaleString("en")}; ${listed.length === 1 ? "1 example is" : `${listed.length} examples are`} listed${part}.`), made);
    byId("examples").firstChild.focus({ preventScroll: true });
    byId("examples").scrollIntoView({ block: "nearest" });
  }
  function example(id, text, lang) {
    const item = element("li");
    item.append(element("bdi", id, { dir: "auto", class: "id" }));
    if (!text) return item;
    const [inputs, gold, answers] = text;
    const said = answers.map(([system, answer, score]) => [systems[system] + (score === null ? "" : ` (${score})`), answer]);
    const facts = element("dl");
    for (const [what, content] of [...inputs, ["gold", gold], ...said])
      facts.append(element("dt", what, { dir: "auto" }), element("dd", content, { dir: "auto", lang }));
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
      head.append(element("td"), ...said.map((text) => element("th", text || "(none)", { scope: "col", dir: "auto" })));
      const body = made.createTBody();
      for (const label of gold) {
        const line = body.insertRow();
        line.append(element("th", label || "(none)", { scope: "row", dir: "auto" }),
          ...figures(...said.map((text) => String(cells[cell][label][text] ?? 0))));
      }
      return made;
    });
    byId("confusion").replaceChildren(...tables);
  }
  const links = (list, among, text) => list.append(...among.slice(0, 300).map((f) => {
    const item = element("li");
    item.append(element("a", `${f.system ?? f.pair}, ${f.task}, ${f.name}`, { href: href(f), dir: "auto" }), `: ${text(f)}`);
    return item;
  }));

  const versus = pairs.length ? compare() : null;

  function compare() {
    const draw = redrawn("versus-chart");
    const select = byId("choose-pair");
    const sign = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(1);
    const contrasts = pairs.map(({ first, second, facets }) => facets.map(([place, metric, numbers]) => {
      const found = cut(place);
      const buckets = found.buckets.map(([name, edges, n, places, total], at) => {
        const [p, marks] = numbers.slice(7 * at + 5, 7 * at + 7);
        const [one, two, difference, low, high] = scores(numbers.slice(7 * at, 7 * at + 5));
        return { name, edges, n, places, total, first: one, second: two, difference, low, high, interval: span(low, high, sign, " to "),
          p: p ? (p / 1000).toFixed(3) : "<0.001", told: marks & 1, turns: marks & 2, better: marks & 4 };
      });
      return { ...found, buckets, metric: metrics[metric], pair: `${first} − ${second}` };
    }));
    byId("versus").hidden = false;
    select.append(...pairs.map(({ first, second }, place) => element("option", `${first} − ${second}`, { value: place })));
    select.parentElement.hidden = pairs.length < 2;
    select.addEventListener("change", show);

    function show() {
      const pair = pairs[select.value || 0];
      const found = contrasts[select.value || 0].filter((facet) => fits(facet, KEYS));
      byId("versus-title").textContent = `${pair.first} minus ${pair.second}`;
      const heads = byId("contrast-rows").closest("table").tHead.rows[0].cells;
      [pair.first, pair.second].forEach((name, side) => { heads[3 + side].firstChild.textContent = name; });
      byId("versus").classList.toggle("empty", !found.length);
      said(pair);
      rows(found);
      if (found.length) dots(pair, found);
      else draw("", null);
    }
    // The whole cell in one sentence, with the examples that only one of the two has right.
    function said({ first, second, cells }) {
      const cell = cells[`${chosen.task}/${chosen.language}`];
      if (!cell) {
        const text = chosen.language ? "This pair has no such cell." : "Choose one language to see what only one of the two has right.";
        byId("versus-says").replaceChildren(element("p", text, { class: "intro" }));
        return;
      }
      const [n, difference, ours, theirs, ...places] = cell;
      const text = element("p", `Over all ${n.toLocaleString("en")} examples: ${sign(difference / 10)} points. `);
      [[first, second, ours], [second, first, theirs]].forEach(([right, wrong, count], side) => {
        const label = `${right} right, ${wrong} wrong: ${count.toLocaleString("en")}`;
        const shows = { places: places[side], total: places[side].length };
        const button = element("button", label, { class: "pick", type: "button", dir: "auto", "aria-expanded": "false", "aria-controls": "examples" });
        button.disabled = !shows.total;
        button.shows = shows;
        button.addEventListener("click", () => list(`${chosen.task}, ${names[chosen.language]}: ${right} right, ${wrong} wrong`, chosen, shows, count));
        text.append(button, " ");
      });
      byId("versus-says").replaceChildren(text);
    }
    function rows(found) {
      byId("contrast-rows").replaceChildren(...found.flatMap((facet) => facet.buckets.map((bucket) => {
        const { name, n, first, second, difference, interval, p, told, turns } = bucket;
        const marks = (told ? "●" : "") + (turns ? "⇄" : "");
        const numbers = figures(n.toLocaleString("en"), tenth(first), tenth(second), sign(difference), interval, p, marks);
        return hide(row([element("td", facet.name), words(name), ...numbers, picker(facet, bucket)], attributes(facet)), facet);
      })));
    }
    function dots({ first, second, spec }, found) {
      const [ours, theirs, neither] = spec.spec.layer[1].encoding.color.scale.domain;
      const records = found.flatMap((f) => f.buckets.map((b) => ({ ...b, places: undefined, language: f.language, name: f.name, bucket: b.name,
        verdict: !b.told ? neither : b.better ? ours : theirs, turns: b.turns ? "yes" : "no" })));
      const click = (hit) => {
        const facet = found.find((f) => f.language === hit.language);
        const bucket = facet?.buckets.find(({ name }) => name === hit.bucket);
        if (bucket?.total) examples(facet, bucket);
      };
      const name = ["difference", first, second, chosen.task, chosen.language || "all", chosen.attribute].join("-");
      draw(name, filled(spec, records), { follows: !chosen.language, click });
    }
    const turned = contrasts.flat().filter((facet) => facet.buckets.some((b) => b.told && b.turns));
    byId("turns").hidden = !turned.length;
    links(byId("turns").querySelector("ul"), turned, (f) => {
      const most = f.buckets.filter((b) => b.told && b.turns);
      return `${f.attribute} ${most.map((b) => `${b.name} ${sign(b.difference)}`).join(", ")}`;
    });
    return show;
  }

  const follow = () => {
    const [section, ...path] = location.hash.slice(1).split("/");
    if (section !== "explain" || !path.length) return;
    choose(Object.fromEntries(path.map((word, place) => [KEYS[place], decodeURIComponent(word)])));
    byId("explain").scrollIntoView();
  };
  for (const key of KEYS)
    byId(`choose-${key}`).addEventListener("change", (event) => choose({ ...chosen, [key]: event.target.value }));
  const told = facets.filter((facet) => facet.insight);
  byId("findings").hidden = !told.length;
  links(byId("findings").querySelector("ul"), told, (f) => f.insight);
  addEventListener("hashchange", follow);
  choose({});
  follow();
}
