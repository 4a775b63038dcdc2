// The rows of the forest plots: averages and tasks with their languages, and languages by family.
import { metricTitle } from "../board/decode.js";
import { familyBands } from "../board/families.js";
import { languageLink } from "../board/parts.js";
import { groupedBy } from "../board/ranking.js";
import { element, link, plural } from "../page/dom.js";
import { changeParams, hashOf } from "../page/state.js";
import { forestTable } from "./forest.js";
import { examplesHash } from "./paired.js";

const BY_DIFFERENCE = "difference";
const ALL_TASKS = "all";

/** @param {URLSearchParams} params */
const byDifference = (params) => params.get("order") === BY_DIFFERENCE;

// Largest lead of the first system first, or in the given order.
/** @param {Contrast[]} contrasts @param {URLSearchParams} params */
const inOrder = (contrasts, params) =>
  byDifference(params) ? [...contrasts].sort((a, b) => b.lead - a.lead) : contrasts;

/** @param {System[]} pair */
const pairNames = (pair) => pair.map(({ fullName }) => fullName).join(" and ");

/** @param {URLSearchParams} params @param {string} id */
const isUnfolded = (params, id) => params.getAll("unfold").some((one) => one === id || one === ALL_TASKS);

// A button that shows the languages of a task below it.
/** @param {URLSearchParams} params @param {Contrast[]} tasks @param {Contrast} contrast @param {string} key */
function unfoldButton(params, tasks, { id, title }, key) {
  const open = isUnfolded(params, id);
  const click = () => {
    const shown = tasks.filter((task) => isUnfolded(params, task.id)).map((task) => task.id);
    changeParams({ unfold: open ? shown.filter((one) => one !== id) : [...shown, id] });
  };
  return element(
    "button",
    {
      type: "button",
      class: "unfold",
      "data-key": `${key}-button`,
      "aria-expanded": String(open),
      "aria-label": `Languages of ${title}`,
      click,
    },
    open ? "▾" : "▸",
  );
}

/** @param {Contrast} contrast @param {string} side */
const averageRow = (contrast, side) => ({
  contrast,
  head: contrast.title,
  level: "average",
  key: `${side}-${contrast.level}-${contrast.id}`,
});

/** @param {Contrast} contrast */
function taskNote({ shared, of, lower }) {
  const languages = !shared
    ? "average only"
    : shared < of
      ? `${shared} of ${plural(of, "language")}`
      : plural(of, "language");
  return element("span", { class: "of" }, languages, lower ? ", lower is better" : "");
}

// Overall and categories, then tasks, each with its languages if it is unfolded.
/** @param {Board} board @param {PairContrasts} contrasts @param {ForestOptions} options @param {URLSearchParams} params */
export function taskForest(board, { top, categories, tasks, cells }, options, params) {
  const ids = options.pair.map(({ id }) => id);
  const side = ids.join("-");
  const noted = new Set((board.footnotes ?? []).flatMap(({ system, task }) => (ids.includes(system) ? [task] : [])));
  const averages = tasks.length > 1 || top?.level === "overall" ? [...(top ? [top] : []), ...categories] : [];
  const own = groupedBy(cells, ({ task }) => task?.id ?? "");
  const rows = inOrder(tasks, params).flatMap((contrast) => {
    const key = `${side}-${contrast.id}`;
    const languages = own.get(contrast.id) ?? [];
    const cellMetric = contrast.task?.cellMetric;
    const head = [
      languages.length ? unfoldButton(params, tasks, contrast, key) : null,
      link(hashOf(["task", contrast.id]), contrast.title),
      noted.has(contrast.id) ? "†" : null,
      taskNote(contrast),
    ];
    const below = isUnfolded(params, contrast.id) ? inOrder(languages, params) : [];
    return [
      { contrast, head, level: "task", key },
      ...below.map((cell) => ({
        contrast: cell,
        head: [
          link(hashOf(["task", contrast.id, cell.code ?? ""]), cell.title),
          cellMetric && !cell.test ? element("span", { class: "of" }, metricTitle(cellMetric)) : null,
          options.examples.has(cell.id)
            ? element("a", { class: "of not-saved", href: examplesHash(options.pair, contrast.id, cell.code ?? "") }, "examples")
            : null,
        ],
        level: "cell",
        key: `${side}-${cell.id}`,
      })),
    ];
  });
  return forestTable({
    ...options,
    label: `Differences by task: ${pairNames(options.pair)}`,
    title: "Task",
    groups: [
      { title: "", rows: averages.map((contrast) => averageRow(contrast, side)) },
      { title: "", rows },
    ].filter((group) => group.rows.length),
  });
}

// Buttons for the order of rows, and for all languages of all tasks.
/** @param {URLSearchParams} params */
export function orderControls(params) {
  const sorted = byDifference(params);
  const all = params.get("unfold") === ALL_TASKS;
  /** @param {string} text @param {boolean} pressed @param {Record<string, any>} changes */
  const button = (text, pressed, changes) =>
    element(
      "button",
      {
        type: "button",
        "aria-pressed": String(pressed),
        "data-key": `forest-${text}`,
        click: () => changeParams(changes),
      },
      text,
    );
  return element(
    "div",
    { class: "tabs", role: "group", "aria-label": "Rows" },
    button("Suite order", !sorted, { order: null }),
    button("By difference", sorted, { order: BY_DIFFERENCE }),
    button("Every language", all, { unfold: all ? null : ALL_TASKS }),
  );
}

// One row per language, in bands of families, or in one list by difference.
/** @param {Board} board @param {PairContrasts} contrasts @param {ForestOptions} options @param {URLSearchParams} params */
export function languageForest(board, { languages }, options, params) {
  const side = options.pair.map(({ id }) => id).join("-");
  const known = languages.flatMap((contrast) => {
    const language = board.language.get(contrast.id);
    return language ? [{ contrast, language }] : [];
  });
  const sorted = byDifference(params);
  /** @param {{ contrast: Contrast, language: Language }} row @param {boolean} isNamed */
  const rowOf = ({ contrast, language }, isNamed) => ({
    contrast,
    head: [
      languageLink(language),
      element("span", { class: "of" }, `${contrast.shared} of ${plural(contrast.of, "task")}`),
      isNamed ? element("span", { class: "of" }, language.family) : null,
    ],
    level: "language",
    key: `${side}-language-${language.code}`,
  });
  const byLead = [...known].sort((a, b) => b.contrast.lead - a.contrast.lead).map(({ language }) => language);
  const bands = sorted ? [{ name: "", href: undefined, languages: byLead }] : familyBands(byLead);
  const rowOfLanguage = new Map(known.map((row) => [row.language, row]));
  return forestTable({
    ...options,
    label: `Differences by language: ${pairNames(options.pair)}`,
    title: "Language",
    groups: bands.map(({ name, href, languages: own }) => ({
      title: name,
      rows: own.flatMap((language) => rowOfLanguage.get(language) ?? []).map((row) => rowOf(row, !href)),
    })),
  });
}
