// The fields of the form: built from the metadata schema, checked when the reader leaves them, and marked if wrong.
import { CHOICES, GROUPS, LABELS } from "./submit_labels.js";
import { NOT_DISCLOSED } from "../board/describe.js";
import { byId, element } from "../page/dom.js";

const YES_OR_NO = /^(true|false|yes|no|none)$/i;

/** @param {any} schema @returns {any[]} */
const partsOf = (schema) => [schema, ...(schema.anyOf || [])];
/** @param {any} schema @returns {string[]} */
const typesOf = (schema) => partsOf(schema).flatMap((item) => item.type || []);
/** @param {any} schema @returns {boolean} */
const takesUnknown = (schema) => schema["x-takes"].includes(NOT_DISCLOSED) || schema.default === NOT_DISCLOSED;
/** @param {any} schema */
const isNumber = (schema) => typesOf(schema).some((type) => type === "number" || type === "integer");

/** @param {string} name @param {any} schema */
function inputOf(name, schema) {
  const types = typesOf(schema);
  const choices =
    schema.enum || (types.includes("boolean") && !types.includes("string") ? ["true", "false", NOT_DISCLOSED] : null);
  if (choices) {
    return element(
      "select",
      {},
      // Start empty: the first choice would be wrong for most submissions.
      takesUnknown(schema) ? null : element("option", { value: "" }, "select…"),
      choices.map((/** @type {string} */ choice) => element("option", { value: choice }, CHOICES[choice] ?? choice)),
    );
  }
  if (types.includes("array")) return element("textarea");
  const list = schema.examples ? `${name}-examples` : null;
  if (list)
    byId("form").append(
      element(
        "datalist",
        { id: list },
        schema.examples.map((/** @type {string} */ value) => element("option", { value })),
      ),
    );
  const autocomplete = name === "contact" ? "email" : null;
  return element("input", { autocomplete, inputmode: isNumber(schema) ? "decimal" : null, list });
}

// A set of fields with a heading, made when its first field is added.
/** @param {string} group @param {boolean} required */
function groupOf(group, required) {
  const id = `${required ? "needed" : "more"}-${group}`;
  const made = byId(id);
  if (made) return made;
  const own = element("div", { id, class: "fields" });
  const set = element("fieldset", {}, element("legend", {}, GROUPS[group] ?? "Other"), own);
  byId(required ? "fields" : "more-fields").append(set);
  return own;
}

/** @param {string} name @param {any} schema @param {boolean} required */
function addField(name, schema, required) {
  const [title, hint, group] = LABELS[name] ?? [schema.description, schema["x-takes"].replace(/^text$/, ""), "other"];
  const /** @type {any} */ input = inputOf(name, schema);
  input.id = `field-${name}`;
  input.name = name;
  input.required = required;
  if (takesUnknown(schema)) input.value = NOT_DISCLOSED;
  input.setAttribute("aria-describedby", `${hint ? `hint-${name} ` : ""}wrong-${name}`);
  const star = required ? element("span", { "aria-hidden": "true" }, " *") : null;
  groupOf(group, required).append(
    element(
      "div",
      { class: "field" },
      element("label", { for: input.id }, title, star),
      input,
      hint ? element("small", { id: `hint-${name}` }, hint) : null,
      element("small", { id: `wrong-${name}`, class: "wrong", hidden: true }),
    ),
  );
}

/** @type {Record<string, any>} */
let fields = {};
/** @type {string[]} */
let needed = [];

// Build the fields, required ones first, in the order of the groups.
/** @param {any} schema */
export function buildFields(schema) {
  fields = schema.properties;
  needed = schema.required;
  const order = Object.keys(LABELS);
  /** @param {string} name */
  const place = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
  for (const name of Object.keys(fields).sort((a, b) => place(a) - place(b)))
    addField(name, fields[name], needed.includes(name));
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
  if (types.includes("boolean") && YES_OR_NO.test(text)) return /^(true|yes)$/i.test(text);
  return text;
}

export const metadata = () =>
  Object.fromEntries(
    Object.keys(fields).map((name) => [name, typedValue(byId(`field-${name}`).value.trim(), typesOf(fields[name]))]),
  );

/** @param {string} pattern @param {string} text */
function fits(pattern, text) {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    // The server checks what this browser cannot.
    return true;
  }
}

/** @param {any} schema */
const expected = (schema) =>
  schema.examples
    ? `Choose one of the suggestions, such as ${schema.examples[0]}.`
    : `Enter ${schema["x-takes"].replace(/"([^"]*)"/g, "“$1”")}.`;

// What is wrong with a field, or "". The server checks everything again.
/** @param {string} name */
function faultOf(name) {
  if (name === "token") return byId("token").value.trim() ? "" : "Enter your team token.";
  if (name === "archive") return byId("archive").files.length ? "" : "Choose the archive with your predictions.";
  const schema = fields[name];
  const text = byId(`field-${name}`).value.trim();
  if (!text) {
    if (!needed.includes(name)) return "";
    return takesUnknown(schema) || name !== "name" ? `Fill this in, or write “${NOT_DISCLOSED}”.` : "Enter the name to show on the board.";
  }
  if (schema.enum || (takesUnknown(schema) && text === NOT_DISCLOSED)) return "";
  if (isNumber(schema)) return numberFault(schema, text, name);
  const wrong = typesOf(schema).includes("string") && partsOf(schema).every(({ pattern }) => pattern && !fits(pattern, text));
  return wrong || (schema.pattern && !fits(schema.pattern, text)) ? expected(schema) : "";
}

/** @param {any} schema @param {string} text @param {string} name */
function numberFault(schema, text, name) {
  const limits = partsOf(schema).find(({ type }) => type === "number" || type === "integer");
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  const { minimum = -Infinity, maximum = Infinity, exclusiveMaximum = Infinity } = limits;
  if (number >= exclusiveMaximum && name.startsWith("parameters")) return `This is in millions: write ${number / 1e6}.`;
  const isRight = number >= minimum && number <= maximum && number < exclusiveMaximum;
  return isRight && (limits.type === "number" || Number.isInteger(number)) ? "" : expected(schema);
}

// Show a field's error below it, or remove it.
/** @param {string} name @param {string} text */
export function markField(name, text) {
  const input = byId(inputId(name));
  const wrong = byId(`wrong-${name}`);
  input.setAttribute("aria-invalid", String(text !== ""));
  wrong.textContent = text;
  wrong.hidden = text === "";
}

/** @param {string} name */
const inputId = (name) => (name === "archive" || name === "token" ? name : `field-${name}`);

export const fieldNames = () => ["archive", ...[...byId("form").querySelectorAll("[name]")].map(({ name }) => name).filter((name) => name !== "archive")];

// The errors at the top of the form, each a link to its field; problems without a field are only listed. Takes the focus.
/** @param {[string, string][]} faults pairs of a field, or "", and a text @param {string} [title] */
export function showErrors(faults, title) {
  const box = byId("errors");
  box.hidden = faults.length === 0;
  byId("errors-title").textContent = title ?? (faults.length === 1 ? "One thing is missing or wrong" : `${faults.length} things are missing or wrong`);
  byId("errors-list").replaceChildren(
    ...faults.map(([name, text]) => element("li", {}, name ? faultLink(name, text) : text)),
  );
  if (!faults.length) return;
  for (const [name] of faults) if (name && byId("more").contains(byId(inputId(name)))) byId("more").open = true;
  box.focus();
}

/** @param {string} name */
const titleOf = (name) => ({ archive: "Archive", token: "Team token" })[name] ?? LABELS[name]?.[0] ?? name;

/** @param {string} name @param {string} text */
const faultLink = (name, text) => {
  const click = (/** @type {Event} */ event) => {
    event.preventDefault();
    openTo(name);
  };
  return element("a", { href: `#${inputId(name)}`, click }, `${titleOf(name)}: ${text}`);
};

/** @param {string} name */
function openTo(name) {
  const input = byId(inputId(name));
  if (byId("more").contains(input)) byId("more").open = true;
  input.focus();
  input.scrollIntoView({ block: "center" });
}

// Check a field when the reader leaves it, and again while it is being corrected.
export function checkOnLeaving() {
  const form = byId("form");
  const left = (/** @type {any} */ { target }) => target.name && markField(target.name, faultOf(target.name));
  form.addEventListener("focusout", left);
  for (const type of ["input", "change"])
    form.addEventListener(type, (/** @type {any} */ { target }) => {
      if (target.name && target.getAttribute("aria-invalid") === "true") markField(target.name, faultOf(target.name));
    });
}

// Check all fields, mark and list what is wrong; true if nothing is.
export function checkForm() {
  /** @type {[string, string][]} */
  const faults = ["token", ...fieldNames()].map((name) => [name, faultOf(name)]);
  for (const [name, text] of faults) markField(name, text);
  showErrors(faults.filter(([, text]) => text));
  return faults.every(([, text]) => !text);
}
