import { byId, element } from "./page/dom.js";

/** @typedef {{ label: string, form?: string, text: string, gloss?: string }} Line */
/** @typedef {{ key: string, kind: string, group: number, wording: string, lines: Line[], meaning?: string }} Item */
/** @typedef {"verdict" | "better" | "remark"} Field */
/** @typedef {{ wording?: string, verdict: string, better: string, remark: string }} Answer */

const data = JSON.parse(byId("data").textContent);
/** @type {Item[]} */
const items = data.items;
/** @type {{ title: string, note: string }[]} */
const groups = data.groups;
/** @type {Record<string, { ask: string }>} */
const kinds = data.kinds;
/** @type {{ name: number, text: number, bytes: number }} */
const limits = data.limits;
const STORE = `isogloss-review/${data.language}/${data.store}`;
/** @type {Field[]} */
const FIELDS = ["verdict", "better", "remark"];
const VERDICTS = ["right", "odd", "wrong"];
const VERDICT_BUTTONS = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-verdict]")]);
const today = () => new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 10);
const randomId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(8)), (n) => n.toString(16).padStart(2, "0")).join("");
/** @param {unknown} text @param {number} most */
const cut = (text, most) => (typeof text === "string" ? [...text].slice(0, most).join("") : "");
// The length limit of a field may split a surrogate pair, which a file cannot contain.
/** @param {string} text */
const whole = (text) => text.toWellFormed?.() ?? text;

/** @type {{ id: string, name: string, index: number, answers: Map<string, Answer>, earlier: Map<string, Answer> }} */
const state = { id: randomId(), name: "", index: 0, answers: new Map(), earlier: new Map() };
let unsaved = false;
/** @param {Item} item @returns {Answer} */
const answerOf = (item) => state.answers.get(item.key) ?? { verdict: "", better: "", remark: "" };
/** @param {Item} item */
const isJudged = (item) => answerOf(item).verdict !== "";

// Keep the answers that this page could have written, by item.
/** @param {any} answers */
const cleanAnswers = (answers) => {
  /** @type {Map<string, Answer>} */
  const clean = new Map();
  for (const item of items) {
    const stored = answers && Object.hasOwn(answers, item.key) ? answers[item.key] : null;
    if (!stored || typeof stored !== "object") continue;
    const { wording, verdict } = stored;
    const [better, remark] = [cut(stored.better, limits.text), cut(stored.remark, limits.text)];
    const answer = { wording, verdict: VERDICTS.includes(verdict) ? verdict : "", better, remark };
    if (FIELDS.some((field) => answer[field])) clean.set(item.key, answer);
  }
  return clean;
};
const givenAnswers = () =>
  Object.fromEntries(
    items
      .filter((item) => state.answers.has(item.key))
      .map((item) => {
        const { verdict, better, remark } = answerOf(item);
        return [item.key, { wording: item.wording, verdict, better: whole(better), remark: whole(remark) }];
      }),
  );
function save() {
  try {
    // Reviews under way have stored the index as `place`.
    const { id, name, index: place } = state;
    localStorage.setItem(
      STORE,
      JSON.stringify({ id, name, place, answers: givenAnswers(), earlier: Object.fromEntries(state.earlier) }),
    );
  } catch {
    unsaved = true;
    byId("notice").textContent =
      "This browser does not keep your answers when the page is closed. " +
      "Download your result before you leave; you can load it below to go on.";
    byId("notice").hidden = false;
  }
}
function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    if (/^[0-9a-f]{16}$/.test(kept.id)) state.id = kept.id;
    state.name = cut(kept.name, limits.name);
    state.index = Math.min(Math.max(Math.trunc(Number(kept.place)) || 0, 0), items.length - 1);
    state.answers = cleanAnswers(kept.answers);
    state.earlier = cleanAnswers(kept.earlier);
  } catch {
    /* save() reports that nothing is stored */
  }
}

function show({ move = false } = {}) {
  const item = items[state.index];
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
    byId("earlier").textContent =
      `The words have changed since you judged them${before.verdict && ` as ${before.verdict}`}: ` +
      `${cut(before.wording, limits.text)}${also && ` (${also})`}`;
  }
  showVerdict();
  if (move) document.querySelector("article")?.scrollIntoView({ block: "start" });
}
/** @param {Line} line @param {Line | undefined} before */
function lineBlock(line, before) {
  const own = { lang: data.language, dir: data.direction };
  const isSame = !line.form && line.label === before?.label;
  const block = element("div", { class: isSame ? "line same" : "line", dir: data.direction });
  if (!line.form && !isSame) block.append(element("p", { class: "label", lang: "en", dir: "ltr" }, line.label));
  if (line.form) block.append(element("p", { class: "form", ...own }, line.form));
  block.append(element("p", { class: "text", ...own }, line.text));
  if (line.gloss) block.append(element("p", { class: "gloss", lang: "en", dir: "ltr" }, line.gloss));
  return block;
}
function showVerdict() {
  const { verdict } = answerOf(items[state.index]);
  for (const button of VERDICT_BUTTONS) button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
  const judged = items.filter(isJudged).length;
  byId("progress").value = judged;
  byId("progress-says").textContent = `${judged} of ${items.length} judged`;
  byId("send-says").textContent =
    judged === items.length
      ? "You have judged everything. Thank you! Please download the result and send it back."
      : `You have judged ${judged} of ${items.length}. You can send this now, or go on.`;
  byId("back").disabled = state.index === 0;
  byId("next").disabled = state.index === items.length - 1;
  byId("open").disabled = judged === items.length;
  showParts();
}
function showParts() {
  [...byId("part").options].forEach((option, number) => {
    const inside = items.filter((item) => item.group === number);
    option.textContent = `${groups[number].title} (${inside.filter(isJudged).length}/${inside.length})`;
  });
  byId("part").value = String(items[state.index].group);
  if (byId("copy").open) byId("text").value = resultText();
}

/** @param {number} index */
function go(index) {
  state.index = Math.min(Math.max(index, 0), items.length - 1);
  save();
  show({ move: true });
}
function goToOpen() {
  const ahead = items.findIndex((item, index) => index > state.index && !isJudged(item));
  const any = ahead >= 0 ? ahead : items.findIndex((item) => !isJudged(item));
  if (any >= 0) go(any);
}
/** @param {Field} field @param {string} value */
function setAnswer(field, value) {
  const item = items[state.index];
  const changed = { ...answerOf(item), [field]: value };
  if (FIELDS.some((name) => changed[name])) state.answers.set(item.key, changed);
  else state.answers.delete(item.key);
  save();
  showVerdict();
}
/** @param {string} verdict */
function judge(verdict) {
  const before = answerOf(items[state.index]);
  setAnswer("verdict", before.verdict === verdict ? "" : verdict);
  // A first verdict of right needs no remark: go on to the next item.
  if (
    verdict === "right" &&
    before.verdict === "" &&
    !before.better &&
    !before.remark &&
    state.index < items.length - 1
  )
    go(state.index + 1);
}

const resultText = () =>
  JSON.stringify(
    {
      format: data.format,
      version: data.version,
      isogloss: data.isogloss,
      language: data.language,
      content: data.content,
      cases: data.cases,
      seed: data.seed,
      reviewer: { id: state.id, name: whole(state.name.trim()) },
      date: byId("date").value || today(),
      answers: givenAnswers(),
    },
    null,
    1,
  );
function downloadResult() {
  const who =
    state.name
      .trim()
      .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
      .slice(0, 40) || state.id.slice(0, 6);
  const url = URL.createObjectURL(new Blob([resultText()], { type: "application/json" }));
  element("a", { href: url, download: `isogloss-review-${data.language}-${who}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  unsaved = false;
}
/** @param {File | undefined} file */
async function load(file) {
  if (!file) return;
  let loaded;
  try {
    loaded = file.size <= limits.bytes ? JSON.parse(await file.text()) : null;
  } catch {
    loaded = null;
  }
  if (loaded?.format !== data.format || loaded.version !== data.version) {
    byId("load-says").textContent = "This is not the result of a review.";
    return;
  }
  if (loaded.language !== data.language) {
    byId("load-says").textContent = "That result is about another language.";
    return;
  }
  const counts = { taken: 0, kept: 0, changed: 0 };
  for (const [key, answer] of cleanAnswers(loaded.answers)) {
    if (answer.wording !== items.find((item) => item.key === key)?.wording) {
      state.earlier.set(key, answer);
      counts.changed += 1;
    } else if (state.answers.has(key)) counts.kept += 1;
    else {
      state.answers.set(key, answer);
      counts.taken += 1;
    }
  }
  if (/^[0-9a-f]{16}$/.test(loaded.reviewer?.id)) state.id = loaded.reviewer.id;
  state.name ||= cut(loaded.reviewer?.name, limits.name);
  byId("name").value = state.name;
  byId("load-says").textContent =
    `Answers: ${counts.taken} loaded; ${counts.kept} kept from this device; ` +
    `${counts.changed} about words that have changed since: please judge them again.`;
  save();
  show();
}

groups.forEach((group, number) => byId("part").append(element("option", { value: String(number) }, group.title)));
restore();
byId("name").value = state.name;
byId("date").value = today();
if (state.answers.size) byId("help").open = false;
show();
save();
VERDICT_BUTTONS.forEach((button) => button.addEventListener("click", () => judge(button.dataset.verdict ?? "")));
FIELDS.slice(1).forEach((field) =>
  byId(field).addEventListener("input", (/** @type {any} */ event) => setAnswer(field, event.target.value)),
);
byId("name").addEventListener("input", (/** @type {any} */ event) => {
  state.name = event.target.value;
  save();
  showParts();
});
byId("date").addEventListener("input", showParts);
byId("back").addEventListener("click", () => go(state.index - 1));
byId("next").addEventListener("click", () => go(state.index + 1));
byId("open").addEventListener("click", goToOpen);
byId("part").addEventListener("change", (/** @type {any} */ event) => {
  const group = Number(event.target.value);
  const open = items.findIndex((item) => item.group === group && !isJudged(item));
  go(open >= 0 ? open : items.findIndex((item) => item.group === group));
});
byId("download").addEventListener("click", downloadResult);
byId("copy").addEventListener("toggle", showParts);
byId("text").addEventListener("focus", (/** @type {any} */ event) => event.target.select());
byId("load").addEventListener("change", (/** @type {any} */ event) =>
  load(event.target.files[0]).finally(() => {
    event.target.value = "";
  }),
);
addEventListener("keydown", (event) => {
  const inField = event.target instanceof Element && event.target.closest("input, select, textarea");
  if (inField || event.ctrlKey || event.altKey || event.metaKey) return;
  const verdict = VERDICTS[Number(event.key) - 1];
  if (verdict) judge(verdict);
  else if (event.key === "ArrowRight") go(state.index + 1);
  else if (event.key === "ArrowLeft") go(state.index - 1);
});
addEventListener("beforeunload", (event) => {
  if (unsaved && state.answers.size) event.preventDefault();
});
document.documentElement.dataset.ready = "yes";
