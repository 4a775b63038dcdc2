import { barChart } from "./bars.js";
import { METADATA, badges, disclosed, intervalText, lackText, shortScoreTitle, unparsedText } from "./describe.js";
import { directedPaint, scorePaint } from "./colour.js";
import { cellScore, cellTitle, languageName, systemDetail, taskName } from "./decode.js";
import { countText, download, element, link, missing, nameOf, outside, plural, scoreText, signedText } from "./dom.js";
import { heatTable, scoreKey, scoreRange } from "./heatmap.js";
import { byFamily, cellTip, crumbs, facts, nothing, pageHead, plainTable } from "./parts.js";
import { weightedMean } from "./ranking.js";
import { hashOf } from "./state.js";
import { standings } from "./standings.js";
import { withTip } from "./tips.js";

export function systemPage(board, [id]) {
  const system = board.system.get(id);
  if (!system) return nothing("There is no such system on this board.");
  const table = standings(board, new URLSearchParams());
  table.drawRanges?.();
  const row = table.rows.find((each) => each.system === system);
  const later = element("div");
  const wait = element("p", { class: "soft" }, "loading the system's own file…");
  later.append(wait);
  const gap = element("div", {}, gapSection(board, system));
  systemDetail(id).then((detail) => {
    later.replaceChildren(
      ...(detail
        ? detailSections(board, system, detail)
        : [element("p", { class: "soft" }, "The system's own file is not there.")]),
    );
    if (detail?.gaps?.length) gap.replaceChildren(...[gapSection(board, system, detail.gaps)].filter(Boolean));
  });
  const node = element(
    "div",
    {},
    crumbs(link("#/", "Leaderboard"), nameOf(system.name)),
    pageHead([nameOf(system.name), " ", badges(system)], headlineOf(board, table, row)),
    card(system),
    scoreCards(table, row),
    footnotesOf(board, system),
    cellsSection(board, system),
    gap,
    later,
  );
  return { node, title: system.name };
}

function headlineOf(board, table, row) {
  const overall = row.figures.get("overall");
  if (row.rank === null)
    return element(
      "p",
      { class: "headline" },
      `Not ranked: ${row.cells} of ${board.cellCount} cells. ${lackText(board, row)}.`,
    );
  return element(
    "p",
    { class: "headline" },
    "Overall ",
    element("strong", {}, scoreText(overall.value)),
    Number.isNaN(overall.low) ? "" : ` (${scoreText(overall.low)}–${scoreText(overall.high)})`,
    `, rank ${row.rank}${row.range && row.range[0] !== row.range[1] ? ` (${row.range[0]} to ${row.range[1]})` : ""} of ${plural(table.ranked, "complete system")}.`,
  );
}

// What is known of the system; what is not disclosed says so.
function card(system) {
  const known = METADATA.filter(
    ({ id, value, sparse }) => value && id !== "source" && !(sparse && missing(value(system))),
  ).map(({ title, value, text }) => [title, disclosed(value(system), text)]);
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "About"),
    facts([
      ...known,
      ["Date", system.date ?? null],
      ["Paper", system.paper || system.url ? outside(system.url, system.paper || system.url) : disclosed(null)],
      ["Source of the figures", system.source || null],
    ]),
    (system.notes ?? []).length
      ? element(
          "ul",
          { class: "soft" },
          system.notes.map((note) => element("li", {}, note)),
        )
      : null,
  );
}

function scoreCards(table, row) {
  return element(
    "div",
    { class: "cards" },
    table.shown
      .filter(({ kind }) => kind !== "task")
      .map((column) => {
        const figure = row.figures.get(column.id);
        const known = table.rows
          .map((each) => each.figures.get(column.id))
          .filter(({ value, partial }) => !partial && !missing(value));
        const better = known.filter(({ value }) => (column.lower ? value < figure.value : value > figure.value)).length;
        return element(
          "div",
          { class: "figure" },
          element("span", {}, shortScoreTitle(column)),
          element("strong", {}, scoreText(figure.value)),
          element(
            "small",
            {},
            missing(figure.value)
              ? "incomplete"
              : [intervalText(figure).replace("95 % interval ", ""), `rank ${better + 1} of ${known.length}`]
                  .filter(Boolean)
                  .join(" · "),
          ),
        );
      }),
  );
}

function footnotesOf(board, system) {
  const notes = (board.footnotes ?? []).filter((note) => note.system === system.id);
  return notes.length
    ? element(
        "ul",
        { class: "notes" },
        notes.map((note) => element("li", {}, "† ", note.task ? `${taskName(board, note.task)}: ` : "", note.text)),
      )
    : null;
}

// Tasks by languages.
function cellsSection(board, system) {
  const tasks = board.tasks.filter((task) =>
    task.languages.some((code) => !Number.isNaN(cellScore(task, system, code))),
  );
  if (!tasks.length) return null;
  const languages = board.languages
    .filter(({ code }) => tasks.some((task) => !missing(cellScore(task, system, code))))
    .sort(byFamily);
  const range = scoreRange(tasks.flatMap((task) => languages.map(({ code }) => cellScore(task, system, code))));
  return element(
    "section",
    {},
    element("h2", {}, "Every task in every language"),
    scoreKey(
      ...range,
      directedPaint(
        tasks.every((task) => task.lower_is_better),
        range,
      ),
    ),
    heatTable({
      rows: tasks,
      columns: languages,
      caption: "Tasks by language; languages in the order of their families",
      rowHead: (task) => link(hashOf(["task", task.id]), cellTitle(task)),
      columnHead: (language) =>
        withTip(link(hashOf(["language", language.code]), language.code), () => [language.name, language.family]),
      value: (task, { code }) => (task.place.has(code) ? cellScore(task, system, code) : undefined),
      text: (score) => String(Math.round(score)),
      paintOf: (score, task) => directedPaint(task.lower_is_better, range)(score),
      href: (task, { code }) => hashOf(["task", task.id, code]),
      tip: (task, { code }) => cellTip(board, system, task, code),
    }),
  );
}

// English minus the mean of the other languages, from the cells; tasks without English have none. The system's own file
// has intervals, where the cells are in the metric of the task's own figure.
function gapSection(board, system, recorded = []) {
  const ends = new Map(recorded.filter(({ low }) => !missing(low)).map((each) => [each.task, each]));
  const gaps = board.tasks
    .filter((task) => task.place.has("en") && task.languages.length > 1)
    .map((task) => {
      const others = task.languages.filter((code) => code !== "en").map((code) => cellScore(task, system, code));
      return { task, english: cellScore(task, system, "en"), mean: weightedMean(others), n: others.length };
    })
    .filter(({ english, mean }) => !Number.isNaN(english) && !Number.isNaN(mean));
  if (!gaps.length) return null;
  const records = gaps.map(({ task, english, mean, n }) => {
    const { low = null, high = null } = task.cellMetric ? {} : (ends.get(task.id) ?? {});
    return {
      label: cellTitle(task),
      value: english - mean,
      low,
      high,
      lines: [
        `${task.name}: ${signedText(english - mean)}`,
        `English ${scoreText(english)}, mean of ${n} others ${scoreText(mean)}`,
        missing(low) ? "" : `95 % interval ${signedText(low)} to ${signedText(high)}`,
      ],
    };
  });
  return element(
    "section",
    {},
    element("h2", {}, "Transfer gap"),
    element(
      "p",
      { class: "soft" },
      "English minus the mean of the other languages: the nearer to zero, the better the system carries over.",
    ),
    barChart({
      records,
      signed: records.some(({ value, low }) => Math.min(value, low ?? value) < 0),
      description: "Transfer gap by task",
    }),
  );
}

function detailSections(board, system, detail) {
  return [
    checklistSection(board, detail),
    provenanceSection(board, system, detail),
    metadataSection(detail),
    element(
      "section",
      {},
      element("h2", {}, "Download"),
      element(
        "p",
        {},
        element(
          "button",
          {
            type: "button",
            click: () =>
              download(`${system.id}.json`, "application/json", JSON.stringify({ system, ...detail }, null, 1)),
          },
          "All of this system as JSON",
        ),
        " ",
        detail.analyses?.single?.length || detail.examples?.length
          ? link(hashOf(["analysis", "single"], { system: system.id }), "Its analyses")
          : null,
      ),
    ),
  ].filter(Boolean);
}

function checklistSection(board, detail) {
  const rates = detail.checklist ?? [];
  if (!rates.length) return null;
  const tests = [...new Set(rates.map(({ test }) => test))];
  const codes = [...new Set(rates.map(({ language }) => language))];
  const found = new Map(rates.map((rate) => [`${rate.test}/${rate.language}`, rate]));
  return element(
    "section",
    {},
    element("h2", {}, "Checklist: error rates"),
    element("p", { class: "soft" }, "Share of cases with a mistake; dark is many, lower is better."),
    heatTable({
      rows: tests,
      columns: codes,
      caption: "Error rates by test and language",
      rowHead: (test) => test,
      columnHead: (code) => withTip(element("span", {}, code), () => [languageName(board, code)]),
      value: (test, code) => found.get(`${test}/${code}`)?.value,
      paintOf: (rate) => scorePaint(100 - rate),
      text: (rate) => String(Math.round(rate)),
      tip: (test, code, rate) => [
        `${test}, ${languageName(board, code)}: ${scoreText(rate)} % errors`,
        intervalText(found.get(`${test}/${code}`)),
      ],
    }),
  );
}

function provenanceSection(board, system, detail) {
  const made = board.provenance?.[system.provenance];
  const cells = detail.cells ?? [];
  const rows = cells.map((cell) => provenanceCells(board, made, cell));
  return element(
    "section",
    {},
    element("h2", {}, "Provenance"),
    element(
      "p",
      {},
      made
        ? `Scored here with Isogloss ${made.scorer}${made.split ? `, split ${made.split}` : ""}.`
        : `Reported: ${system.source || system.paper || "source not given"}. Nothing of it was scored here.`,
    ),
    cells.length
      ? element(
          "details",
          {},
          element("summary", {}, `Figures, data and signature of ${plural(cells.length, "cell")}`),
          plainTable("Cells", ["Task", "Language", "n", "Figures", "Data", "Signature"], rows, { tall: true }),
        )
      : null,
  );
}

// A row of the table: what was scored, with which figures, on which data.
function provenanceCells(board, made, cell) {
  const figures = Object.entries(cell.metrics).map(
    ([metric, [value, low, high]]) =>
      `${metric} ${scoreText(value)}${missing(low) ? "" : ` (${scoreText(low)}–${scoreText(high)})`}`,
  );
  return [
    element("td", {}, taskName(board, cell.task)),
    element("td", {}, cell.language),
    element("td", { class: "number" }, countText(cell.n || null)),
    element("td", {}, figures.join("; "), cell.unparsed ? `; ${unparsedText(cell.unparsed)}` : ""),
    element("td", { class: "code" }, made?.checksums?.[cell.task]?.[cell.language] ?? "–"),
    element(
      "td",
      { class: "code" },
      cell.signature || "–",
      (cell.notes ?? []).map((note) => element("p", {}, note)),
    ),
  ];
}

function metadataSection(detail) {
  const pairs = Object.entries(detail.metadata ?? {});
  const text = (value) =>
    value !== null && typeof value === "object"
      ? JSON.stringify(value)
      : value === null || value === ""
        ? "not disclosed"
        : String(value);
  return pairs.length
    ? element(
        "section",
        {},
        element(
          "details",
          {},
          element("summary", {}, "Metadata in full"),
          facts(pairs.map(([name, value]) => [name, text(value)])),
        ),
      )
    : null;
}
