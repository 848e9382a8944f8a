// Figures over pairs, as `aligner evaluate` counts and prints them.

/** @type {Record<Metric, string>} */
export const METRICS = { aer: "AER", precision: "Precision", recall: "Recall", f1: "F1" };

// Fractions of counts; where there was nothing to get wrong, all is right.
/** @type {(counts: Counts) => Record<Metric, number>} */
export function scoresOf({ found, sure, possible, right, allowed }) {
  const ratio = (/** @type {number} */ part, /** @type {number} */ whole) => (whole > 0 ? part / whole : 1);
  return {
    aer: 1 - ratio(right + allowed, found + sure),
    precision: ratio(allowed, found),
    recall: ratio(right, sure),
    f1: ratio(2 * allowed, found + possible),
  };
}

// Percent with two digits as Python writes them: of two equally near ones the even, where JavaScript takes the larger.
/** @type {(fraction: number) => string} */
export function percent(fraction) {
  const value = 100 * fraction;
  return (value % 0.5 === 0.125 ? value - 0.001 : value).toFixed(2);
}

// An interval that the command has computed, in percent.
/** @type {(ends: number[]) => string} */
export const intervalText = (ends) => `[${ends.map((end) => percent(end / 100)).join(", ")}]`;
