import { analysedCells } from "./analyses.js";
import { cellStatistics } from "./cell_examples.js";
import { bestAlone } from "./compare_tables.js";
import { chosenOf, chosenSelect } from "./controls.js";
import { languageName, systemDetail, taskTitle } from "./decode.js";
import { countText, element, link, missing, nameOf, plural, scoreText, signedText } from "./dom.js";
import { chosenCut, cutAttribute, scoredBuckets } from "./live_buckets.js";
import { plainTable } from "./parts.js";
import { hashOf } from "./state.js";

// Every bucket of a cell with the score of each system, the best of them, and whether it is surely better than the next.
function comparedBuckets(live, metrics, params) {
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

// The difference of the best and the next, tested on the examples of the bucket.
function withDifferences(live, metrics, rows) {
  const known = new Map();
  const pairBars = (cut, one, other) => {
    const key = `${one} ${other}`;
    if (!known.has(cut)) known.set(cut, new Map());
    if (!known.get(cut).has(key)) known.get(cut).set(key, scoredBuckets(live, [metrics[one], metrics[other]], cut));
    return known.get(cut).get(key);
  };
  return rows.map((row) => {
    if (row.best < 0) return { ...row, sure: false };
    const { value, low, high } = pairBars(row.cut, row.best, row.next)[row.at];
    return { ...row, difference: value, low, high, sure: !missing(low) && (low > 0 || high < 0) };
  });
}

const nameCell = (systems, { best, sure }) => {
  if (best < 0) return "equal";
  return sure ? element("strong", {}, nameOf(systems[best].fullName)) : [nameOf(systems[best].fullName), " (not sure)"];
};

function bucketTable(systems, rows) {
  return plainTable(
    "Buckets",
    ["Attribute", "Bucket", "n", ...systems.map(({ fullName }) => nameOf(fullName)), "Best minus next", "Best"],
    rows.map((row) =>
      [
        row.attribute.name,
        `${row.bucket.name}${row.bucket.edges ? ` ${row.bucket.edges}` : ""}`,
        countText(row.bucket.n),
        ...row.values.map(scoreText),
        missing(row.difference)
          ? "–"
          : `${signedText(row.difference)}${missing(row.low) ? "" : ` (${signedText(row.low)} to ${signedText(row.high)})`}`,
        nameCell(systems, row),
      ].map((cell) => element("td", {}, cell)),
    ),
  );
}

function summary(systems, rows) {
  const sure = systems.map((_, at) => rows.filter((row) => row.sure && row.best === at).length);
  return element(
    "p",
    {},
    `Of ${plural(rows.length, "bucket")} `,
    systems.flatMap(({ fullName }, at) => [
      at ? ", " : "",
      nameOf(fullName),
      " is surely best in ",
      element("strong", {}, sure[at]),
    ]),
    `; in ${rows.length - sure.reduce((a, b) => a + b, 0)} the intervals of the differences leave it open (95 %, each by itself).`,
  );
}

// Where each system wins within a cell, by bucket: wherever it is known how all of them did on every example.
export async function bucketSection(board, systems, params, place) {
  const title = element("h2", {}, "Bucket by bucket");
  const details = await Promise.all(systems.map(({ id, reported }) => (reported ? null : systemDetail(id))));
  const cells = analysedCells(details);
  if (!cells.length) {
    const why = silenceText(systems, details);
    place.replaceChildren(title, element("p", { class: "soft" }, "Nothing to compare: ", why));
    return;
  }
  const task = chosenOf(params, "task", cells);
  const language = chosenOf(
    params,
    "language",
    cells.filter((cell) => cell.task === task.chosen),
  );
  const live = await cellStatistics(task.chosen, language.chosen, systems);
  if (!live) return;
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
  place.replaceChildren(
    title,
    select,
    element("p", { class: "soft" }, about, charts),
    summary(systems, rows),
    bucketTable(systems, rows),
  );
}

function silenceText(systems, details) {
  const silent = systems.find((_, at) => !details[at]?.examples?.length);
  return silent
    ? ["it is not known how ", nameOf(silent.fullName), " did on single examples."]
    : "they have no cell in which single examples are known of all.";
}

const aboutCell = ({ name, lower_is_better: lower }, examples, cells) =>
  `${name}${lower ? ", lower is better" : ""}; ${plural(examples, "example")}; one of ${plural(cells, "cell")} that can be seen so. `;

const chartsLink = (systems, cell) =>
  link(
    hashOf(["analysis", "pairwise"], { system: systems.map(({ id }) => id), ...cell }),
    "As charts, with edges to move",
  );
