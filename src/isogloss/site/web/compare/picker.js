// A searchable list of systems: type to filter, choose by mouse, touch or keyboard.
import { countText, element, nameOf, patchChildren } from "../page/dom.js";

const MOST_OPTIONS = 60;

// The open list, its search text and its marked option: not part of the address.
/** @type {{ id: string, text: string, active: number } | null} */
let openPicker = null;

/** @param {System} system */
const pickerText = (system) => (system.regime ? `${system.name} · ${system.regime}` : system.name);

// The systems with all words of a text in their name, regime or kind; names that begin with the text come first.
/** @param {System[]} systems @param {string} text */
export function searchedSystems(systems, text) {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const found = systems.filter((system) => {
    const own = `${pickerText(system)} ${system.kind}`.toLowerCase();
    return words.every((word) => own.includes(word));
  });
  const starts = (/** @type {System} */ { name }) => name.toLowerCase().startsWith(wanted);
  return [...found.filter(starts), ...found.filter((system) => !starts(system))];
}

/**
 * @param {{ id: string, label: Child, name: string, systems: System[], chosen: System | null, choose: (system: System) => void }} options
 */
export function comparedPicker({ id, label, name, systems, chosen, choose }) {
  const start = chosen ? pickerText(chosen) : "";
  const list = element("ul", { id: `${id}-list`, class: "picker-list", role: "listbox", "aria-label": name });
  const input = /** @type {HTMLInputElement} */ (
    element("input", {
      id,
      type: "text",
      role: "combobox",
      "data-key": id,
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "Search systems…",
      "aria-autocomplete": "list",
      "aria-controls": `${id}-list`,
      value: openPicker?.id === id ? openPicker.text || start : start,
      ...pickerEvents({ id, systems, start, choose }),
    })
  );
  showOptions(input, list, { id, systems, start, choose });
  return element(
    "div",
    { class: "picker", "data-key": `${id}-picker` },
    element("label", { for: id }, label),
    input,
    list,
  );
}

/** @typedef {{ id: string, systems: System[], start: string, choose: (system: System) => void }} PickerOptions */

/** @param {PickerOptions} options */
const matchesOf = ({ systems }) => searchedSystems(systems, openPicker?.text ?? "");

/** @param {PickerOptions} options */
function pickerEvents(options) {
  const { id, start, choose } = options;
  /** @param {any} input @param {{ text?: string, active?: number } | null} state */
  const turn = (input, state) => {
    openPicker = state && { id, text: state.text ?? "", active: state.active ?? 0 };
    showOptions(input, input.parentNode.querySelector("[role=listbox]"), options);
  };
  /** @param {any} input */
  const close = (input) => {
    turn(input, null);
    input.value = start;
  };
  return {
    focus: (/** @type {any} */ { target }) => target.select(),
    click: (/** @type {any} */ { target }) => openPicker?.id !== id && turn(target, {}),
    input: (/** @type {any} */ { target }) => turn(target, { text: target.value }),
    blur: (/** @type {any} */ { target }) => close(target),
    keydown: (/** @type {any} */ event) => {
      const input = event.currentTarget;
      const isOpen = openPicker?.id === id;
      const step = { ArrowDown: 1, ArrowUp: -1 }[/** @type {string} */ (event.key)] ?? 0;
      const matches = isOpen ? matchesOf(options).slice(0, MOST_OPTIONS) : [];
      if (step) {
        event.preventDefault();
        const last = matches.length - 1;
        const next = isOpen ? Math.min(last, Math.max(0, (openPicker?.active ?? 0) + step)) : 0;
        turn(input, { text: openPicker?.text, active: next });
      } else if (event.key === "Enter" && isOpen) {
        event.preventDefault();
        const found = matches[openPicker?.active ?? 0];
        openPicker = null;
        if (found) choose(found);
        input.select();
      } else if (event.key === "Escape" && isOpen) close(input);
    },
  };
}

/** @param {any} input @param {any} list @param {PickerOptions} options */
function showOptions(input, list, options) {
  const { id, choose } = options;
  const isOpen = openPicker?.id === id;
  list.hidden = !isOpen;
  input.setAttribute("aria-expanded", String(isOpen));
  input.removeAttribute("aria-activedescendant");
  if (!isOpen) return patchChildren(list, []);
  const matches = matchesOf(options);
  const active = openPicker?.active ?? 0;
  if (matches.length) input.setAttribute("aria-activedescendant", `${id}-${active}`);
  const more = matches.length - MOST_OPTIONS;
  const note = !matches.length ? "No system matches" : more > 0 ? `${countText(more)} more: type to search` : "";
  patchChildren(list, [
    ...matches.slice(0, MOST_OPTIONS).map((system, at) =>
      element(
        "li",
        {
          id: `${id}-${at}`,
          role: "option",
          "aria-selected": String(at === active),
          // Before the field loses the focus, which closes the list.
          mousedown: (event) => event.preventDefault(),
          click: () => {
            openPicker = null;
            choose(system);
          },
        },
        nameOf(system.name),
        system.regime ? element("span", { class: "soft" }, " ", nameOf(system.regime)) : null,
      ),
    ),
    ...(note
      ? [element("li", { role: "option", class: "soft", "aria-disabled": "true", "aria-selected": "false" }, note)]
      : []),
  ]);
  list.querySelector("[aria-selected='true']")?.scrollIntoView({ block: "nearest" });
  return undefined;
}
