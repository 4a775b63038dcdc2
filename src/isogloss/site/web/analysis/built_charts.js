// The cells with per-example results of every system.
/** @param {Detail[]} details */
export function analysedCells(details) {
  const [first, ...others] = details.map((detail) => detail?.examples ?? []);
  return (first ?? [])
    .filter((cell) => others.every((cells) => cells.includes(cell)))
    .map((cell) => {
      const at = cell.lastIndexOf("/");
      return { task: cell.slice(0, at), language: cell.slice(at + 1) };
    });
}

/** @param {any[]} options */
const singleBar = ([name, edges, n, value, low, high, ids]) => ({ name, edges, n, value, low, high, ids });
/** @param {any[]} options */
const pairBar = ([name, edges, n, own, other, value, low, high, p, flips, ids]) => ({
  name,
  edges,
  n,
  own,
  other,
  value,
  low,
  high,
  p,
  flips,
  ids,
});

// The charts by isogloss explain for one system, or for a pair.
/** @param {string} mode @param {System[]} systems @param {Detail[]} details @returns {Chart[]} */
export function builtCharts(mode, systems, details) {
  const analyses = details[0]?.analyses;
  const charts = (mode === "pairwise" ? analyses?.pairwise?.[systems[1]?.id] : analyses?.single) ?? [];
  const bar = mode === "pairwise" ? pairBar : singleBar;
  return charts.map((chart) => ({ ...chart, bars: chart.bars.map(bar) }));
}
