import { wholeShare } from "./basis.js";
import { bestScore } from "../board/relative.js";
import { cellOf, cellScore, cellTitle, loadedDetail } from "../board/decode.js";
import { intervalText } from "../board/describe.js";
import { dotRows } from "./dot_rows.js";
import { drawn, element, missing, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";

const ENGLISH_CODE = "en";

// The best score on each task in a language, with the best one in English and that of people, on one axis.
/** @param {Board} board @param {Language} language @param {Task[]} tasks @param {Basis} basis */
export function languageChart(board, language, tasks, basis) {
  const rows = tasks.map((task) => taskRow(board, language, task, basis));
  const people = tasks.some(({ human }) => !missing(human));
  return [
    dotRows(rows, { scale: [0, 100], description: `Best scores in ${language.name}, by task` }),
    chartLegend(language, people),
  ];
}

/** @param {Board} board @param {Language} language @param {Task} task @param {Basis} basis @returns {MarkedRow} */
function taskRow(board, { code, name }, task, { relative }) {
  const { value, system } = bestScore(task, code, board.systems);
  const english = task.place.has(ENGLISH_CODE) ? bestScore(task, ENGLISH_CODE, board.systems) : null;
  // Reported systems have no file with intervals.
  const cell = system && !system.reported ? cellOf(loadedDetail(system.id), task, code) : null;
  const share = relative.get(code)?.parts.find((part) => part.task === task)?.share;
  const short = `${scoreText(value)}${missing(share) || code === ENGLISH_CODE ? "" : ` · ${wholeShare(share)}`}`;
  return {
    label: cellTitle(task),
    href: hashOf(["task", task.id, code]),
    figure: { value, low: cell?.low, high: cell?.high },
    others: board.systems.map((one) => cellScore(task, one, code)).filter((score) => !missing(score)),
    marks: [
      ...(english && code !== ENGLISH_CODE
        ? [
            {
              value: english.value,
              className: "reference",
              lines: [`Best score in English: ${scoreText(english.value)}`, english.system?.fullName ?? ""],
            },
          ]
        : []),
      ...(missing(task.human)
        ? []
        : [{ value: task.human, className: "people-line", lines: [`People: ${scoreText(task.human)}`, "in English"] }]),
    ],
    text: `${short} · ${system?.fullName ?? ""}`,
    short,
    lines: [`${cellTitle(task)} in ${name}: ${scoreText(value)}`, system?.fullName ?? "", cell ? intervalText(cell) : ""],
  };
}

/** @param {Language} language @param {boolean} people */
function chartLegend({ code }, people) {
  /** @param {string} text @param {...SVGElement} shapes */
  const sign = (text, ...shapes) =>
    element("span", {}, drawn("svg", { width: 26, height: 18, "aria-hidden": "true" }, shapes), text);
  return element(
    "p",
    { class: "legend plot-legend" },
    sign(
      "best score, with its 95 % interval if known",
      drawn(
        "g",
        { class: "interval" },
        drawn("line", { x1: 3, x2: 23, y1: 9, y2: 9 }),
        drawn("circle", { cx: 13, cy: 9, r: 4.5 }),
      ),
    ),
    sign("all systems", drawn("path", { class: "rug", d: "M6 4v10M12 4v10M15 4v10M21 4v10" })),
    code === ENGLISH_CODE ? null : sign("best score in English, which the shares are of", drawn("path", { class: "reference", d: "M13 0v18" })),
    people ? sign("people", drawn("path", { class: "people-line", d: "M13 0v18" })) : null,
  );
}
