import { barChart } from "../charts/bars.js";
import { METADATA, badges, disclosed, intervalText, lackText, shortScoreTitle, unparsedText } from "../board/describe.js";
import { directedPaint, scorePaint } from "../charts/colour.js";
import { cellScore, cellTitle, languageName, loadedDetail, taskName } from "../board/decode.js";
import {
  countText,
  download,
  element,
  link,
  missing,
  nameOf,
  outside,
  partText,
  plural,
  scoreText,
  signedText,
} from "../page/dom.js";
import { heatTable, scoreKey, scoreRange } from "../charts/heatmap.js";
import { byFamily, cellTip, crumbs, facts, nothing, pageHead, plainTable } from "../board/parts.js";
import { pseudoOfSystem } from "../tasks/pseudo_scores.js";
import { weightedMean } from "../board/ranking.js";
import { repliesSection } from "./reply_failures.js";
import { hashOf } from "../page/state.js";
import { standings } from "../board/standings.js";
import { testedOn } from "../board/tested_on.js";
import { withTip } from "../page/tips.js";

/** @param {Board} board @param {string[]} options1 @returns {Page} */
export function systemPage(board, [id]) {
  const system = board.system.get(id);
  if (!system) return nothing("This board has no such system.");
  const table = standings(board, new URLSearchParams());
  table.testRanks?.();
  const row = table.rows.filter((item) => item.system === system)[0];
  const view = () => {
    const detail = loadedDetail(id);
    return [
      crumbs(link("#/", "Leaderboard"), nameOf(system.name)),
      pageHead([nameOf(system.name), " ", badges(system)], headlineOf(board, table, row)),
      card(system),
      scoreCards(table, row),
      footnotesOf(board, system),
      cellsSection(board, system),
      pseudoOfSystem(board, system),
      gapSection(board, system, detail?.gaps),
      detail
        ? detailSections(board, system, detail)
        : element("p", { class: "soft" }, detail === null ? "This system has no details file." : "Loading details…"),
    ];
  };
  return { title: system.name, view };
}

/** @param {string} text */
const capitalised = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {Board} board @param {Standings} table @param {Standing} row */
function headlineOf(board, table, row) {
  const overall = row.figures.get("overall");
  if (row.rank === null)
    return element(
      "p",
      { class: "headline" },
      `Partial results: ${partText(row.cells, board.cellCount, "cell", ["has a score", "have scores"])}. ${capitalised(lackText(board, row))}.`,
    );
  const [low, high] = table.order.ranges.get(row.system.id) ?? [];
  return element(
    "p",
    { class: "headline" },
    "Overall ",
    element("strong", {}, scoreText(overall.value)),
    Number.isNaN(overall.low) ? "" : ` (${scoreText(overall.low)}–${scoreText(overall.high)})`,
    `, rank ${row.rank} of ${plural(table.ranked, "complete system")}`,
    low === high ? "." : `; ranks ${low} to ${high} are possible ${testedOn(table.order.test)}.`,
  );
}

/** @param {System} system */
function card(system) {
  const metadata = METADATA.filter(
    ({ id, value, sparse }) => value && id !== "source" && !(sparse && missing(value(system))),
  ).map(({ title, value, text }) => [title, disclosed(value?.(system), text)]);
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "About"),
    facts([
      ...metadata,
      ["Date", system.date ?? null],
      ["Paper", system.paper || system.url ? outside(system.url, system.paper || system.url) : disclosed(null)],
      ["Source of the scores", system.source || null],
    ]),
    (system.notes ?? []).length
      ? element(
          "ul",
          { class: "soft" },
          system.notes?.map((note) => element("li", {}, note)),
        )
      : null,
  );
}

/** @param {Standings} table @param {Standing} row */
function scoreCards(table, row) {
  return element(
    "div",
    { class: "cards" },
    table.shown
      .filter(({ kind }) => kind !== "task")
      .map((column) => {
        const figure = row.figures.get(column.id);
        const others = table.rows
          .map(({ figures }) => figures.get(column.id))
          .filter(({ value, partial }) => !partial && !missing(value));
        const better = others.filter(({ value }) =>
          column.lower ? value < figure.value : value > figure.value,
        ).length;
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
              : [intervalText(figure).replace("95 % interval ", ""), `rank ${better + 1} of ${others.length}`]
                  .filter(Boolean)
                  .join(" · "),
          ),
        );
      }),
  );
}

/** @param {Board} board @param {System} system */
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

/** @param {Board} board @param {System} system */
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
    element("h2", {}, "Scores by task and language"),
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
      caption: "Tasks by language, ordered by family",
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

// English minus the mean of the other languages, for tasks with English. The system's file has intervals, which apply if
// cells use the task's main metric.
/** @param {Board} board @param {System} system @param {SystemGap[]} [recorded] */
function gapSection(board, system, recorded = []) {
  const ends = new Map(recorded.filter(({ low }) => !missing(low)).map((gap) => [gap.task, gap]));
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
        `English ${scoreText(english)}; mean of ${plural(n, "other language")} ${scoreText(mean)}`,
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
      "English minus the mean of the other languages. Closer to zero means better transfer.",
    ),
    barChart({
      records,
      signed: records.some(({ value, low }) => Math.min(value, low ?? value) < 0),
      description: "Transfer gap by task",
    }),
  );
}

/** @param {Board} board @param {System} system @param {SystemDetail} detail */
function detailSections(board, system, detail) {
  return [
    repliesSection(board, detail),
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
          "Download all data (JSON)",
        ),
        " ",
        detail.analyses?.single?.length || detail.examples?.length
          ? link(hashOf(["analysis", "single"], { system: system.id }), "Analyses")
          : null,
      ),
    ),
  ].filter(Boolean);
}

/** @param {Board} board @param {SystemDetail} detail */
function checklistSection(board, detail) {
  const rates = detail.checklist ?? [];
  if (!rates.length) return null;
  const tests = [...new Set(rates.map(({ test }) => test))];
  const codes = [...new Set(rates.map(({ language }) => language))];
  const rateOf = new Map(rates.map((rate) => [`${rate.test}/${rate.language}`, rate]));
  return element(
    "section",
    {},
    element("h2", {}, "Checklist: error rates"),
    element("p", { class: "soft" }, "Share of failed cases; darker means more errors. Lower is better."),
    heatTable({
      rows: tests,
      columns: codes,
      caption: "Error rates by test and language",
      rowHead: (test) => test,
      columnHead: (code) => withTip(element("span", {}, code), () => [languageName(board, code)]),
      value: (test, code) => rateOf.get(`${test}/${code}`)?.value,
      paintOf: (rate) => scorePaint(100 - rate),
      text: (rate) => String(Math.round(rate)),
      tip: (test, code, rate) => [
        `${test}, ${languageName(board, code)}: ${scoreText(rate)} % errors`,
        intervalText(rateOf.get(`${test}/${code}`) ?? {}),
      ],
    }),
  );
}

/** @param {Board} board @param {System} system @param {SystemDetail} detail */
function provenanceSection(board, system, detail) {
  const provenance = board.provenance?.[system.provenance];
  const cells = detail.cells ?? [];
  const rows = cells.map((cell) => provenanceCells(board, provenance, cell));
  return element(
    "section",
    {},
    element("h2", {}, "Provenance"),
    element(
      "p",
      {},
      provenance
        ? `Scored here with Isogloss ${provenance.scorer}${provenance.split ? `, split ${provenance.split}` : ""}.`
        : `Reported: ${system.source || system.paper || "source unknown"}. Not scored here.`,
    ),
    cells.length
      ? element(
          "details",
          {},
          element("summary", {}, `Scores, data and signatures of ${plural(cells.length, "cell")}`),
          plainTable("Cells", ["Task", "Language", "n", "Scores", "Data", "Signature"], rows, { tall: true }),
        )
      : null,
  );
}

/** @param {Board} board @param {Maybe<BoardProvenance>} provenance @param {SystemCell} cell */
function provenanceCells(board, provenance, cell) {
  const figures = Object.entries(cell.metrics).map(
    ([metric, [value, low, high]]) =>
      `${metric} ${scoreText(value)}${missing(low) ? "" : ` (${scoreText(low)}–${scoreText(high)})`}`,
  );
  return [
    element("td", {}, taskName(board, cell.task)),
    element("td", {}, cell.language),
    element("td", { class: "number" }, countText(cell.n || null)),
    element("td", {}, figures.join("; "), cell.unparsed ? `; ${unparsedText(cell.unparsed)}` : ""),
    element("td", { class: "code" }, provenance?.checksums?.[cell.task]?.[cell.language] ?? "–"),
    element(
      "td",
      { class: "code" },
      cell.signature || "–",
      (cell.notes ?? []).map((note) => element("p", {}, note)),
    ),
  ];
}

/** @param {SystemDetail} detail */
function metadataSection(detail) {
  const pairs = Object.entries(detail.metadata ?? {});
  /** @param {unknown} value */
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
          element("summary", {}, "All metadata"),
          facts(pairs.map(([name, value]) => [name, text(value)])),
        ),
      )
    : null;
}
