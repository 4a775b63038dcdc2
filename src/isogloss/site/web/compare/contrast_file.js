import { languageName, taskName } from "../board/decode.js";
import { population } from "../board/tested_on.js";
import { verdictKind } from "./verdict.js";

/** @typedef {{ contrast: Contrast, pair: System[] }} ContrastLine */

/** @param {ContrastLine} line */
function fileVerdict({ contrast, pair }) {
  const kind = verdictKind(contrast);
  if (kind === "untested") return "not tested";
  if (kind === "open") return "not distinguishable";
  return `${pair[kind === "first" ? 0 : 1].fullName} is significantly better`;
}

// The columns of files: every contrast with its scores, interval, p-value and verdict.
/** @param {Board} board @returns {TableColumn<ContrastLine>[]} */
export const contrastColumns = (board) => [
  { id: "first_system", title: "First system", value: ({ pair }) => pair[0].fullName },
  { id: "second_system", title: "Second system", value: ({ pair }) => pair[1].fullName },
  { id: "level", title: "Level", value: ({ contrast }) => contrast.level },
  {
    id: "name",
    title: "Name",
    value: ({ contrast: { task, title, level } }) =>
      task ? taskName(board, task.id) : level === "language" ? "" : title,
  },
  { id: "language", title: "Language", value: ({ contrast: { code } }) => (code ? languageName(board, code) : "") },
  { id: "first", title: "First", numeric: true, score: true, value: ({ contrast }) => contrast.first },
  { id: "second", title: "Second", numeric: true, score: true, value: ({ contrast }) => contrast.second },
  { id: "lead", title: "Lead of the first", numeric: true, score: true, value: ({ contrast }) => contrast.lead },
  { id: "low", title: "95 % low", numeric: true, score: true, value: ({ contrast }) => contrast.low },
  { id: "high", title: "95 % high", numeric: true, score: true, value: ({ contrast }) => contrast.high },
  { id: "p", title: "p", numeric: true, value: ({ contrast }) => contrast.p },
  { id: "verdict", title: "Verdict", value: fileVerdict },
  { id: "population", title: "Population", value: ({ contrast: { test } }) => (test ? population(test) : "") },
  { id: "shared", title: "Shared", numeric: true, value: ({ contrast }) => contrast.shared || null },
];
