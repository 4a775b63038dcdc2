const { items, groups, kinds, limits } = data;
const STORE = `isogloss-review/${data.language}/${data.store}`;
const SAID = ["verdict", "better", "remark"];
const VERDICTS = ["right", "odd", "wrong"];
const VERDICT_BUTTONS = [...document.querySelectorAll("[data-verdict]")];
const today = () => new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 10);
const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, "0")).join("");
const cut = (text, most) => (typeof text === "string" ? [...text].slice(0, most).join("") : "");
// Half a character, such as is left where a field is full, is no text that a file can hold.
const whole = (text) => text.toWellFormed?.() ?? text;

const state = { id: randomId(), name: "", place: 0, answers: new Map(), earlier: new Map() };
let unsaved = false;
const answerOf = (item) => state.answers.get(item.key) ?? { verdict: "", better: "", remark: "" };
const isJudged = (item) => answerOf(item).verdict !== "";

// What a speaker said of each item, as far as it can be what this page writes.
const cleanAnswers = (answers) => {
  const found = new Map();
  for (const item of items) {
    const said = answers && Object.hasOwn(answers, item.key) ? answers[item.key] : null;
    if (!said || typeof said !== "object") continue;
    const answer = { wording: said.wording, verdict: VERDICTS.includes(said.verdict) ? said.verdict : "" };
    for (const field of ["better", "remark"]) answer[field] = cut(said[field], limits.text);
    if (SAID.some((field) => answer[field])) found.set(item.key, answer);
  }
  return found;
};
const said = () => Object.fromEntries(items.filter((item) => state.answers.has(item.key)).map((item) => {
  const { verdict, better, remark } = answerOf(item);
  return [item.key, { wording: item.wording, verdict, better: whole(better), remark: whole(remark) }];
}));
function save() {
  try {
    const { id, name, place } = state;
    localStorage.setItem(STORE, JSON.stringify({ id, name, place, answers: said(), earlier: Object.fromEntries(state.earlier) }));
  } catch {
    unsaved = true;
    byId("notice").textContent = "This browser does not keep your answers when the page is closed. "
      + "Download your result before you leave; you can load it below to go on.";
    byId("notice").hidden = false;
  }
}
function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    if (/^[0-9a-f]{16}$/.test(kept.id)) state.id = kept.id;
    state.name = cut(kept.name, limits.name);
    state.place = Math.min(Math.max(Math.trunc(Number(kept.place)) || 0, 0), items.length - 1);
    state.answers = cleanAnswers(kept.answers);
    state.earlier = cleanAnswers(kept.earlier);
  } catch { /* save() says that nothing is kept */ }
}

function show({ move = false } = {}) {
  const item = items[state.place];
  const group = groups[item.group];
  const inGroup = items.filter((other) => other.group === item.group);
  byId("place").textContent = `${group.title} · ${inGroup.indexOf(item) + 1} of ${inGroup.length}`;
  byId("ask").textContent = kinds[item.kind].ask;
  byId("meaning").textContent = [item.meaning, group.note].filter(Boolean).join(". ");
  byId("lines").replaceChildren(...item.lines.map((line, number) => lineBlock(line, item.lines[number - 1])));
  const answer = answerOf(item);
  byId("better").value = answer.better;
  byId("remark").value = answer.remark;
  byId("key").textContent = item.key;
  const before = state.earlier.get(item.key);
  byId("earlier").hidden = !before;
  if (before) {
    const also = [before.better && `better: ${before.better}`, before.remark].filter(Boolean).join("; ");
    byId("earlier").textContent = `The words have changed since you judged them${before.verdict && ` as ${before.verdict}`}: `
      + `${cut(before.wording, limits.text)}${also && ` (${also})`}`;
  }
  showVerdict();
  if (move) document.querySelector("article").scrollIntoView({ block: "start" });
}
function lineBlock(line, before) {
  const own = { lang: data.language, dir: data.direction };
  const isSame = !line.form && line.label === before?.label;
  const block = element("div", "", { class: isSame ? "line same" : "line", dir: data.direction });
  if (!line.form && !isSame) block.append(element("p", line.label, { class: "label", lang: "en", dir: "ltr" }));
  if (line.form) block.append(element("p", line.form, { class: "form", ...own }));
  block.append(element("p", line.text, { class: "text", ...own }));
  if (line.gloss) block.append(element("p", line.gloss, { class: "gloss", lang: "en", dir: "ltr" }));
  return block;
}
function showVerdict() {
  const { verdict } = answerOf(items[state.place]);
  for (const button of VERDICT_BUTTONS) button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
  const judged = items.filter(isJudged).length;
  byId("progress").value = judged;
  byId("progress-says").textContent = `${judged} of ${items.length} judged`;
  byId("send-says").textContent = judged === items.length
    ? "You have judged everything. Thank you! Please download the result and send it back."
    : `You have judged ${judged} of ${items.length}. You can send this now, or go on.`;
  byId("back").disabled = state.place === 0;
  byId("next").disabled = state.place === items.length - 1;
  byId("open").disabled = judged === items.length;
  showParts();
}
function showParts() {
  [...byId("part").options].forEach((option, number) => {
    const inside = items.filter((item) => item.group === number);
    option.textContent = `${groups[number].title} (${inside.filter(isJudged).length}/${inside.length})`;
  });
  byId("part").value = String(items[state.place].group);
  if (byId("copy").open) byId("text").value = resultText();
}

function go(place) {
  state.place = Math.min(Math.max(place, 0), items.length - 1);
  save();
  show({ move: true });
}
function goToOpen() {
  const ahead = items.findIndex((item, place) => place > state.place && !isJudged(item));
  const any = ahead >= 0 ? ahead : items.findIndex((item) => !isJudged(item));
  if (any >= 0) go(any);
}
function say(field, value) {
  const item = items[state.place];
  const answer = { ...answerOf(item), [field]: value };
  if (SAID.some((each) => answer[each])) state.answers.set(item.key, answer);
  else state.answers.delete(item.key);
  save();
  showVerdict();
}
function judge(verdict) {
  const before = answerOf(items[state.place]);
  say("verdict", before.verdict === verdict ? "" : verdict);
  // What is right needs no more words; one goes on where one is not coming back to it.
  if (verdict === "right" && before.verdict === "" && !before.better && !before.remark && state.place < items.length - 1) go(state.place + 1);
}

const resultText = () => JSON.stringify({
  format: data.format, version: data.version, isogloss: data.isogloss, language: data.language,
  content: data.content, cases: data.cases, seed: data.seed,
  reviewer: { id: state.id, name: whole(state.name.trim()) }, date: byId("date").value || today(), answers: said(),
}, null, 1);
function download() {
  const who = state.name.trim().replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").slice(0, 40) || state.id.slice(0, 6);
  const url = URL.createObjectURL(new Blob([resultText()], { type: "application/json" }));
  element("a", "", { href: url, download: `isogloss-review-${data.language}-${who}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  unsaved = false;
}
async function load(file) {
  if (!file) return;
  let loaded;
  try {
    loaded = file.size <= limits.bytes ? JSON.parse(await file.text()) : null;
  } catch { loaded = null; }
  if (loaded?.format !== data.format || loaded.version !== data.version) { byId("load-says").textContent = "This is not the result of a review."; return; }
  if (loaded.language !== data.language) { byId("load-says").textContent = "That result is about another language."; return; }
  const counts = { taken: 0, kept: 0, changed: 0 };
  for (const [key, answer] of cleanAnswers(loaded.answers)) {
    const item = items.find((each) => each.key === key);
    if (answer.wording !== item.wording) { state.earlier.set(key, answer); counts.changed += 1; }
    else if (state.answers.has(key)) counts.kept += 1;
    else { state.answers.set(key, answer); counts.taken += 1; }
  }
  if (/^[0-9a-f]{16}$/.test(loaded.reviewer?.id)) state.id = loaded.reviewer.id;
  state.name ||= cut(loaded.reviewer?.name, limits.name);
  byId("name").value = state.name;
  byId("load-says").textContent = `${counts.taken} answers taken over; ${counts.kept} stay as they are here; `
    + `${counts.changed} are about words that have changed since, please judge these again.`;
  save();
  show();
}

groups.forEach((group, number) => byId("part").append(element("option", group.title, { value: number })));
restore();
byId("name").value = state.name;
byId("date").value = today();
if (state.answers.size) byId("help").open = false;
show();
save();
VERDICT_BUTTONS.forEach((button) => button.addEventListener("click", () => judge(button.dataset.verdict)));
["better", "remark"].forEach((field) => byId(field).addEventListener("input", (event) => say(field, event.target.value)));
byId("name").addEventListener("input", (event) => { state.name = event.target.value; save(); showParts(); });
byId("date").addEventListener("input", showParts);
byId("back").addEventListener("click", () => go(state.place - 1));
byId("next").addEventListener("click", () => go(state.place + 1));
byId("open").addEventListener("click", goToOpen);
byId("part").addEventListener("change", (event) => {
  const group = Number(event.target.value);
  const open = items.findIndex((item) => item.group === group && !isJudged(item));
  go(open >= 0 ? open : items.findIndex((item) => item.group === group));
});
byId("download").addEventListener("click", download);
byId("copy").addEventListener("toggle", showParts);
byId("text").addEventListener("focus", (event) => event.target.select());
byId("load").addEventListener("change", (event) => load(event.target.files[0]).finally(() => { event.target.value = ""; }));
addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) return;
  const verdict = VERDICTS[Number(event.key) - 1];
  if (verdict) judge(verdict);
  else if (event.key === "ArrowRight") go(state.place + 1);
  else if (event.key === "ArrowLeft") go(state.place - 1);
});
addEventListener("beforeunload", (event) => { if (unsaved && state.answers.size) event.preventDefault(); });
document.documentElement.dataset.ready = "yes";
