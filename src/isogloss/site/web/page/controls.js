import { element } from "./dom.js";
import { changeParams } from "./state.js";

const MOST_WITHOUT_SEARCH = 12;

// Controls show and change one parameter of the address; a change goes back to the first page of a table.
/** @param {string} key @param {any} value @param {{ replace?: boolean }} [options] */
const set = (key, value, options = {}) => changeParams({ [key]: value, page: null }, options);

/** @param {string} label @param {Node} input */
const labelled = (label, input) => element("label", { class: "control" }, element("span", {}, label), input);

// A list of `[value, text]` options. Choosing `start` removes the parameter.
/**
 * @param {string} key
 * @param {string} label
 * @param {Option[]} options
 * @param {Maybe<string>} chosen
 * @param {string | null} [start]
 */
export const selectControl = (key, label, options, chosen, start = null) =>
  labelled(
    label,
    element(
      "select",
      { change: (event) => set(key, event.target.value === start ? null : event.target.value) },
      options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
    ),
  );

// Collect the values of a key, and choose the one in the address or the first.
/** @param {URLSearchParams} params @param {string} key @param {any[]} items @returns {Chosen} */
export function chosenOf(params, key, items) {
  const values = [...new Set(items.map((item) => item[key]))];
  return { values, chosen: values.includes(params.get(key)) ? params.get(key) : values[0] };
}

/** @param {string} key @param {string} label @param {Chosen} options2 @param {(value: any) => string} [text] */
export const chosenSelect = (key, label, { values, chosen }, text = (value) => value) =>
  selectControl(
    key,
    label,
    values.map((value) => [value, text(value)]),
    chosen,
  );

/** @param {URLSearchParams} params @param {string} key @param {string} label @param {Attributes} attributes */
const typedControl = (params, key, label, attributes) =>
  labelled(
    label,
    element("input", {
      ...attributes,
      value: params.get(key) ?? "",
      input: ({ target }) => set(key, target.value.trim() ? target.value : null, { replace: true }),
    }),
  );

/** @param {URLSearchParams} params @param {string} key @param {string} label @param {string} placeholder */
export const textControl = (params, key, label, placeholder) =>
  typedControl(params, key, label, { type: "search", placeholder, autocomplete: "off" });

/** @param {URLSearchParams} params @param {string} key @param {string} label */
export const numberControl = (params, key, label) =>
  typedControl(params, key, label, { type: "number", min: "0", step: "any", inputmode: "decimal" });

// Search texts of open lists, by parameter: not part of the address.
/** @type {Map<string, string>} */
const searches = new Map();

// Any number of values: a list of boxes below a label.
/**
 * @param {URLSearchParams} params
 * @param {string} key
 * @param {string} label
 * @param {Option[]} options
 * @param {string} [none]
 */
export function manyControl(params, key, label, options, none = "all") {
  const chosen = new Set(params.getAll(key));
  const texts = options.filter(([value]) => chosen.has(value)).map(([, text]) => text.replace(/ \(\d+\)$/, ""));
  /** @param {Option} options */
  const box = ([value, text]) => {
    const input = element("input", {
      type: "checkbox",
      value,
      checked: chosen.has(value),
      change: ({ target }) =>
        set(key, target.checked ? [...chosen, value] : [...chosen].filter((other) => other !== value)),
    });
    return element("label", { class: "box", hidden: !fitsSearch(text, key) }, input, text);
  };
  const list = element(
    "fieldset",
    { class: "choices" },
    element("legend", { class: "sr" }, label),
    options.length > MOST_WITHOUT_SEARCH ? labelSearch(key, label) : null,
    element("div", { class: "options" }, options.map(box)),
  );
  const summary = texts.length > 1 ? `${texts.length} selected` : (texts[0] ?? none);
  return element(
    "details",
    { class: texts.length ? "many active" : "many", "data-key": `many-${key}`, toggle: closeOthers },
    element("summary", {}, element("span", {}, label), element("span", { class: "says" }, summary)),
    list,
  );
}

/** @param {string} text @param {string} key */
const fitsSearch = (text, key) => text.toLowerCase().includes((searches.get(key) ?? "").toLowerCase());

/** @param {string} key @param {string} title */
const labelSearch = (key, title) =>
  element("input", {
    type: "search",
    placeholder: "find…",
    "aria-label": `find in ${title}`,
    input: ({ target }) => {
      searches.set(key, target.value);
      for (const label of target.parentNode.querySelectorAll("label"))
        label.hidden = !fitsSearch(label.textContent, key);
    },
  });

// Keep one list open at a time.
/** @param {any} options */
function closeOthers({ target: opened }) {
  if (!opened.open) return;
  for (const other of document.querySelectorAll("details.many[open]")) if (other !== opened) other.open = false;
}

// Close an open list on Escape or a click outside.
export function closeLists() {
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" ? document.querySelector("details.many[open]") : null;
    if (!open) return;
    open.open = false;
    open.querySelector("summary")?.focus();
  });
  document.addEventListener("click", (event) => {
    for (const list of document.querySelectorAll("details.many[open]"))
      if (!list.contains(/** @type {Node} */ (event.target))) list.open = false;
  });
}

/** @param {string} label @param {number} value @param {(value: number) => void} write @param {number} most */
export const sliderControl = (label, value, write, most) =>
  element(
    "label",
    { class: "slider" },
    element("span", {}, label),
    element("input", {
      type: "range",
      min: "0",
      max: String(most),
      step: "0.5",
      value: String(value),
      input: (event) => write(Number(event.target.value)),
    }),
    element("output", {}, `× ${value}`),
  );
