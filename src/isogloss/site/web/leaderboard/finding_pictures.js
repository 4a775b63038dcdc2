import { intervalStrip } from "../charts/interval.js";
import { element, nameOf, scoreText, signedText } from "../page/dom.js";
import { notesOn } from "../progress/history.js";
import { SERVED_SHARE } from "../board/relative.js";
import { columnScale } from "../board/score_scale.js";

// A picture is two lines high, so that the table is on the first screen.
const MOST_SYSTEMS = 2;

// The best systems' scores with their intervals, on the scale of their column.
/** @param {Standings} table @param {Standing[]} ranked */
export function leadPicture({ board, by, choice }, ranked) {
  const { kind, id } = choice.segment;
  const scale = columnScale(board, kind === "full" ? by.id : id);
  return element(
    "div",
    { class: "picture finding-dots" },
    ranked.slice(0, MOST_SYSTEMS).map(({ system, figures }) => [
      nameOf(system.name, { class: "label" }),
      intervalStrip(figures.get(by.id), scale),
      element("span", { class: "value" }, scoreText(figures.get(by.id).value)),
    ]),
  );
}

// A mark per language, in three groups: does a score reach the share of English?
/** @param {Language[]} languages @param {ServiceFacts} facts */
export function languagePicture(languages, { relative, service }) {
  /** @param {Language} language */
  const state = ({ code }) => {
    const share = relative.get(code)?.share;
    return share === undefined ? "untested" : share >= SERVED_SHARE ? "served" : "below";
  };
  /** @type {[string, number, string][]} */
  const groups = [
    ["served", service.served.languages.length, "reached"],
    ["below", service.unserved.languages.length, "below"],
    ["untested", service.untested.languages.length, "not compared"],
  ];
  const present = groups.filter(([, count]) => count);
  /** @param {string} kind */
  const marks = (kind) =>
    languages
      .filter((language) => state(language) === kind)
      .map(({ name }) => element("i", { class: `square ${kind}`, title: name }));
  return element(
    "div",
    { class: "picture" },
    element(
      "span",
      { class: "squares", role: "img", "aria-label": present.map(([, count, text]) => `${count} ${text}`).join(", ") },
      present.map(([kind]) => marks(kind)),
    ),
    element(
      "span",
      { class: "legend" },
      present.map(([kind, , text]) => element("span", {}, element("i", { class: `square ${kind}` }), text)),
    ),
  );
}

// The tasks with the largest and the smallest gap: a dot for the best score, and a line at the human score.
/** @param {Board} board @param {HumanGap[]} gaps */
export const humanPicture = (board, gaps) =>
  element(
    "div",
    { class: "picture finding-dots" },
    [...new Set([gaps[0], gaps[gaps.length - 1]])].map(({ task, best, human, gap }) => {
      const gapLine = element("i", { class: "to-human", title: "dot: best score, line: human score" });
      gapLine.style.setProperty("--at", `${best.value}%`);
      gapLine.style.setProperty("--human", `${human}%`);
      return [
        element("span", { class: "label" }, notesOn(board, best.system, task).length ? `${task.name} †` : task.name),
        gapLine,
        element("span", { class: "value" }, signedText(task.lower_is_better ? gap : -gap)),
      ];
    }),
  );
