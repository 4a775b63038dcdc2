import { cellScore, cellTitle } from "../board/decode.js";
import { languageHeads } from "../board/families.js";
import { cellTip } from "../board/parts.js";
import { columnScale } from "../board/score_scale.js";
import { directedPaint, scorePaint } from "../charts/colour.js";
import { colourKey, heatTables, untestedKey } from "../charts/heatmap.js";
import { element, link, listed, missing } from "../page/dom.js";
import { hashOf } from "../page/state.js";
import { taskNotes } from "./score_cards.js";

// A system's scores, in the colours of each task's own scale.
/** @param {Board} board @param {System} system @param {Task[]} others tasks without any score */
export function heatSection(board, system, others) {
  const tasks = board.tasks.filter((task) => task.languages.some((code) => !missing(cellScore(task, system, code))));
  if (!tasks.length) return null;
  const languages = board.languages.filter(({ code }) => tasks.some((task) => task.place.has(code)));
  const scales = new Map(tasks.map((task) => [task, columnScale(board, task.id)]));
  const paints = new Map(tasks.map((task) => [task, directedPaint(task.lower_is_better, scales.get(task) ?? [0, 100])]));
  return element(
    "section",
    { id: "cells" },
    element("h2", {}, "Scores by task and language"),
    colourKey("worst", "best", scorePaintOfShare, [
      "on each task's own scale, beside its name · ",
      untestedKey("no score"),
      " · empty: not in the task",
    ]),
    heatTables({
      rows: tasks,
      ...languageHeads(languages, ({ code }) => hashOf(["language", code])),
      caption: "Tasks by language, in families",
      rowHead: (task) => [
        link(hashOf(["task", task.id]), cellTitle(task)),
        " ",
        element("span", { class: "of" }, (scales.get(task) ?? []).join("–")),
      ],
      value: (task, { code }) => (task.place.has(code) ? cellScore(task, system, code) : undefined),
      text: (score) => String(Math.round(score)),
      paintOf: (score, task) => paints.get(task)?.(score) ?? scorePaint(score),
      href: (task, { code }) => hashOf(["task", task.id, code]),
      tip: (task, { code }) => cellTip(board, system, task, code),
    }),
    others.length ? element("p", { class: "notes" }, `No scores on ${listed(others.map(({ name }) => name))}.`) : null,
    tasks.flatMap((task) =>
      taskNotes(board, system, task.id).map((note) => element("p", { class: "notes" }, `${task.name} `, note)),
    ),
  );
}

/** @param {number} share */
const scorePaintOfShare = (share) => scorePaint(share, 0, 1).fill;
