// The submission form: send a submission, follow its progress and publish it.
import { byId, countText, element, plural } from "./page/dom.js";
import { foldMenu } from "./page/menu.js";
import { themeSwitch } from "./page/theme.js";
import { request, upload } from "./submit/submit_api.js";
import { buildFields, checkOnLeaving, checkForm, fieldNames, markField, metadata, showErrors } from "./submit/submit_fields.js";
import { setNames, showScores } from "./submit/submit_scores.js";

const WAITING = ["received", "validating", "scoring"];
const QUEUE_ROWS = 20;
const QUEUE_SECONDS = 15;
const MEGABYTE = 1e6;

// "2026-11-16 10:05 UTC".
/** @param {string} time */
const timeText = (time) => time.replace(/^(.{10})T(.{5}).*Z$/, "$1 $2 UTC");

/** @param {string} title @param {string} text @param {any[]} [problems] @param {boolean} [bad] */
function show(title, text, problems = [], bad = false) {
  byId("outcome").hidden = false;
  byId("outcome-title").textContent = title;
  byId("outcome-title").className = bad ? "error" : "";
  byId("outcome-text").textContent = text;
  byId("upload").hidden = true;
  byId("steps").hidden = true;
  byId("scores").hidden = true;
  byId("problems").replaceChildren(
    ...problems.map(({ warning, where, what, fix }) =>
      element("li", {}, element("b", {}, `${warning ? "Warning" : "Error"}: ${where}`), `: ${what}. ${fix}`),
    ),
  );
}

/** @param {string} state */
function showSteps(state) {
  const scored = [...WAITING, "preview", "published"];
  /** @type {Record<string, string[]>} */
  const others = { rejected: ["received", "validating", "rejected"], withdrawn: [...scored, "withdrawn"], deleted: ["deleted"] };
  const steps = others[state] || scored;
  byId("steps").hidden = false;
  byId("steps").replaceChildren(
    ...steps.map((step, index) =>
      element(
        "li",
        { class: index < steps.indexOf(state) ? "done" : null, "aria-current": step === state ? "step" : null },
        step,
      ),
    ),
  );
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
    `${team.team}: ${countText(team.left)} of ${plural(team.monthly_submissions, "submission")} left in ${team.month}; ` +
    `${countText(team.used_in_year)} of ${plural(team.yearly_submissions, "submission")} and ` +
    `${countText(team.published_in_year)} of ${plural(team.yearly_publications, "publication")} used in 365 days; ` +
    `${countText(team.scored_in_all)} scored in total`;
  byId("submissions").hidden = false;
  byId("submissions").tBodies[0].replaceChildren(...sent.submissions.map(submissionRow));
}

/** @param {any} submission */
const submissionRow = ({ key, state, system, created_at: sent }) =>
  rowOf([
    system.name,
    state,
    [
      (ACTIONS[state] ?? []).map((action) => element("button", { click: () => act(key, action) }, action)),
      element("button", { click: () => attempt(() => follow(key)) }, "show"),
    ],
    timeText(sent),
    key,
  ]);

/** @param {Child[]} cells */
const rowOf = (cells) =>
  element(
    "tr",
    {},
    cells.map((cell) => element("td", {}, cell)),
  );

async function showQueue() {
  const queue = await request("queue");
  byId("queue").textContent = `${queue.waiting} waiting, ${queue.running} being scored`;
  byId("waiting").hidden = !queue.entries.length;
  const entries = queue.entries.slice(0, QUEUE_ROWS);
  byId("waiting").tBodies[0].replaceChildren(
    ...entries.map((/** @type {any} */ { position, state, since }) => rowOf([position, state, timeText(since)])),
  );
}

/** @param {string} text */
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

// A problem of a field as a sentence below it ("is blank"), others with their place.
/** @param {any} problem @returns {[string, string]} */
function faultFrom({ where, what, fix }) {
  const name = where.replace("metadata.", "");
  const isField = fieldNames().includes(name);
  const text = where.startsWith("metadata.") ? `This ${what}.` : sentence(what);
  return isField ? [name, text] : ["", `${where}: ${what}. ${fix}`];
}

// Show why a request failed next to what it concerns: the token, fields of the form, or nothing in particular.
/** @param {any} error */
function showFailure(error) {
  byId("outcome").hidden = true;
  const problems = (error.problems ?? []).filter((/** @type {any} */ { warning }) => !warning);
  const text = [sentence(error.message), error.fix ? sentence(error.fix) : ""].filter(Boolean).join(" ");
  /** @type {[string, string][]} */
  const faults = problems.length
    ? problems.map(faultFrom)
    : [[error.status === 401 || error.status === 403 ? "token" : "", text]];
  for (const [name, own] of faults) if (name) markField(name, own);
  showErrors(faults);
}

/** @param {() => Promise<void>} work */
async function attempt(work) {
  try {
    await work();
  } catch (caught) {
    showFailure(caught);
  }
}

// Show that the archive is being sent, and how much of it.
/** @param {number} sent @param {number} total */
function showUpload(sent, total) {
  const bar = byId("upload");
  bar.hidden = false;
  bar.value = total ? sent / total : 0;
  const text = total > MEGABYTE ? `${(sent / MEGABYTE).toFixed(1)} of ${(total / MEGABYTE).toFixed(1)} MB` : "";
  byId("outcome-text").textContent = sent < total ? text : "Sent; waiting for the server.";
}

let isSending = false;

/** @param {Event} event */
async function send(event) {
  event.preventDefault();
  markField("token", "");
  if (isSending || !checkForm()) return;
  isSending = true;
  await attempt(async () => {
    const form = new FormData();
    form.append("metadata", JSON.stringify(metadata()));
    form.append("publish", String(byId("publish").checked));
    form.append("archive", byId("archive").files[0]);
    show("Sending…", "");
    showUpload(0, 1);
    byId("outcome-title").focus();
    const submission = await upload("submissions", form, showUpload);
    isSending = false;
    await follow(submission.key);
  });
  isSending = false;
}

themeSwitch(byId("theme"));
foldMenu(byId("menu-button"), byId("menu"));
checkOnLeaving();
byId("form").addEventListener("submit", send);
byId("enter").addEventListener("click", () => {
  markField("token", "");
  showErrors([]);
  attempt(showTeam);
});
attempt(async () => {
  const board = await request("board");
  document.title = `Submit to ${board.title}`;
  byId("suite").textContent = board.title;
  byId("about").textContent =
    `Suite ${board.suite}, scored by ${board.scorer}; ${plural(board.systems, "submitted system")}. ${board.closed ? "The board is closed." : `Each team can have ${plural(board.monthly_submissions, "submission")} scored per month and ${countText(board.yearly_submissions)} per year.`}`;
  setNames({ tasks: board.task_titles, languages: board.language_names });
  buildFields(board.metadata_schema);
  await showQueue();
  setInterval(() => document.hidden || showQueue().catch(() => {}), 1000 * QUEUE_SECONDS);
});
