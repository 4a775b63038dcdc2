import assert from "node:assert/strict";
import test from "node:test";
import { hasAnswer, meets, recommend, wishOf, wishParams } from "../../src/isogloss/site/web/finder/recommend.js";
import { joinedNames, wishCell, wishTitle } from "../../src/isogloss/site/web/finder/finder_words.js";
import { pairWords, verdictOf } from "../../src/isogloss/site/web/finder/verdict.js";
import { columnScale } from "../../src/isogloss/site/web/board/score_scale.js";
import { openBoard } from "../../src/isogloss/site/web/board/decode.js";
import { boardData, packed, params } from "./board_fixture.js";

// Three question answering tasks in two languages. Rows are systems a–e, columns English and Swahili.
//   one:   a 90 70, b 80 60, c – –,   d – 50, e – –
//   two:   a 70 40, b 80 –,  c – 65,  d – –,  e – –
//   three: Arabic and Finnish, no scores.
const NONE = NaN;
function finderData() {
  const data = boardData();
  const [xnli, , tydiqa] = data.tasks;
  const qa = (id, languages) => ({
    ...tydiqa,
    id,
    name: id,
    category: "qa",
    languages,
    n: languages.map(() => 50),
    metrics: ["f1"],
  });
  const tasks = [
    { ...xnli, languages: ["en", "sw"] },
    qa("one", ["en", "sw"]),
    qa("two", ["en", "sw"]),
    qa("three", ["ar", "fi"]),
  ];
  const fields = ["id", "name", "kind", "regime", "reported", "parameters", "open_weights", "has_predictions"];
  const systems = [
    ["a", "Alpha", "encoder", "zero-shot", false, 300e6, true, true],
    ["b", "Beta", "encoder", "zero-shot", false, 10e9, false, true],
    ["c", "Gamma", "encoder", "zero-shot", true, null, true, false],
    ["d", "Delta", "encoder", "zero-shot", true, 1e9, null, false],
    ["e", "Epsilon", "encoder", "zero-shot", true, 1e9, true, false],
  ];
  return {
    ...data,
    tasks,
    categories: [
      { name: "classification", tasks: ["xnli"] },
      { name: "qa", tasks: ["one", "two", "three"] },
    ],
    languages: data.languages.map((each) => ({ ...each, near: each.code === "fi" ? ["ar", "sw"] : [] })),
    system_fields: fields,
    systems,
    cells: {
      xnli: packed([NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 55, NONE]),
      one: packed([90, 70, 80, 60, NONE, NONE, NONE, 50, NONE, NONE]),
      two: packed([70, 40, 80, NONE, NONE, 65, NONE, NONE, NONE, NONE]),
      three: packed(Array(10).fill(NONE)),
    },
    averages: {
      one: { value: packed([80, 70, NONE, NONE, NONE]) },
      two: { value: packed([55, NONE, NONE, NONE, NONE]) },
    },
    example_tests: {},
  };
}
const finderBoard = (change = {}) => openBoard({ ...finderData(), ...change });
const find = (query, board = finderBoard()) => recommend(board, wishOf(board, params(query)));
const idsOf = ({ groups }) =>
  groups.map(({ tasks, picks }) => [tasks.map(({ id }) => id), picks.map(({ system }) => system.id)]);

test("a wish is read from the address; what is unknown counts as any", () => {
  const board = finderBoard();
  const wish = wishOf(board, params("task=qa&language=sw&open=yes&pmax=1000"));
  assert.deepEqual(wishParams(wish), { task: "qa", language: "sw", open: "yes", pmax: "1000" });
  assert.equal(wish.kind, "category");
  assert.equal(wishTitle(wish), "Question answering in Swahili, open weights, up to 1 B parameters");
  for (const query of [
    "task=__proto__&language=toString&open=1&pmax=-5",
    "pmax=1e999&task=%00",
    "pmax=NaN",
    "pmax=abc",
  ])
    assert.deepEqual(wishParams(wishOf(board, params(query))), {}, query);
  assert.equal(wishCell(wishOf(board, params("task=one"))), "one in all languages");
  assert.equal(joinedNames(["a", "b", "c"]), "a, b and c");
});

test("size and weights that are not disclosed are neither met nor failed", () => {
  const board = finderBoard();
  const wish = wishOf(board, params("open=yes&pmax=1000"));
  assert.deepEqual(
    board.systems.map((system) => meets(system, wish)),
    [true, false, undefined, undefined, true],
  );
});

test("a category is ranked on the same tasks, those with most tasks first", () => {
  const found = find("task=qa&language=sw");
  assert.equal(found.tested, 4);
  // Alpha has both tasks with Swahili data: (70 + 40) / 2 = 55. The others have one each.
  assert.deepEqual(idsOf(found), [
    [["one", "two"], ["a"]],
    [["one"], ["b", "d"]],
  ]);
  const [whole, part] = found.groups;
  assert.equal(whole.picks[0].value, 55);
  assert.deepEqual(
    part.picks.map(({ value, rank }) => [value, rank]),
    [
      [60, 2],
      [50, 3],
    ],
  );
  assert.equal(part.total, 3);
  assert.deepEqual(
    part.picks[0].lacking.map(({ id }) => id),
    ["two"],
  );
  // Gamma is better than Alpha on one of the tasks.
  assert.deepEqual(
    found.byTask.map(({ tasks, picks }) => [tasks[0].id, picks[0].system.id, picks[0].value]),
    [["two", "c", 65]],
  );
});

test("error rates are ranked from the lowest, and turned around in a mean with scores", () => {
  const data = finderData();
  const one = { ...data.tasks[1], lower_is_better: true };
  const lower = finderBoard({ tasks: [data.tasks[0], one, ...data.tasks.slice(2)] });
  assert.deepEqual(
    find("task=one&language=sw", lower).groups[0].picks.map(({ system }) => system.id),
    ["d", "b", "a"],
  );
  // (100 − 70 + 40) / 2 = 35.
  assert.equal(find("task=qa&language=sw", lower).groups[0].picks[0].value, 35);
});

test("without a language, whole averages are ranked", () => {
  const found = find("task=one");
  assert.deepEqual(
    found.groups[0].picks.map(({ system, value }) => [system.id, value]),
    [
      ["a", 80],
      ["b", 70],
    ],
  );
  assert.deepEqual(idsOf(find("task=qa")), [
    [["one", "two"], ["a"]],
    [["one"], ["b"]],
  ]);
  // No system covers the benchmark: there is the best by task, and no average over different tasks.
  const any = find("");
  assert.deepEqual(any.groups, []);
  assert.deepEqual(
    any.byTask.map(({ tasks, picks }) => [tasks[0].id, picks[0].system.id]),
    [
      ["one", "a"],
      ["two", "a"],
    ],
  );
});

test("any task in a language gives the best of each task", () => {
  const found = find("language=en");
  assert.deepEqual(found.groups, []);
  assert.deepEqual(
    found.byTask.map(({ tasks, picks, total }) => [tasks[0].id, picks[0].system.id, total]),
    [
      ["xnli", "e", 1],
      ["one", "a", 2],
      ["two", "b", 2],
    ],
  );
});

test("examples of wishes have an answer, at least in a similar language", () => {
  const board = finderBoard();
  const answered = (query) => hasAnswer(board, wishOf(board, params(query)));
  assert.ok(["task=qa&language=sw", "open=yes&pmax=1000", "task=qa&language=fi"].every(answered));
  assert.ok(!["task=qa&language=ar", "task=three", "task=one&pmax=1"].some(answered));
});

test("an untested language has a nearest tested one", () => {
  const found = find("task=qa&language=fi");
  assert.equal(found.tested, 0);
  // Arabic is nearer, but has no scores.
  assert.equal(found.near.code, "sw");
  assert.equal(find("task=qa&language=ar").near, null);
});

test("conditions that remove every system are named", () => {
  const found = find("task=one&language=sw&open=yes&pmax=100");
  assert.deepEqual([found.tested, found.kept], [3, 0]);
  // Only Alpha is known to have open weights; none is small enough.
  assert.deepEqual(found.without, { open: 0, most: 1, both: 3 });
  const known = find("task=one&language=sw&open=yes");
  assert.deepEqual([known.kept, known.undisclosed], [1, 1]);
});

test("a verdict on one cell follows from its paired tests", () => {
  const [a, b, c] = finderBoard().systems.map((system) => ({ system }));
  const tests = { "a b": 0.001, "a c": 0.2, "b c": 0.4 };
  const testOf = (sign) => (one, other) => ({ p: tests[`${one.system.id} ${other.system.id}`], difference: sign });
  assert.match(pairWords([a, b, c], testOf(2), false).text, /^Significantly better .*: Alpha than Beta\. Other pairs/);
  assert.match(pairWords([a, c], testOf(2), false).text, /^The best two are not significantly different/);
  const sure = pairWords([a, b], testOf(2), false);
  assert.ok(sure.sure && sure.text.startsWith("Alpha is significantly better than Beta"));
  // A higher error rate is worse.
  assert.ok(!pairWords([a, b], testOf(2), true).sure);
  assert.ok(pairWords([a, b], testOf(-2), true).sure);
  assert.match(pairWords([a, b], () => undefined, false).text, /no paired tests/);
});

test("what is not tested is said", () => {
  const board = finderBoard();
  const verdict = (query, at = 0) => {
    const wish = wishOf(board, params(query));
    return verdictOf(board, wish, recommend(board, wish).groups[at]).text;
  };
  assert.match(verdict("task=qa&language=sw"), /No other system/);
  assert.match(verdict("task=one&language=sw"), /Delta has only scores/);
  assert.match(verdict("task=qa&language=sw", 1), /Delta has only scores/);
  assert.equal(verdict("task=one"), "not tested");
});

test("a scale reaches the best score", () => {
  const scores = (best) => ({ value: [...Array(99).fill(50), best] });
  const averages = new Map([
    ["high", scores(97)],
    ["errors", scores(3)],
  ]);
  const task = new Map([["errors", { cells: [], lower_is_better: true }]]);
  const board = { averages, task };
  assert.deepEqual(columnScale(board, "high"), [50, 100]);
  assert.deepEqual(columnScale(board, "errors"), [0, 50]);
  assert.deepEqual(columnScale(board, "none"), [0, 100]);
});
