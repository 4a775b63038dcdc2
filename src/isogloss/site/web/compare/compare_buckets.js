import { analysedCells } from "../analysis/built_charts.js";
import { listLive } from "../analysis/bucket_examples.js";
import { cellStatistics } from "../analysis/cell_examples.js";
import { attributeCaption } from "../analysis/attribute_title.js";
import { exampleSection } from "../analysis/example_list.js";
import { chosenOf, chosenSelect } from "../page/controls.js";
import { languageName, loadedDetail, taskTitle } from "../board/decode.js";
import { DISCOVERY_LEVEL, discoveryRates } from "../statistics/discovery.js";
import { countText, element, link, missing, nameOf, plural, scoreText, signedText } from "../page/dom.js";
import { chosenCut, cutAttribute, scoredBuckets } from "../analysis/live_buckets.js";
import { plainTable } from "../board/parts.js";
import { memoized } from "../board/ranking.js";
import { hashOf, redraw } from "../page/state.js";

/** @param {boolean} lower @param {number} a @param {number} b */
const better = (lower, a, b) => (lower ? a < b : a > b);

// The index of the single best score, or -1 for a tie.
/** @param {boolean} lower @param {number[]} scores */
export const bestAlone = (lower, scores) =>
  scores.findIndex((score, at) => scores.every((other, place) => place === at || better(lower, score, other)));

// Every bucket of a cell with each system's score and the best two systems.
/** @param {LiveCell} live @param {Metric[]} metrics @param {URLSearchParams} params */
export function comparedBuckets(live, metrics, params) {
  const lower = metrics[0].lower_is_better;
  return live.examples.attributes.flatMap((attribute) => {
    const cut = cutAttribute(live.examples, attribute, chosenCut(params, attribute.name));
    const scored = metrics.map((metric) => scoredBuckets(live, [metric], cut));
    return cut.buckets.map((bucket, at) => {
      const values = scored.map((bars) => bars[at].value);
      const order = values
        .map((_, place) => place)
        .sort((a, b) => (lower ? values[a] - values[b] : values[b] - values[a]));
      return { attribute, cut, bucket, at, values, best: bestAlone(lower, values), next: order[1] };
    });
  });
}

// Test if the best system of each bucket beats every other, so that the weakest test decides, corrected over all buckets.
/** @param {LiveCell} live @param {Metric[]} metrics @param {any[]} rows */
export function withDifferences(live, metrics, rows) {
  const cutPairs = memoized((/** @type {CutBuckets} */ _cut) => new Map());
  /** @param {CutBuckets} cut @param {number} one @param {number} other */
  const pairBars = (cut, one, other) => {
    const pairs = cutPairs(cut);
    const key = `${one} ${other}`;
    if (!pairs.has(key)) pairs.set(key, scoredBuckets(live, [metrics[one], metrics[other]], cut));
    return pairs.get(key);
  };
  const compared = rows.map((row) => {
    if (row.best < 0) return { ...row, p: 1 };
    const others = metrics.map((_, at) => at).filter((at) => at !== row.best);
    const tests = others.map((other) => pairBars(row.cut, row.best, other)[row.at].p);
    const { value, low, high } = pairBars(row.cut, row.best, row.next)[row.at];
    return { ...row, difference: value, low, high, p: Math.max(...tests) };
  });
  const rates = discoveryRates(compared.map(({ p }) => p));
  return compared.map((row, at) => ({ ...row, significant: rates[at] < DISCOVERY_LEVEL }));
}

/** @param {System[]} systems @param {{ best: number, significant: boolean }} options1 */
const nameCell = (systems, { best, significant }) => {
  if (best < 0) return element("span", { class: "soft" }, "tied");
  const name = nameOf(systems[best].fullName);
  return significant ? element("strong", {}, name) : element("span", { class: "soft" }, name, " (not significant)");
};

// A band per attribute, and its buckets: the verdict first, then the scores behind it.
/** @param {System[]} systems @param {any[]} rows @param {(row: any) => void} list */
function bucketTable(systems, rows, list) {
  const heads = ["Bucket", "Best", "Best minus next", ...systems.map(({ fullName }) => nameOf(fullName)), "n", "Examples"];
  return plainTable(
    "Buckets",
    heads,
    rows.flatMap((row, at) => {
      const cells = bucketCells(systems, row, list).map((cell) => element("td", {}, cell));
      if (rows[at - 1]?.attribute === row.attribute) return [cells];
      const title = attributeCaption({ attribute: row.attribute.name, title: row.attribute.title });
      return [[element("th", { class: "band", colspan: heads.length, scope: "rowgroup" }, title)], cells];
    }),
  );
}

/** @param {System[]} systems @param {any} row @param {(row: any) => void} list @returns {Child[]} */
function bucketCells(systems, row, list) {
  const { attribute, bucket, difference, low, high } = row;
  const interval = missing(low) ? "" : ` (${signedText(low)} to ${signedText(high)})`;
  return [
    `${bucket.name}${bucket.edges ? ` ${bucket.edges}` : ""}`,
    nameCell(systems, row),
    missing(difference) ? "–" : `${signedText(difference)}${interval}`,
    ...row.values.map(scoreText),
    countText(bucket.n),
    element(
      "button",
      { type: "button", "aria-label": `Show examples of ${attribute.name} ${bucket.name}`, click: () => list(row) },
      "Show",
    ),
  ];
}

/** @param {System[]} systems @param {any[]} rows */
function summary(systems, rows) {
  const wins = systems.map((_, at) => rows.filter((row) => row.significant && row.best === at).length);
  const open = rows.length - wins.reduce((a, b) => a + b, 0);
  return element(
    "p",
    {},
    `${plural(rows.length, "bucket")}: `,
    systems.flatMap(({ fullName }, at) => [
      at ? ", " : "",
      nameOf(fullName),
      " is significantly best in ",
      element("strong", {}, wins[at]),
    ]),
    `; ${open} ${open === 1 ? "is" : "are"} not significant (better than every other, false discovery rate 5 % over all buckets). Intervals are those of single buckets.`,
  );
}

/** @type {Map<string, Maybe<LiveCell>>} */
const loadedCells = new Map();

// The per-example results of a cell if they are loaded, null if missing. Undefined while loading: the page redraws later.
/** @param {string} task @param {string} language @param {System[]} systems @returns {Maybe<LiveCell>} */
function loadedCell(task, language, systems) {
  const key = JSON.stringify([task, language, ...systems.map(({ id }) => id)]);
  if (!loadedCells.has(key)) {
    loadedCells.set(key, undefined);
    cellStatistics(task, language, systems).then((cell) => {
      loadedCells.set(key, cell);
      redraw();
    });
  }
  return loadedCells.get(key);
}

// Compare systems bucket by bucket within a cell that has per-example results of all of them.
/** @param {Board} board @param {System[]} systems @param {URLSearchParams} params */
export function bucketSection(board, systems, params) {
  const title = element("h2", {}, "Bucket by bucket");
  const details = systems.map(({ id, reported }) => (reported ? null : loadedDetail(id)));
  if (details.includes(undefined)) return [title, element("p", { class: "soft" }, "Loading…")];
  const cells = analysedCells(details);
  if (!cells.length) return [title, element("p", { class: "soft" }, missingText(systems, details))];
  const task = chosenOf(params, "task", cells);
  const language = chosenOf(
    params,
    "language",
    cells.filter((cell) => cell.task === task.chosen),
  );
  const live = loadedCell(task.chosen, language.chosen, systems);
  if (!live) return [title, element("p", { class: "soft" }, live === null ? "Missing examples file." : "Loading…")];
  const metrics = live.systems.map((system) => system.metrics[0]);
  const rows = withDifferences(live, metrics, comparedBuckets(live, metrics, params));
  const select = element(
    "div",
    { class: "controls roomy" },
    chosenSelect("task", "Task", task, (id) => taskTitle(board, id)),
    chosenSelect("language", "Language", language, (code) => languageName(board, code)),
  );
  const chosen = { task: task.chosen, language: language.chosen };
  const about = aboutCell(metrics[0], live.examples.ids.length, cells.length);
  const charts = systems.length === 2 ? chartsLink(systems, chosen) : "";
  return [
    title,
    select,
    element("p", { class: "soft" }, about, charts),
    summary(systems, rows),
    bucketTable(systems, rows, (row) =>
      listLive({ board, systems, ...chosen }, live, metrics, row.attribute.title, row.cut.codes, { ...row.bucket, at: row.at }),
    ),
    exampleSection(),
  ];
}

/** @param {System[]} systems @param {Detail[]} details */
function missingText(systems, details) {
  const without = systems.find((_, at) => !details[at]?.examples?.length);
  return without
    ? ["This board has no per-example results of ", nameOf(without.fullName), "."]
    : "No cell has per-example results of all systems.";
}

/** @param {Metric} options @param {number} examples @param {number} cells */
const aboutCell = ({ name, lower_is_better: lower }, examples, cells) =>
  `${name}${lower ? ", lower is better" : ""}; ${plural(examples, "example")}; ${plural(cells, "cell")} available. `;

/** @param {System[]} systems @param {Record<string, string>} cell */
const chartsLink = (systems, cell) =>
  link(hashOf(["analysis", "pairwise"], { system: systems.map(({ id }) => id), ...cell }), "Show as charts");
