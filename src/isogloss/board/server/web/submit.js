// The submission form: send a submission, follow its progress and publish it. All text is set as text.
"use strict";

const API = "api/v1/";
const UNKNOWN = "not disclosed";
const WAITING = ["received", "validating", "scoring"];
const MOST_MISSING = 6;
const QUEUE_ROWS = 20;
const QUEUE_SECONDS = 15;
/** @type {Record<string, any>} */
let fields = {};
/** @type {{ tasks: Record<string, string>, languages: Record<string, string> }} */
let names = { tasks: {}, languages: {} };
const byId = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

/** @param {string} name @param {any} [text] @param {any} [parent] @returns {any} */
function element(name, text, parent) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
async function request(path, options = {}) {
  const token = byId("token").value.trim();
  const headers = new Headers(token ? { Authorization: `Bearer ${token}` } : {});
  const response = await fetch(API + path, { ...options, headers, credentials: "omit", cache: "no-store" });
  const body = await response.json();
  if (!response.ok) throw Object.assign(new Error(body.what || `the server returned ${response.status}`), body);
  return body;
}

/** @param {any} schema @returns {string[]} */
const typesOf = (schema) => [schema, ...(schema.anyOf || [])].flatMap((/** @type {any} */ item) => item.type || []);
/** @param {any} schema @returns {boolean} */
const takesUnknown = (schema) => schema["x-takes"].includes(UNKNOWN) || schema.default === UNKNOWN;

/** @param {string} name @param {any} schema */
function inputOf(name, schema) {
  const types = typesOf(schema);
  const choices =
    schema.enum || (types.includes("boolean") && !types.includes("string") ? ["true", "false", UNKNOWN] : null);
  if (choices) {
    const select = element("select");
    // Start empty: the first choice would be wrong for most submissions.
    if (!takesUnknown(schema)) element("option", "select…", select).value = "";
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

/** @param {string} name @param {any} schema @param {boolean} required */
function addField(name, schema, required) {
  const label = element("label", name.replaceAll("_", " "), byId(required ? "fields" : "more-fields"));
  const input = inputOf(name, schema);
  input.name = name;
  input.required = required;
  if (takesUnknown(schema)) input.value = UNKNOWN;
  label.append(input);
  /** @type {Record<string, string>} */
  const hints = { TEXTAREA: "one per line", SELECT: "" };
  const takes = hints[input.tagName] ?? schema["x-takes"].replace(/^text$/, "");
  element("small", takes ? `${schema.description}: ${takes}` : schema.description, label);
}

// Convert input to the field's type; text that does not fit is sent unchanged, and the server reports the error.
/** @param {string} text @param {string[]} types */
function typedValue(text, types) {
  if (types.includes("array"))
    return text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  if ((types.includes("integer") || types.includes("number")) && /^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (types.includes("boolean") && /^(true|false)$/.test(text)) return text === "true";
  return text;
}

function metadata() {
  /** @type {Record<string, any>} */
  const values = {};
  for (const input of byId("form").querySelectorAll("label > [name]:not([type=file])")) {
    values[input.name] = typedValue(input.value.trim(), typesOf(fields[input.name]));
  }
  return values;
}

// Turn a problem of a metadata field ("is blank") into a sentence.
/** @param {any} problem @returns {string} */
const fieldText = ({ where, what }) => (where.startsWith("metadata.") ? `This ${what}.` : what);

// Show problems next to their fields.
/** @param {any[]} problems */
function markFields(problems) {
  for (const input of byId("form").querySelectorAll("[name]")) {
    const own = problems.filter(({ warning, where }) => !warning && where.replace("metadata.", "") === input.name);
    input.parentElement.querySelector(".wrong")?.remove();
    input.setAttribute("aria-invalid", String(own.length > 0));
    if (!own.length) continue;
    element("small", own.map(fieldText).join(" "), input.parentElement).className = "wrong";
    if (byId("more").contains(input)) byId("more").open = true;
  }
}

/** @param {string} title @param {string} text @param {any[]} [problems] @param {boolean} [bad] */
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

/** @param {string} state */
function showSteps(state) {
  const scored = [...WAITING, "preview", "published"];
  /** @type {Record<string, string[]>} */
  const others = { rejected: ["received", "validating", "rejected"], withdrawn: [...scored, "withdrawn"], deleted: ["deleted"] };
  const steps = others[state] || scored;
  byId("steps").hidden = false;
  byId("steps").replaceChildren();
  steps.forEach((step, index) => {
    const item = element("li", step, byId("steps"));
    if (index < steps.indexOf(state)) item.className = "done";
    if (step === state) item.setAttribute("aria-current", "step");
  });
}

const scoreText = (/** @type {number | null | undefined} */ value) =>
  value === null || value === undefined ? "–" : value.toFixed(1);

const languageName = (/** @type {string} */ code) => names.languages[code] ?? code;

// A task's title up to its colon, or all of it if several start alike.
/** @param {string} id */
function taskName(id) {
  const title = names.tasks[id] ?? id;
  const beginning = (/** @type {string} */ text) => text.split(":")[0];
  const alike = Object.values(names.tasks).filter((other) => beginning(other) === beginning(title));
  return alike.length > 1 ? title : beginning(title);
}

// Name a task or a cell such as `xnli/sw`.
/** @param {string} cell */
function cellName(cell) {
  const [, task, code] = /^(.*)\/([^/]*)$/.exec(cell) ?? [];
  return code ? `${taskName(task)} in ${languageName(code)}` : taskName(cell);
}

// The averages of a submission: name, value per scorer version, and the missing cells of the newest.
/** @param {any[]} versions @returns {[string, (number | null)[], string[]][]} */
function averageRows(versions) {
  const { missing, incomplete, categories, tasks } = versions.at(-1);
  /**
   * @param {string} level
   * @param {string} id
   * @param {string} name
   * @param {(cell: string) => string} nameOf
   * @returns {[string, (number | null)[], string[]]}
   */
  const row = (level, id, name, nameOf) => [
    name,
    versions.map((version) => version[level][id]),
    (incomplete[id] || []).map(nameOf),
  ];
  return [
    ["overall", versions.map(({ overall }) => overall), missing.map(cellName)],
    ...Object.keys(categories).map((id) => row("categories", id, id, cellName)),
    ...Object.keys(tasks).map((id) => row("tasks", id, taskName(id), languageName)),
  ];
}

// One row per average, one column per scorer version.
/** @param {any} submission */
function showScores({ scores: versions }) {
  const table = byId("scores");
  table.hidden = !versions.length;
  if (!versions.length) return;
  const head = element("tr");
  for (const text of ["Average", ...versions.map((/** @type {any} */ { scorer }) => scorer), "Missing"])
    element("th", text, head).scope = "col";
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren();
  for (const [name, values, missing] of averageRows(versions)) {
    const row = element("tr", undefined, table.tBodies[0]);
    element("th", name, row).scope = "row";
    for (const value of values) element("td", scoreText(value), row).className = "number";
    const more = missing.length > MOST_MISSING ? ` and ${missing.length - MOST_MISSING} more` : "";
    element("td", missing.slice(0, MOST_MISSING).join(", ") + more, row);
  }
}

/** @param {any} submission */
function showSubmission(submission) {
  /** @type {Record<string, string>} */
  const states = {
    preview: "Scored and visible only to your team. Publish it when you are satisfied; then the languages are shown, too.",
    published: "Published on the board.",
    rejected: "Not scored and not counted. Fix the problems below and submit again.",
    withdrawn: "No longer on the board.",
    deleted: "Deleted by the board's administrator.",
  };
  const text =
    states[submission.state] ||
    `Position ${submission.queue_position ?? "–"} in the queue. This page updates automatically.`;
  show(`${submission.system.name}: ${submission.state}`, text, submission.problems, submission.state === "rejected");
  showSteps(submission.state);
  showScores(submission);
}

/** @param {string} key */
async function follow(key) {
  let pause = 500;
  for (;;) {
    const submission = await request(`submissions/${key}`);
    showSubmission(submission);
    await Promise.all([showTeam(), showQueue()]);
    if (!WAITING.includes(submission.state)) return;
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(5000, pause * 1.5);
  }
}

/** @param {string} key @param {string} action */
async function act(key, action) {
  await attempt(async () => {
    showSubmission(await request(`submissions/${key}/${action}`, { method: "POST" }));
    await showTeam();
  });
}

/** @type {Record<string, string[]>} */
const ACTIONS = { preview: ["publish", "withdraw"], published: ["withdraw"], withdrawn: ["publish"] };

async function showTeam() {
  const [team, sent] = await Promise.all([request("team"), request("submissions")]);
  byId("team").textContent =
    `${team.team}: ${team.left} of ${team.monthly_submissions} submissions left in ${team.month}; ` +
    `${team.used_in_year} of ${team.yearly_submissions} submissions and ${team.published_in_year} of ` +
    `${team.yearly_publications} publications used in 365 days; ${team.scored_in_all} scored in total`;
  byId("submissions").hidden = false;
  const body = byId("submissions").tBodies[0];
  body.replaceChildren();
  for (const submission of sent.submissions) {
    const row = element("tr", undefined, body);
    for (const text of [submission.system.name, submission.state]) element("td", text, row);
    const cell = element("td", undefined, row);
    for (const action of ACTIONS[submission.state] || [])
      element("button", action, cell).addEventListener("click", () => act(submission.key, action));
    element("button", "show", cell).addEventListener("click", () => attempt(() => follow(submission.key)));
    for (const text of [submission.created_at, submission.key]) element("td", text, row);
  }
}

async function showQueue() {
  const queue = await request("queue");
  byId("queue").textContent = `${queue.waiting} waiting, ${queue.running} being scored`;
  byId("waiting").hidden = !queue.entries.length;
  const body = byId("waiting").tBodies[0];
  body.replaceChildren();
  for (const entry of queue.entries.slice(0, QUEUE_ROWS)) {
    const row = element("tr", undefined, body);
    for (const text of [entry.position, entry.state, entry.since]) element("td", text, row);
  }
}

/** @param {() => Promise<void>} work */
async function attempt(work) {
  try {
    await work();
  } catch (caught) {
    const error = /** @type {any} */ (caught);
    show(error.message, error.fix || "", error.problems, true);
  }
}

/** @param {Event} event */
async function send(event) {
  event.preventDefault();
  await attempt(async () => {
    const form = new FormData();
    form.append("metadata", JSON.stringify(metadata()));
    form.append("publish", String(byId("publish").checked));
    if (byId("archive").files.length) form.append("archive", byId("archive").files[0]);
    show("Sending…", "");
    byId("outcome-title").focus();
    const submission = await request("submissions", { method: "POST", body: form });
    await follow(submission.key);
  });
}

try {
  const theme = localStorage.getItem("isogloss-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the page follows the system's theme.
}
byId("form").addEventListener("submit", send);
byId("enter").addEventListener("click", () => attempt(showTeam));
attempt(async () => {
  const board = await request("board");
  document.title = `Submit to ${board.title}`;
  byId("board").textContent = board.title;
  byId("about").textContent =
    `Suite ${board.suite}, scored by ${board.scorer}; ${board.systems} submitted system${board.systems === 1 ? "" : "s"}. ${board.closed ? "The board is closed." : `Each team can have ${board.monthly_submissions} submissions scored per month and ${board.yearly_submissions} per year.`}`;
  fields = board.metadata_schema.properties;
  names = { tasks: board.task_titles, languages: board.language_names };
  for (const [name, schema] of Object.entries(fields)) {
    addField(name, schema, board.metadata_schema.required.includes(name));
  }
  await showQueue();
  setInterval(() => document.hidden || showQueue().catch(() => {}), 1000 * QUEUE_SECONDS);
});
