const OPTIONS = {
  mode: "vega-lite", renderer: "svg",
  // Expressions are interpreted, not compiled: the page's policy lets no text become code.
  ast: true,
  actions: { export: true, source: false, compiled: false, editor: false },
};
// Charts take the room there is: dots and bars stretch to it, panels stand beside each other as far as they go. Names of rows
// need some of it, and so does the way from panel to panel.
const ROW_NAMES = 150, BETWEEN = 30, LEGEND_ENTRY = 280;
const distinct = (values, field) => new Set(values.map((record) => record[field])).size;
function panelWidth({ width, encoding, layer }, values) {
  const x = encoding?.x ?? layer?.find((part) => part.encoding?.x)?.encoding.x;
  return width?.step ? width.step * distinct(values, x.field) : width;
}
function fitted(spec, room) {
  const made = withLegends(spec, Math.max(1, Math.floor(room / LEGEND_ENTRY)));
  const { legend } = spec.config;
  made.config.legend = { ...legend, labelLimit: Math.min(legend.labelLimit, room - ROW_NAMES - BETWEEN) };
  if (!spec.facet) return made;
  const values = spec.data.values;
  const most = Math.max(160, room - ROW_NAMES);
  const panel = made.spec.width > most ? { ...made.spec, width: most } : made.spec;
  const apart = spec.resolve?.axis?.y === "independent" ? ROW_NAMES : BETWEEN;
  const beside = Math.floor((most + apart) / (panelWidth(panel, values) + apart));
  return { ...made, spec: panel, columns: Math.max(1, Math.min(beside, distinct(values, spec.facet.field))) };
}
// A copy whose legends have at most so many columns; records have none, and are not copied.
function withLegends(part, most) {
  if (part === null || typeof part !== "object") return part;
  if (Array.isArray(part)) return part.map((one) => withLegends(one, most));
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [key,
    key === "values" ? value : key === "legend" && value?.columns ? { ...value, columns: Math.min(value.columns, most) } : withLegends(value, most)]));
}
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
  const { view } = await vegaEmbed(place, fitted(spec, roomOf(place)), { ...OPTIONS, downloadFileName: name });
  views.set(place, view);
  place.querySelector("summary").setAttribute("aria-label", "Save this chart");
  if (spec.width > 0 && !spec.facet) await stretch(place, view);
  return view;
}
// Beside a chart there is a button that saves it. What is as wide as it needs to be may need all that its section has.
const roomOf = (place) => (place.closest(".stretch") ? place.parentElement : place.closest("section")).clientWidth - 38;
async function stretch(place, view) {
  // With its width the labels of an axis change, and so the room that they take: the second time is exact.
  for (const _ of [1, 2]) {
    const spare = roomOf(place) - place.querySelector("svg.marks").getBoundingClientRect().width;
    await view.width(Math.max(120, view.width() + spare)).runAsync();
  }
}
addEventListener("resize", () => {
  for (const [place, view] of views) if (place.closest(".stretch")) stretch(place, view);
});
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
const numeric = (text) => { const value = parseFloat(text.replace(/[,<]/g, "").replace("−", "-")); return Number.isNaN(value) ? -Infinity : value; };
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
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
byId("filter").addEventListener("input", (event) => filter(event.target.value));
document.querySelector("form").hidden = !Object.keys(data.languages).length;

// A choice: what is offered depends on what was chosen before; a choice that is still offered stays.
function offer(select, options, wanted, start) {
  const values = options.map(([value]) => value);
  const value = wanted.find((one) => values.includes(one)) ?? start(values);
  select.replaceChildren(...options.map(([one, text]) => element("option", text, { value: one })));
  return (select.value = value);
}
// A chart that is drawn again and again, or not at all (without a specification): one after the other, so that the last
// choice is the one that stays.
function redrawn(id) {
  const place = byId(id);
  let shown = null;
  return (name, spec, { follows = true, click = null } = {}) => {
    const next = (drawn.get(id) ?? Promise.resolve()).then(async () => {
      shown?.finalize();
      views.delete(place);
      if (!spec) { shown = null; place.replaceChildren(); return; }
      shown = await embed(place, name.replace(/[^\w.-]+/g, "-"), spec);
      if (click) shown.addEventListener("click", (_, item) => item?.datum && click(item.datum));
      // What was chosen by hand stays, whatever the filter says.
      if (follows) await sift(shown);
      else views.delete(place);
    });
    drawn.set(id, next);
    return next;
  };
}
// A section whose choices the address may name, `#explain/xnli/sw`: it is told what is wanted of each key.
function followChoices(section, keys, selects, shown) {
  const follow = () => {
    const [name, ...path] = location.hash.slice(1).split("/");
    if (name !== section || !path.length) return;
    shown.choose(Object.fromEntries(path.map((word, place) => [keys[place], decodeURIComponent(word)])));
    byId(section).scrollIntoView();
  };
  for (const key of keys)
    byId(`${selects}${key}`).addEventListener("change", (event) => shown.choose({ ...shown.chosen, [key]: event.target.value }));
  addEventListener("hashchange", follow);
  shown.choose({});
  follow();
}
// A row of a language, which the filter may hide; what was chosen by hand stays, whatever the filter says.
function languageRow(cells, language, follows = true) {
  const made = element("tr", "", follows ? { "data-language": language } : {});
  made.append(...cells);
  made.hidden = follows && kept !== null && !kept.includes(language);
  return made;
}
const words = (text) => element("td", text, { dir: "auto" });
const figures = (...texts) => texts.map((text) => element("td", text, { class: "number" }));

themeSwitch(byId("theme"));
byId("theme").hidden = false;
if (data.explain) new ExplainSection(data.explain);
if (data.survey) new SurveySection(data.survey);
