// The form of a board: sends a submission, follows it, and lets its team publish it. All text is set as text.
"use strict";

const API = "api/v1/";
const UNKNOWN = "not disclosed";
const WAITING = ["received", "validating", "scoring"];
const SHOWN = 6; // of a list of what is missing
const QUEUE_ROWS = 20;
const QUEUE_SECONDS = 15;
let fields = {};
let names = { tasks: {}, languages: {} };
const byId = (id) => document.getElementById(id);

function element(name, text, parent) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

async function ask(path, options = {}) {
  const token = byId("token").value.trim();
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(API + path, { ...options, headers, credentials: "omit", cache: "no-store" });
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.what || `the board answered ${answer.status}`), found);
  return found;
}

const typesOf = (schema) => [schema, ...(schema.anyOf || [])].flatMap((each) => each.type || []);
const takesUnknown = (schema) => schema["x-takes"].includes(UNKNOWN) || schema.default === UNKNOWN;

function inputOf(name, schema) {
  const types = typesOf(schema);
  const choices = schema.enum || (types.includes("boolean") && !types.includes("string") ? ["true", "false", UNKNOWN] : null);
  if (choices) {
    const select = element("select");
    // What nobody chose is not to be sent: the first choice would be wrong for most.
    if (!takesUnknown(schema)) element("option", "choose …", select).value = "";
    for (const choice of choices) element("option", choice, select).value = choice;
    return select;
  }
  if (types.includes("array")) return element("textarea");
  const input = element("input");
  if (schema.examples) {
    const list = element("datalist", undefined, byId("form"));
    list.id = `${name}-examples`;
    for (const example of schema.examples) element("option", undefined, list).value = example;
    input.setAttribute("list", list.id);
  }
  return input;
}

function addField(name, schema, required) {
  const label = element("label", name.replaceAll("_", " "), byId(required ? "fields" : "more-fields"));
  const input = inputOf(name, schema);
  input.name = name;
  input.required = required;
  if (takesUnknown(schema)) input.value = UNKNOWN;
  label.append(input);
  const hints = { TEXTAREA: "one a line", SELECT: "" };
  const takes = hints[input.tagName] ?? schema["x-takes"].replace(/^text$/, "");
  element("small", takes ? `${schema.description}: ${takes}` : schema.description, label);
}

// What was typed, in the type that the board asks for; what fits none is sent as text, and the board says what is wrong.
function valueOf(text, types) {
  if (types.includes("array")) return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if ((types.includes("integer") || types.includes("number")) && /^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (types.includes("boolean") && /^(true|false)$/.test(text)) return text === "true";
  return text;
}

function metadata() {
  const found = {};
  for (const input of byId("form").querySelectorAll("label > [name]:not([type=file])")) {
    found[input.name] = valueOf(input.value.trim(), typesOf(fields[input.name]));
  }
  return found;
}

// What is wrong with a field of the metadata ("is blank") is a sentence beside it.
const besideField = ({ where, what }) => (where.startsWith("metadata.") ? `This ${what}.` : what);

// What is wrong with a field is said beside it too, for all fields at once.
function markFields(problems) {
  for (const input of byId("form").querySelectorAll("[name]")) {
    const found = problems.filter((each) => !each.warning && each.where.replace("metadata.", "") === input.name);
    input.parentElement.querySelector(".wrong")?.remove();
    input.setAttribute("aria-invalid", String(found.length > 0));
    if (!found.length) continue;
    element("small", found.map(besideField).join(" "), input.parentElement).className = "wrong";
    if (byId("more").contains(input)) byId("more").open = true;
  }
}

function show(title, text, problems = [], bad = false) {
  byId("outcome").hidden = false;
  byId("outcome-title").textContent = title;
  byId("outcome-title").className = bad ? "error" : "";
  byId("outcome-text").textContent = text;
  byId("steps").hidden = true;
  byId("scores").hidden = true;
  byId("problems").replaceChildren();
  for (const problem of problems) {
    const line = element("li", undefined, byId("problems"));
    element("b", `${problem.warning ? "Warning" : "Error"}: ${problem.where}`, line);
    line.append(`: ${problem.what}. ${problem.fix}`);
  }
  markFields(problems);
}

function showSteps(state) {
  const scored = [...WAITING, "preview", "published"];
  const steps = { rejected: ["received", "validating", "rejected"], withdrawn: [...scored, "withdrawn"] }[state] || scored;
  byId("steps").hidden = false;
  byId("steps").replaceChildren();
  steps.forEach((step, place) => {
    const item = element("li", step, byId("steps"));
    if (place < steps.indexOf(state)) item.className = "done";
    if (step === state) item.setAttribute("aria-current", "step");
  });
}

const figure = (value) => (value === null || value === undefined ? "–" : value.toFixed(1));

const languageName = (code) => names.languages[code] ?? code;

// A task by the beginning of its title, or by all of it where several begin alike.
function taskName(id) {
  const title = names.tasks[id] ?? id;
  const beginning = (text) => text.split(":")[0];
  const alike = Object.values(names.tasks).filter((other) => beginning(other) === beginning(title));
  return alike.length > 1 ? title : beginning(title);
}

// A task, or a task in a language: `xnli/sw`.
function placeName(place) {
  const [, task, code] = /^(.*)\/([^/]*)$/.exec(place) ?? [];
  return code ? `${taskName(task)} in ${languageName(code)}` : taskName(place);
}

// The averages of a submission: a name, its value by every version of the scorer, and what the newest lacks.
function averageRows(versions) {
  const { missing, incomplete, categories, tasks } = versions.at(-1);
  const row = (level, id, name, place) =>
    [name, versions.map((each) => each[level][id]), (incomplete[id] || []).map(place)];
  return [
    ["overall", versions.map((each) => each.overall), missing.map(placeName)],
    ...Object.keys(categories).map((id) => row("categories", id, id, placeName)),
    ...Object.keys(tasks).map((id) => row("tasks", id, taskName(id), languageName)),
  ];
}

// One row an average, one column a version of the scorer: old values stay beside the new.
function showScores({ scores: versions }) {
  const table = byId("scores");
  table.hidden = !versions.length;
  if (!versions.length) return;
  const head = element("tr");
  for (const text of ["Average", ...versions.map((each) => each.scorer), "Missing"]) element("th", text, head).scope = "col";
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren();
  for (const [name, values, missing] of averageRows(versions)) {
    const row = element("tr", undefined, table.tBodies[0]);
    element("th", name, row).scope = "row";
    for (const value of values) element("td", figure(value), row).className = "number";
    const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : "";
    element("td", missing.slice(0, SHOWN).join(", ") + more, row);
  }
}

function showSubmission(submission) {
  const states = {
    preview: "Scored: only your team sees it. Publish it when you are content.",
    published: "It is on the board.",
    rejected: "It was not scored, and does not count. Correct what is listed and submit it again.",
    withdrawn: "It is no longer on the board.",
  };
  const text = states[submission.state] || `Place ${submission.queue_position ?? "–"} in the queue; this page follows it.`;
  show(`${submission.system.name}: ${submission.state}`, text, submission.problems, submission.state === "rejected");
  showSteps(submission.state);
  showScores(submission);
}

async function follow(key) {
  let pause = 500;
  for (;;) {
    const submission = await ask(`submissions/${key}`);
    showSubmission(submission);
    await Promise.all([showTeam(), showQueue()]);
    if (!WAITING.includes(submission.state)) return;
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(5000, pause * 1.5);
  }
}

async function act(key, action) {
  await attempt(async () => {
    showSubmission(await ask(`submissions/${key}/${action}`, { method: "POST" }));
    await showTeam();
  });
}

async function showTeam() {
  const [team, sent] = await Promise.all([ask("team"), ask("submissions")]);
  byId("team").textContent = `${team.team}: ${team.left} of ${team.monthly_submissions} submissions left in ${team.month}; ${team.scored_in_all} scored in all`;
  byId("submissions").hidden = false;
  const body = byId("submissions").tBodies[0];
  body.replaceChildren();
  for (const submission of sent.submissions) {
    const row = element("tr", undefined, body);
    for (const text of [submission.system.name, submission.state]) element("td", text, row);
    const cell = element("td", undefined, row);
    const actions = { preview: ["publish", "withdraw"], published: ["withdraw"], withdrawn: ["publish"] }[submission.state] || [];
    for (const action of actions) element("button", action, cell).addEventListener("click", () => act(submission.key, action));
    element("button", "show", cell).addEventListener("click", () => attempt(() => follow(submission.key)));
    for (const text of [submission.created_at, submission.key]) element("td", text, row);
  }
}

async function showQueue() {
  const queue = await ask("queue");
  byId("queue").textContent = `${queue.waiting} waiting, ${queue.running} being scored`;
  byId("waiting").hidden = !queue.entries.length;
  const body = byId("waiting").tBodies[0];
  body.replaceChildren();
  for (const entry of queue.entries.slice(0, QUEUE_ROWS)) {
    const row = element("tr", undefined, body);
    for (const text of [entry.position, entry.state, entry.since]) element("td", text, row);
  }
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    show(error.message, error.fix || "", error.problems, true);
  }
}

async function send(event) {
  event.preventDefault();
  await attempt(async () => {
    const form = new FormData();
    form.append("metadata", JSON.stringify(metadata()));
    form.append("publish", String(byId("publish").checked));
    if (byId("archive").files.length) form.append("archive", byId("archive").files[0]);
    show("Sending …", "");
    byId("outcome-title").focus();
    const submission = await ask("submissions", { method: "POST", body: form });
    await follow(submission.key);
  });
}

try {
  const theme = localStorage.getItem("isogloss-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing shows the colours of its system.
}
byId("form").addEventListener("submit", send);
byId("enter").addEventListener("click", () => attempt(showTeam));
attempt(async () => {
  const board = await ask("board");
  document.title = `Submit to ${board.title}`;
  byId("board").textContent = board.title;
  byId("about").textContent = `Suite ${board.suite}, scored by ${board.scorer}; ${board.systems} submitted system${board.systems === 1 ? "" : "s"}. A team may have ${board.monthly_submissions} submissions scored a month.`;
  fields = board.metadata_schema.properties;
  names = { tasks: board.task_titles, languages: board.language_names };
  for (const [name, schema] of Object.entries(fields)) {
    addField(name, schema, board.metadata_schema.required.includes(name));
  }
  await showQueue();
  setInterval(() => document.hidden || showQueue().catch(() => {}), 1000 * QUEUE_SECONDS);
});
