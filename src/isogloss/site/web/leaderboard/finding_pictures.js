import { intervalStrip, stripAxis } from "../charts/interval.js";
import { element, nameOf, scoreText, signedText } from "../page/dom.js";
import { notesOn } from "../progress/history.js";
import { largestFamilies } from "./finding_facts.js";
import { SERVED_SHARE } from "../board/relative.js";
import { columnScale } from "../board/score_scale.js";

const MOST_SYSTEMS = 4;
const MOST_TASKS = 5;
const MOST_FAMILIES = 5;

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
    element("span"),
    stripAxis(scale),
    element("span"),
  );
}

// A square per language, by family: does a score reach the share of English?
/** @param {Language[]} languages @param {ServiceFacts} facts */
export function languagePicture(languages, { relative, service }) {
  /** @param {Language} language */
  const state = ({ code }) => {
    const share = relative.get(code)?.share;
    return share === undefined ? "untested" : share >= SERVED_SHARE ? "served" : "below";
  };
  /** @type {[string, number, string][]} */
  const keys = [
    ["served", service.served.languages.length, "reached"],
    ["below", service.unserved.languages.length, "below"],
    ["untested", service.untested.languages.length, "not compared"],
  ];
  return element(
    "div",
    { class: "picture finding-dots" },
    familyLines(languages).map(([name, own]) => [
      element("span", { class: "label" }, name),
      element(
        "span",
        { class: "squares", role: "img", "aria-label": `${own.filter((each) => state(each) === "served").length} of ${own.length} reached` },
        own.map((language) => element("i", { class: `square ${state(language)}`, title: language.name })),
      ),
    ]),
    element(
      "span",
      { class: "legend whole" },
      keys
        .filter(([, count]) => count)
        .map(([name, , text]) => element("span", {}, element("i", { class: `square ${name}` }), text)),
    ),
  );
}

// The largest families, and all others together.
/** @param {Language[]} languages @returns {[string, Language[]][]} */
function familyLines(languages) {
  const families = largestFamilies(languages);
  const large = families.slice(0, families.length > MOST_FAMILIES ? MOST_FAMILIES - 1 : MOST_FAMILIES);
  const others = families.slice(large.length).flatMap(([, own]) => own);
  return others.length ? [...large, [`${families.length - large.length} other families`, others]] : large;
}

// A dot for the best score on each task, and a line at the human score.
/** @param {Board} board @param {HumanGap[]} gaps */
export function humanPicture(board, gaps) {
  const isDoubted = gaps.some(({ task, best }) => notesOn(board, best.system, task).length);
  return element(
    "div",
    { class: "picture finding-dots" },
    shownGaps(gaps).map(({ task, best, human, gap }) => {
      const gapLine = element("i", { class: "to-human" });
      gapLine.style.setProperty("--at", `${best.value}%`);
      gapLine.style.setProperty("--human", `${human}%`);
      return [
        element("span", { class: "label" }, notesOn(board, best.system, task).length ? `${task.name} †` : task.name),
        gapLine,
        element("span", { class: "value" }, signedText(task.lower_is_better ? gap : -gap)),
      ];
    }),
    element("span"),
    element("span", { class: "legend" }, `dot: best score, line: human${isDoubted ? ", †: with a footnote" : ""}`),
    element("span"),
  );
}

// The largest gaps and the smallest one.
/** @param {HumanGap[]} gaps */
const shownGaps = (gaps) =>
  gaps.length > MOST_TASKS ? [...gaps.slice(0, MOST_TASKS - 1), gaps[gaps.length - 1]] : gaps;
