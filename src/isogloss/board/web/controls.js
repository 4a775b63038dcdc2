import { element } from "./dom.js";
import { changeParams } from "./state.js";

const MOST_WITHOUT_SEARCH = 12;

// Controls that show and change one parameter of the address; `sync(params)` follows "back" and "forward".
export function selectControl(key, label, options, { start = "" } = {}) {
  const select = element(
    "select",
    { change: () => changeParams({ [key]: select.value === start ? null : select.value, page: null }) },
    options.map(([value, text]) => element("option", { value }, text)),
  );
  return {
    node: element("label", { class: "control" }, element("span", {}, label), select),
    sync: (params) => {
      select.value = params.get(key) ?? start;
    },
  };
}

// A list that is drawn anew with its page: which of its options is chosen is known when it is made.
export const drawnSelect = (key, label, options, chosen) =>
  element(
    "label",
    { class: "control" },
    element("span", {}, label),
    element(
      "select",
      { change: (event) => changeParams({ [key]: event.target.value }) },
      options.map(([value, text]) => element("option", { value, selected: value === chosen }, text)),
    ),
  );

// The values that some things have under a key, and the one of them that the address names, or the first.
export function chosenOf(params, key, among) {
  const values = [...new Set(among.map((each) => each[key]))];
  return { values, chosen: values.includes(params.get(key)) ? params.get(key) : values[0] };
}

// A list of them, drawn anew with its page.
export const chosenSelect = (key, label, { values, chosen }, text = (value) => value) =>
  drawnSelect(
    key,
    label,
    values.map((value) => [value, text(value)]),
    chosen,
  );

export function boxControl(key, label) {
  const box = element("input", {
    type: "checkbox",
    change: () => changeParams({ [key]: box.checked ? "1" : null, page: null }),
  });
  return {
    node: element("label", { class: "box" }, box, label),
    sync: (params) => {
      box.checked = params.has(key);
    },
  };
}

export function textControl(key, label, placeholder) {
  const input = element("input", {
    type: "search",
    placeholder,
    autocomplete: "off",
    input: () => changeParams({ [key]: input.value.trim() ? input.value : null, page: null }, { replace: true }),
  });
  return {
    node: element("label", { class: "control" }, element("span", {}, label), input),
    sync: (params) => {
      if (input.value !== (params.get(key) ?? "")) input.value = params.get(key) ?? "";
    },
  };
}

export function numberControl(key, label) {
  const input = element("input", {
    type: "number",
    min: "0",
    step: "any",
    inputmode: "decimal",
    input: () => changeParams({ [key]: input.value || null, page: null }, { replace: true }),
  });
  return {
    node: element("label", { class: "control" }, element("span", {}, label), input),
    sync: (params) => {
      if (input.value !== (params.get(key) ?? "")) input.value = params.get(key) ?? "";
    },
  };
}

// Any number of values: a list of boxes that opens below its label.
export function manyControl(key, label, options, { none = "all" } = {}) {
  const boxes = options.map(([value]) =>
    element("input", {
      type: "checkbox",
      value,
      change: () => changeParams({ [key]: boxes.filter((each) => each.checked).map((each) => each.value), page: null }),
    }),
  );
  const labels = options.map(([, text], at) => element("label", { class: "box" }, boxes[at], text));
  const says = element("span", { class: "says" });
  const list = element(
    "fieldset",
    { class: "choices" },
    element("legend", { class: "sr" }, label),
    labels.length > MOST_WITHOUT_SEARCH ? labelSearch(label, labels) : null,
    element("div", { class: "options" }, labels),
  );
  const node = element("details", { class: "many" }, element("summary", {}, element("span", {}, label), says), list);
  node.addEventListener("toggle", () => closeOthers(node));
  const sync = (params) => {
    const chosen = new Set(params.getAll(key));
    for (const box of boxes) box.checked = chosen.has(box.value);
    const texts = options.filter(([value]) => chosen.has(value)).map(([, text]) => text.replace(/ \(\d+\)$/, ""));
    says.textContent = !texts.length ? none : texts.length === 1 ? texts[0] : `${texts.length} chosen`;
    node.classList.toggle("active", texts.length > 0);
  };
  return { node, sync };
}

function labelSearch(title, labels) {
  const seek = element("input", {
    type: "search",
    placeholder: "find…",
    "aria-label": `find in ${title}`,
    input: () => {
      for (const label of labels) label.hidden = !label.textContent.toLowerCase().includes(seek.value.toLowerCase());
    },
  });
  return seek;
}

// One list is open at a time.
function closeOthers(opened) {
  if (!opened.open) return;
  document.querySelectorAll("details.many[open]").forEach((other) => {
    if (other !== opened) other.open = false;
  });
}

// A click outside or the escape key closes an open list.
export function closeLists() {
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" ? document.querySelector("details.many[open]") : null;
    if (!open) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    document.querySelectorAll("details.many[open]").forEach((list) => {
      if (!list.contains(event.target)) list.open = false;
    });
  });
}

export function sliderControl(label, read, write, { most = 5 } = {}) {
  const says = element("output", {});
  const input = element("input", {
    type: "range",
    min: "0",
    max: String(most),
    step: "0.5",
    input: () => write(Number(input.value)),
  });
  return {
    node: element("label", { class: "slider" }, element("span", {}, label), input, says),
    sync: (params) => {
      input.value = String(read(params));
      says.textContent = `× ${read(params)}`;
    },
  };
}
