// @ts-check
import { byId, element } from "../page/dom.js";
import { decodedPart } from "../page/state.js";

/**
 * Fill a list of options and choose the first wanted value that it offers.
 * @param {HTMLSelectElement} select
 * @param {[string, string][]} options values and texts
 * @param {(string | undefined)[]} wanted
 * @param {(values: string[]) => string | undefined} start the choice without a wanted value
 * @returns {string}
 */
export function offer(select, options, wanted, start) {
  const values = options.map(([value]) => value);
  const value = wanted.find((one) => one !== undefined && values.includes(one)) ?? start(values) ?? "";
  select.replaceChildren(...options.map(([one, text]) => element("option", { value: one }, text)));
  select.value = value;
  return value;
}

/**
 * Connect a section's lists with the address, for example `#explain/xnli/sw`.
 * @param {string} section
 * @param {string[]} keys
 * @param {string} prefix of the ids of the lists
 * @param {{ chosen: Record<string, string>, choose: (wanted: Record<string, string>) => void }} shown
 */
export function followChoices(section, keys, prefix, shown) {
  const follow = () => {
    const [name, ...path] = location.hash.slice(1).split("/");
    if (name !== section || !path.length) return;
    shown.choose(Object.fromEntries(path.map((word, at) => [keys[at], decodedPart(word)])));
    byId(section).scrollIntoView();
  };
  for (const key of keys)
    byId(`${prefix}${key}`).addEventListener("change", (/** @type {any} */ event) =>
      shown.choose({ ...shown.chosen, [key]: event.target.value }),
    );
  addEventListener("hashchange", follow);
  shown.choose({});
  follow();
}
