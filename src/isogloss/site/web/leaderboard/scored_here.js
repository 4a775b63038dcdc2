import { segmentCounts } from "../board/coverage.js";
import { systemWithRegime } from "../board/describe.js";
import { FILTER_KEYS } from "../board/filters.js";
import { segmentPlace, segmentsOf } from "../board/segments.js";
import { element, link, plural } from "../page/dom.js";
import { hashOf } from "../page/state.js";

const MOST_OWN = 10;

// A few systems scored here, next to systems from papers: their owner looks for them, wherever they rank.
/** @param {Board} board */
export function scoredHere({ systems }) {
  const own = systems.filter(({ reported }) => !reported);
  return own.length <= MOST_OWN && own.length < systems.length ? own : [];
}

// Own systems that a ranking leaves out, with the part of the benchmark that ranks most of them.
/** @param {Standings} table @param {URLSearchParams} params */
export function ownElsewhere({ board, rows }, params) {
  if (FILTER_KEYS.some((key) => params.has(key))) return null;
  const shown = new Set(rows.map(({ system }) => system.id));
  const absent = scoredHere(board).filter(({ id }) => !shown.has(id));
  if (!absent.length) return null;
  const counts = segmentCounts(board, new URLSearchParams({ origin: "scored here" }));
  const [place] = segmentsOf(board)
    .filter(({ id }) => counts.get(id))
    .sort((a, b) => Number(counts.get(b.id)) - Number(counts.get(a.id)));
  return element(
    "p",
    { class: "own-elsewhere", "data-key": "own-elsewhere" },
    `${plural(absent.length, "system")} scored here ${absent.length === 1 ? "lacks" : "lack"} scores for this ranking: `,
    absent.map((system, at) => [at ? ", " : "", systemWithRegime(system)]),
    ". ",
    place
      ? link(hashOf([], { segment: place.id }), `Ranking ${segmentPlace(place)}`)
      : link(hashOf([], { coverage: "1" }), "What they cover"),
  );
}
