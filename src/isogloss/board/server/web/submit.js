// The form of a board: sends a submission, follows it, and lets its team publish it. All text is set as text.
"use strict";

const API = "api/v1/";
const UNKNOWN = "not disclosed";
const WAITING = ["received", "validating", "scoring"];
let fields = {};
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
    for (const choice of choices) element("option", choice, select).value = choice;
    return select;
  }
  if (types.includes("array")) return element("textarea");
  const input = element("input");
  if (schema.examples) {
    const list = element("datalist", undefined, byId("fields"));
    list.id = `${name}-examples`;
    for (const example of schema.examples) element("option", undefined, list).value = example;
    input.setAttribute("list", list.id);
  }
  return input;
}

function addField(name, schema, required) {
  const label = element("label", name.replaceAll("_", " "), byId("fields"));
  const input = inputOf(name, schema);
  input.name = name;
  input.required = required;
  if (takesUnknown(schema)) input.value = UNKNOWN;
  label.append(input);
  const takes = input.tagName === "TEXTAREA" ? "one a line" : input.tagName === "SELECT" ? "" : schema["x-takes"];
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
  for (const input of byId("fields").querySelectorAll("[name]")) {
    found[input.name] = valueOf(input.value.trim(), typesOf(fields[input.name]));
  }
  return found;
}

function show(title, text, problems = [], bad = false) {
  byId("outcome").hidden = false;
  byId("outcome-title").textContent = title;
  byId("outcome-title").className = bad ? "error" : "fine";
  byId("outcome-text").textContent = text;
  byId("problems").replaceChildren();
  for (const problem of problems) {
    const kind = problem.warning ? "Warning" : "Error";
    element("li", `${kind}: ${problem.where}: ${problem.what}. ${problem.fix}`, byId("problems"));
  }
}

function showScores(submission) {
  const scores = submission.scores.at(-1);
  byId("scores").hidden = !scores;
  const body = byId("scores").tBodies[0];
  body.replaceChildren();
  for (const [task, score] of Object.entries(scores ? scores.tasks : {})) {
    const row = element("tr", undefined, body);
    element("td", task, row);
    element("td", score.toFixed(1), row);
  }
}

function showSubmission(submission) {
  const states = {
    preview: "Scored: only your team sees it. Publish it when you are content.",
    published: "It is on the board.",
    rejected: "It was not scored, and does not count.",
    withdrawn: "It is no longer on the board.",
  };
  const text = states[submission.state] || "It is in the queue; this page follows it.";
  show(`${submission.system.name}: ${submission.state}`, text, submission.problems, submission.state === "rejected");
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
    for (const text of [submission.key, submission.system.name, submission.state, submission.created_at]) element("td", text, row);
    const cell = element("td", undefined, row);
    const actions = { preview: ["publish", "withdraw"], published: ["withdraw"], withdrawn: ["publish"] }[submission.state] || [];
    for (const action of actions) element("button", action, cell).addEventListener("click", () => act(submission.key, action));
    element("button", "show", cell).addEventListener("click", () => attempt(() => follow(submission.key)));
  }
}

async function showQueue() {
  const queue = await ask("queue");
  byId("queue").textContent = `${queue.waiting} waiting, ${queue.running} being scored`;
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
    form.append("archive", byId("archive").files[0]);
    show("Sending …", "");
    const submission = await ask("submissions", { method: "POST", body: form });
    await follow(submission.key);
  });
}

byId("form").addEventListener("submit", send);
byId("enter").addEventListener("click", () => attempt(showTeam));
attempt(async () => {
  const board = await ask("board");
  document.title = `Submit to ${board.title}`;
  byId("board").textContent = `${board.title}: suite ${board.suite}, scored by ${board.scorer}, ${board.systems} system${board.systems === 1 ? "" : "s"}`;
  fields = board.metadata_schema.properties;
  for (const [name, schema] of Object.entries(fields)) {
    addField(name, schema, board.metadata_schema.required.includes(name));
  }
  await showQueue();
});
