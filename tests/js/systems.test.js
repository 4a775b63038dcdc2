// The pages of systems and tasks: ranks in words, language profiles, gaps, bands of families.
import assert from "node:assert/strict";
import test from "node:test";
import { wholeAxis } from "../../src/isogloss/site/web/charts/dot_chart.js";
import { testName } from "../../src/isogloss/site/web/systems/checklist_rates.js";
import { bestInCell, englishPercent, englishReference, taskAxis } from "../../src/isogloss/site/web/board/best_cells.js";
import { familyBands, languageLines } from "../../src/isogloss/site/web/board/families.js";
import { openBoard } from "../../src/isogloss/site/web/board/decode.js";
import { rankWords } from "../../src/isogloss/site/web/board/rank_words.js";
import { columnScale } from "../../src/isogloss/site/web/board/score_scale.js";
import { standings } from "../../src/isogloss/site/web/board/standings.js";
import { dividedBands } from "../../src/isogloss/site/web/charts/dot_chart.js";
import {
  profileSentence,
  relativeProfile,
  taskProfile,
  widestGaps,
} from "../../src/isogloss/site/web/systems/language_profile.js";
import { coveredColumns } from "../../src/isogloss/site/web/systems/score_cards.js";
import { systemFacts } from "../../src/isogloss/site/web/systems/system_facts.js";
import { systemHumanGaps, transferGaps } from "../../src/isogloss/site/web/systems/system_gaps.js";
import { coverage } from "../../src/isogloss/site/web/systems/system_head.js";
import { humanText, servedText } from "../../src/isogloss/site/web/tasks/task_head.js";
import { board, boardData, packed, params } from "./board_fixture.js";

const language = (name, family, branch = family) => ({ name, family, branch, autonym: name });
const gapRow = (name, gap, value = 50) => ({ language: { name }, gap, value });

test("families come by size, and those of one language share the last band", () => {
  const bands = familyBands([
    language("Basque", "Basque"),
    language("Turkish", "Turkic"),
    language("Thai", "Kra-Dai"),
    language("Kazakh", "Turkic"),
    language("Urdu", "Indo-European", "Indic"),
    language("Dutch", "Indo-European", "Germanic"),
    language("Hindi", "Indo-European", "Indic"),
  ]);
  assert.deepEqual(
    bands.map(({ name, href, languages }) => [name, href, languages.map((each) => each.name)]),
    [
      ["Indo-European", "#/family/Indo-European", ["Dutch", "Hindi", "Urdu"]],
      ["Turkic", "#/family/Turkic", ["Kazakh", "Turkish"]],
      ["Other families", undefined, ["Basque", "Thai"]],
    ],
  );
});

test("a single family of one language keeps its name", () => {
  const bands = familyBands([language("Thai", "Kra-Dai"), language("Hindi", "Indic"), language("Urdu", "Indic")]);
  assert.deepEqual(
    bands.map(({ name }) => name),
    ["Indic", "Kra-Dai"],
  );
});

test("a language's tip has its own name and its branch", () => {
  assert.deepEqual(languageLines({ name: "German", autonym: "Deutsch", family: "Indo-European", branch: "Germanic" }), [
    "German · Deutsch",
    "Indo-European, Germanic",
  ]);
  assert.deepEqual(languageLines({ name: "Thai", autonym: "Thai", family: "Kra-Dai", branch: "Kra-Dai" }), [
    "Thai",
    "Kra-Dai",
  ]);
});

test("ranks are what the test leaves open", () => {
  const [one, two] = [{ id: "one" }, { id: "two" }];
  const rows = [
    { system: one, rank: 1 },
    { system: two, rank: 2 },
    { system: { id: "three" }, rank: null },
  ];
  const table = (ranges, more = {}, untested = []) => ({
    rows,
    ranked: 2,
    testRanks: null,
    order: { test: ranges.length ? "languages" : "", ranges: new Map(ranges), untested: new Set(untested) },
    ...more,
  });
  const open = [
    ["one", [1, 2]],
    ["two", [1, 2]],
  ];
  assert.equal(rankWords(table(open), two), "ranks 1–2 of 2");
  assert.equal(rankWords(table([["one", [1, 1]]]), one), "rank 1 of 2");
  // Others are tested, this one cannot be.
  assert.equal(rankWords(table(open, {}, ["two"]), two), "ranks 1–2 of 2, not tested");
  assert.equal(rankWords(table([]), one), "place 1 of 2, order not tested");
  assert.equal(rankWords(table(open), rows[2].system), "not ranked");
  assert.equal(rankWords(table(open, { testRanks: () => {} }), one), "testing the order…");
  assert.equal(rankWords(table([], { ranked: 1 }), one), "the only system ranked");
});

test("cards show averages where they exist, otherwise the tasks that a system covers", () => {
  const table = standings(board(), params());
  const ids = (row) => coveredColumns(table.shown, row).map(({ id }) => id);
  // Classification has one task, so that it has no column of its own.
  assert.deepEqual(ids(table.rows[0]), ["overall", "xnli", "qa"]);
  assert.deepEqual(ids(table.rows[2]), ["xnli", "qa"]);
});

test("coverage names the tasks with and without scores", () => {
  const data = boardData();
  data.cells.tydiqa = packed([66, 60, 54, 70, 62, 60, NaN, NaN, NaN]);
  const own = openBoard(data);
  const { covered, others } = coverage(own, standings(own, params()).rows[2]);
  assert.deepEqual(
    [covered, others].map((tasks) => tasks.map(({ id }) => id)),
    [["xnli", "xquad"], ["tydiqa"]],
  );
});

test("a profile has a system's scores and the best of any system", () => {
  const own = board();
  const rows = taskProfile(own, own.system.get("b"), own.task.get("tydiqa"));
  assert.deepEqual(
    rows.map(({ language: { code }, value, best, gap }) => [code, value, best, gap]),
    [
      ["en", 70, 70, 0],
      ["sw", 62, 62, 0],
      ["fi", 60, 60, 0],
    ],
  );
  const xnli = taskProfile(own, own.system.get("b"), own.task.get("xnli"));
  assert.deepEqual(
    xnli.map(({ value, best, gap }) => [value, best, gap]),
    [
      [82, 90, -8],
      [70, 70, 0],
    ],
  );
});

test("relative profiles average per cent of the best English score, over the same tasks for the best", () => {
  const own = board();
  const swahili = relativeProfile(own, own.system.get("a")).find(({ language: { code } }) => code === "sw");
  // XNLI 60 of 90, TyDiQA 60 of 70; the best have 70 and 62.
  assert.ok(Math.abs(swahili.value - 50 * (60 / 90 + 60 / 70)) < 1e-9);
  assert.ok(Math.abs(swahili.best - 50 * (70 / 90 + 62 / 70)) < 1e-9);
  // The third system has Swahili in TyDiQA only: its best is TyDiQA's alone.
  const third = relativeProfile(own, own.system.get("c")).find(({ language: { code } }) => code === "sw");
  assert.ok(Math.abs(third.value - (100 * 61) / 70) < 1e-9);
  assert.ok(Math.abs(third.best - (100 * 62) / 70) < 1e-9);
});

test("error rates become shares of what is right", () => {
  const data = boardData();
  data.tasks[0].lower_is_better = true;
  const own = openBoard(data);
  const task = own.task.get("xnli");
  // The lowest rate in English is 80, so 20 are right; 40 of 100 right is twice as good.
  assert.equal(englishReference(own, task).value, 80);
  assert.equal(englishPercent(own, task, 60), 200);
  assert.equal(bestInCell(own, task, "sw").value, 60);
  assert.equal(taskProfile(own, own.system.get("b"), task)[0].gap, -2);
});

test("a sentence tells where a system is close to the best, and where it is far", () => {
  const rows = [gapRow("English", -0.4), gapRow("Swahili", -7.3), gapRow("Thai", -2)];
  assert.equal(
    profileSentence(rows, false),
    "Closest to the best score in English (−0.4), farthest from it in Swahili (−7.3).",
  );
  assert.equal(
    profileSentence([...rows, gapRow("Urdu", 0)], false),
    "Has the best score in 1 of 4 languages; farthest from it in Swahili (−7.3).",
  );
  // A gap that prints as zero is none.
  assert.equal(profileSentence([gapRow("Urdu", -0.01), gapRow("Thai", 0)], false), "Has the best score in both languages.");
  assert.equal(profileSentence([gapRow("Urdu", 0)], false), "Has the best score in Urdu.");
  assert.equal(profileSentence([gapRow("Urdu", -3)], false), "Behind the best score in Urdu (−3.0).");
  assert.equal(
    profileSentence([gapRow("Urdu", 0, 61), gapRow("Thai", 0, 70)], true),
    "No other system has these scores: highest in Thai (70.0), lowest in Urdu (61.0).",
  );
});

test("the widest gaps are labelled, unless they print as zero", () => {
  const rows = [gapRow("a", -1), gapRow("b", -9), gapRow("c", -0.02), gapRow("d", -4)];
  assert.deepEqual(
    [...widestGaps(rows, 2)].map(({ language: { name } }) => name),
    ["b", "d"],
  );
  assert.deepEqual(
    [...widestGaps(rows, 4)].map(({ language: { name } }) => name),
    ["b", "d", "a"],
  );
});

test("gaps to people and gaps of transfer", () => {
  const data = boardData();
  data.averages = { xnli: { value: packed([70, 76, NaN]), low: packed([68, NaN, NaN]), high: packed([73, NaN, NaN]) } };
  const own = openBoard(data);
  const [human] = systemHumanGaps(own, own.systems[0]);
  assert.deepEqual([human.value, human.low, human.high].map((value) => value.toFixed(1)), ["-22.8", "-24.8", "-19.8"]);
  assert.equal(systemHumanGaps(own, own.systems[1])[0].low, null);
  assert.deepEqual(systemHumanGaps(own, own.systems[2]), []);
  // XNLI 80 − 60, XQuAD 70 − 60, TyDiQA 66 − (60 + 54) / 2.
  assert.deepEqual(
    transferGaps(own, own.systems[0]).map(({ label, value }) => [label, value]),
    [
      ["XNLI", 20],
      ["XQuAD", 10],
      ["TyDiQA-GoldP", 9],
    ],
  );
  // Without Swahili in XNLI there is no such gap.
  assert.equal(transferGaps(own, own.systems[2]).length, 2);
});

test("a lower error rate than people is above zero, with its interval in order", () => {
  const data = boardData();
  data.tasks[0].lower_is_better = true;
  data.averages = { xnli: { value: packed([90, NaN, NaN]), low: packed([89, NaN, NaN]), high: packed([92, NaN, NaN]) } };
  const own = openBoard(data);
  const [{ value, low, high }] = systemHumanGaps(own, own.systems[0]);
  assert.deepEqual([value, low, high].map((each) => each.toFixed(1)), ["2.8", "0.8", "3.8"]);
});

test("facts that are not disclosed share one sentence", () => {
  const { known, undisclosed } = systemFacts(board().systems[2]);
  assert.deepEqual(known.slice(0, 2), [
    ["Kind", "encoder"],
    ["Regime", "translate-train"],
  ]);
  assert.deepEqual(undisclosed.slice(0, 3), ["year", "parameters", "active parameters"]);
  // Figures that most systems lack are not asked for.
  assert.ok(!undisclosed.includes("tokens") && !undisclosed.includes("cost"));
});

test("a task's sentences: served languages and people", () => {
  const own = board();
  // Best in English 90; Swahili's 70 is 78 % of it.
  assert.equal(
    servedText(own, own.task.get("xnli")),
    "The best scores reach 80 % of the best score in English in 0 of 1 other language.",
  );
  assert.equal(
    servedText(own, own.task.get("tydiqa")),
    "The best scores reach 80 % of the best score in English in both other languages.",
  );
  const data = boardData();
  data.tasks[2] = { ...data.tasks[2], languages: ["en", "ar", "fi", "sw"], n: [9, 9, 9, 9] };
  data.cells.tydiqa = packed([[90, 60, 80, 50], [80, 55, 70, 40], Array(4).fill(NaN)].flat());
  const wide = openBoard(data);
  assert.equal(
    servedText(wide, wide.task.get("tydiqa")),
    "The best scores reach 80 % of the best score in English in 1 of 3 other languages, not in Swahili, Arabic.",
  );
  const points = [{ value: 70 }];
  assert.equal(humanText({ human: 72.5 }, points), "Human performance is 72.5, 2.5 points better than the best score.");
  assert.equal(humanText({ human: 69 }, points), "Human performance is 69.0, 1.0 points worse than the best score.");
  assert.equal(humanText({ human: 80, lower_is_better: true }, points), "Human performance is 80.0, 10.0 points worse than the best score.");
  assert.equal(humanText({ human: 70.04 }, points), "Human performance is 70.0, as the best score.");
  assert.equal(humanText({ human: null }, points), "");
});

test("a task's axis holds its best scores and people, whatever is on screen", () => {
  const data = boardData();
  const none = { value: packed([NaN, NaN, NaN]) };
  data.averages = { xnli: none, tydiqa: none };
  const own = openBoard(data);
  assert.deepEqual(columnScale(own, "xnli"), [60, 90]);
  // People reach 92.8.
  assert.deepEqual(taskAxis(own, own.task.get("xnli")), [60, 100]);
  assert.deepEqual(taskAxis(own, own.task.get("tydiqa")), [50, 70]);
});

test("long charts stand in columns of about the same height, in order", () => {
  const rows = Array.from({ length: 90 }, (_, at) => at);
  const bands = [
    { name: "Large", rows: rows.slice(0, 60) },
    { name: "Small", rows: rows.slice(60) },
  ];
  const columns = dividedBands(bands, 3);
  assert.deepEqual(columns.flat().flatMap((band) => band.rows), rows);
  assert.deepEqual(columns.map((parts) => parts.map(({ name }) => name)), [["Large"], ["Large"], ["Small"]]);
  assert.deepEqual(dividedBands(bands, 1), [bands]);
});

test("tests of the checklist have names", () => {
  assert.deepEqual(["job_vs_nationality", "checklist-animal-vs-vehicle-2", "checklist-released-comparisons"].map(testName), [
    "Job vs nationality",
    "Animal vs vehicle 2",
    "Comparisons",
  ]);
});

test("an axis holds the intervals of the scores on it", () => {
  const axis = (scale, ...figures) => wholeAxis({ scale, bands: [{ name: "", rows: figures.map((figure) => ({ label: "", figure })) }] });
  assert.deepEqual(axis([-10, 60], { value: -2.3, low: -14.1, high: 9.5 }, { value: 8, low: null, high: null }), [-20, 60]);
  assert.deepEqual(axis([70, 100], { value: 73.9, low: 68, high: 79 }, null), [60, 100]);
  // A score beyond the axis stays there with its interval.
  assert.deepEqual(axis([70, 100], { value: 5, low: 3, high: 7 }), [70, 100]);
});
