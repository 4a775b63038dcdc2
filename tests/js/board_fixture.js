// A small board: three systems, three tasks, four languages. The third system has partial results.
import { openBoard } from "../../src/isogloss/site/web/board/decode.js";

const FIELDS = ["id", "name", "kind", "regime", "reported", "parameters", "year", "contamination", "has_predictions"];

// Pack scores as model.py does: hundredths in 14 bits each.
export function packed(scores) {
  const bytes = new Uint8Array(Math.ceil((14 * scores.length) / 8));
  scores.forEach((score, at) => {
    const number = Number.isNaN(score) ? 2 ** 14 - 1 : Math.round(100 * score);
    for (let bit = 0; bit < 14; bit++)
      if ((number >> bit) & 1) bytes[(14 * at + bit) >> 3] |= 1 << ((14 * at + bit) & 7);
  });
  return btoa(String.fromCharCode(...bytes));
}

const task = (id, name, category, languages, metrics = ["acc"]) => ({
  id,
  name,
  category,
  kind: "classification",
  metric: metrics.length > 1 ? "score" : metrics[0],
  metrics,
  lower_is_better: false,
  languages,
  n: languages.map(() => 100),
  human: id === "xnli" ? 92.8 : null,
});

const language = (code, name, family, script = "Latn") => ({
  code,
  name,
  autonym: name,
  family,
  branch: family,
  script,
  rtl: false,
  articles: 1,
  speakers: 1e6,
  near: [],
  place: [0, 0],
});

export const boardData = () => ({
  schema: 3,
  made: "2026-01-02",
  isogloss: "1.0",
  suite: "mini",
  rule: { name: "category", text: "" },
  tasks: [
    task("xnli", "XNLI: natural language inference", "classification", ["en", "sw"]),
    task("xquad", "XQuAD: question answering", "qa", ["en", "ar"], ["f1", "em"]),
    task("tydiqa", "TyDiQA-GoldP: question answering", "qa", ["en", "sw", "fi"]),
  ],
  categories: [
    { name: "classification", tasks: ["xnli"] },
    { name: "qa", tasks: ["xquad", "tydiqa"] },
  ],
  languages: [
    language("en", "English", "Indo-European"),
    language("sw", "Swahili", "Niger-Congo"),
    language("ar", "Arabic", "Afro-Asiatic", "Arab"),
    language("fi", "Finnish", "Uralic"),
  ],
  system_fields: FIELDS,
  systems: [
    ["a", "Alpha", "encoder", "zero-shot", false, 270e6, 2020, "", true],
    ["b", "Beta", "llm", "zero-shot", true, 7e9, 2023, "declared", false],
    ["c", "Alpha", "encoder", "translate-train", false, null, null, "", true],
  ],
  cells: {
    xnli: packed([80, 60, 82, 70, 90, NaN]),
    xquad: packed([70, 60, 75, 65, 72, 62]),
    "xquad:f1": packed([75, 65, 80, 70, 77, 67]),
    tydiqa: packed([66, 60, 54, 70, 62, 60, 68, 61, 57]),
  },
  averages: {},
  ranks: {},
  own_rule: ["category"],
  example_tests: {
    overall: [[0, 1, 0.2]],
    xquad: [
      [0, 1, 0.003],
      [0, 2, 0.6],
      [1, 2, 0.008],
    ],
  },
  tests: { examples: "tested on examples", languages: "tested over languages", "": "not tested" },
});

export const board = () => openBoard(boardData());
export const params = (text = "") => new URLSearchParams(text);
