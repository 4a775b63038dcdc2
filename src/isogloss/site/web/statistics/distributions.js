// Student's and the normal distribution, as in metrics/student.py.
const LEVEL = 0.95;
// Differences with a smaller p-value are called significant.
export const ALPHA = 0.05;
export const NORMAL_QUANTILE = 1.959963984540054;

/** @type {Map<number, number>} */
const quantiles = new Map();

// The 97.5 % quantile of Student's t, by Newton's method from the normal quantile.
/** @param {number} freedom @returns {number} */
export function studentQuantile(freedom) {
  if (!quantiles.has(freedom)) {
    let [t, step] = [NORMAL_QUANTILE, 1];
    const peak = logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - Math.log(freedom * Math.PI) / 2;
    while (step > 1e-11 * (1 + t)) {
      const density = Math.exp(peak - ((freedom + 1) / 2) * Math.log1p((t * t) / freedom));
      step = (studentTail(t, freedom) - (1 - LEVEL) / 2) / density;
      t += step;
    }
    quantiles.set(freedom, t);
  }
  return quantiles.get(freedom) ?? NORMAL_QUANTILE;
}

// P(T >= t) of Student's t, for t >= 0.
/** @param {number} t @param {number} freedom */
export const studentTail = (t, freedom) =>
  t === Infinity ? 0 : betaShare(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;

// The regularised incomplete beta function: continued fraction DLMF 8.17.22 by Lentz's method.
/** @param {number} x @param {number} a @param {number} b @returns {number} */
function betaShare(x, a, b) {
  if (x <= 0 || x >= 1) return x >= 1 ? 1 : 0;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a);
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  let [value, inverse, ratio] = [1, 1, Infinity];
  for (let step = 1; step < 400; step++) {
    const half = Math.floor(step / 2);
    const weight = step % 2 ? -(a + half) * (a + b + half) : half * (b - half);
    const term = (weight * x) / ((a + step - 1) * (a + step));
    inverse = 1 / (1 + term * inverse);
    ratio = 1 + term / ratio;
    value *= ratio * inverse;
    if (Math.abs(ratio * inverse - 1) < 1e-15) break;
  }
  return (Math.exp(front) * value) / a;
}

// Stirling's series, after shifting small arguments up.
/** @param {number} x */
export function logGamma(x) {
  let [at, product] = [x, 1];
  while (at < 12) {
    product *= at;
    at += 1;
  }
  const inverse = 1 / (at * at);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))) / at;
  return (at - 0.5) * Math.log(at) - at + Math.log(2 * Math.PI) / 2 + series - Math.log(product);
}

// P(Z >= z) for z >= 0, from the incomplete gamma function: a series for small z, else a continued fraction (DLMF 7.9.1).
/** @param {number} z @returns {number} */
export function normalTail(z) {
  const square = (z * z) / 2;
  const density = Math.exp(-square) / Math.sqrt(2 * Math.PI);
  if (z < 3) {
    let [term, sum] = [z, z];
    for (let step = 1; term > 1e-17 * sum; step++) {
      term *= (z * z) / (2 * step + 1);
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = z;
  for (let step = 100; step > 0; step--) fraction = z + step / fraction;
  return density / fraction;
}
