import { intervalText } from "../board/describe.js";
import { languageHeads } from "../board/families.js";
import { scorePaint } from "../charts/colour.js";
import { heatTable, scoreKey } from "../charts/heatmap.js";
import { element, scoreText } from "../page/dom.js";
import { hashOf } from "../page/state.js";

// "Job vs nationality" for job_vs_nationality and checklist-job-vs-nationality.
/** @param {string} test */
export function testName(test) {
  const words = test.replace(/^checklist-(released-)?/, "").replaceAll(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {number} rate */
const errorPaint = (rate) => scorePaint(100 - rate);

/** @param {Board} board @param {SystemDetail} detail */
export function checklistSection(board, detail) {
  const rates = detail.checklist ?? [];
  if (!rates.length) return null;
  const tests = [...new Set(rates.map(({ test }) => test))];
  const others = new Map(detail.checklist_languages.map((language) => [language.code, language]));
  const codes = [...new Set(rates.map(({ language }) => language))];
  const languages = codes.flatMap((code) => board.language.get(code) ?? others.get(code) ?? []);
  const rateOf = new Map(rates.map((rate) => [`${rate.test}/${rate.language}`, rate]));
  return element(
    "section",
    {},
    element("h2", {}, "Checklist: error rates"),
    element("p", { class: "soft" }, "Share of failed cases. Lower is better."),
    scoreKey(0, 100, errorPaint),
    heatTable({
      rows: tests,
      ...languageHeads(languages, ({ code }) => (board.language.has(code) ? hashOf(["language", code]) : null)),
      caption: "Error rates by test and language",
      rowHead: testName,
      value: (test, { code }) => rateOf.get(`${test}/${code}`)?.value,
      paintOf: errorPaint,
      text: (rate) => String(Math.round(rate)),
      tip: (test, { code, name }, rate) => [
        `${testName(test)}, ${name}: ${scoreText(rate)} % errors`,
        intervalText(rateOf.get(`${test}/${code}`) ?? {}),
      ],
    }),
  );
}
