// False discovery rates, as in metrics/discovery.py.

export const DISCOVERY_LEVEL = 0.05;

// The q of each p-value: listing those below 5 % keeps the share of false ones among them below 5 % on average
// (Benjamini and Hochberg 1995).
/** @param {number[]} tests @returns {number[]} */
export function discoveryRates(tests) {
  const order = tests.map((p, at) => ({ p, at })).sort((a, b) => b.p - a.p);
  const rates = tests.map(() => 1);
  let least = 1;
  order.forEach(({ p, at }, above) => {
    least = Math.min(least, (p * order.length) / (order.length - above));
    rates[at] = least;
  });
  return rates;
}
