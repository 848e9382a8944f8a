// Figures over pairs, and their bootstrap: the resamples, and so the intervals, are those of `aligner evaluate`, to the digit.

const METRICS = { aer: "AER", precision: "Precision", recall: "Recall", f1: "F1" };

// Fractions of counts; where there was nothing to get wrong, all is right.
function scoresOf({ found, sure, possible, right, allowed }) {
  const ratio = (part, whole) => (whole > 0 ? part / whole : 1);
  return {
    aer: 1 - ratio(right + allowed, found + sure),
    precision: ratio(allowed, found),
    recall: ratio(right, sure),
    f1: ratio(2 * allowed, found + possible),
  };
}

// The generator of numpy's default_rng (PCG64), whose state is given, for integers below n, as Generator.integers has them.
class Generator {
  constructor({ state, increment }) {
    const limbs = (digits) =>
      Uint32Array.from({ length: 8 }, (_, n) => parseInt(digits.slice(28 - 4 * n, 32 - 4 * n), 16));
    this.state = limbs(state);
    this.increment = limbs(increment);
    this.multiplier = limbs("2360ed051fc65da44385df649fccf645");
    this.product = new Uint32Array(8);
    this.high = null;
  }

  // Numbers of 128 bits are eight of 16, the lowest first.
  next32() {
    if (this.high !== null) {
      const kept = this.high;
      this.high = null;
      return kept;
    }
    const { state, increment, multiplier, product } = this;
    let carry = 0;
    for (let n = 0; n < 8; n++) {
      let total = carry + increment[n];
      for (let m = 0; m <= n; m++) total += state[m] * multiplier[n - m]; // below 2^36
      product[n] = total & 0xffff;
      carry = Math.floor(total / 0x10000);
    }
    state.set(product);
    const word = (n) => ((state[2 * n + 1] << 16) | state[2 * n]) >>> 0;
    const [low, high] = [word(0) ^ word(2), word(1) ^ word(3)];
    const turn = state[7] >>> 10; // the highest six bits
    const [a, b] = turn >= 32 ? [high, low] : [low, high];
    const by = turn & 31;
    const turned = (first, second) => (by ? ((first >>> by) | (second << (32 - by))) >>> 0 : first >>> 0);
    this.high = turned(b, a);
    return turned(a, b);
  }

  // Lemire's method, of 32 bits.
  below(n) {
    let product = this.next32() * n;
    if (product >>> 0 < n) {
      const least = (0x100000000 - n) % n;
      while (product >>> 0 < least) product = this.next32() * n;
    }
    return Math.floor(product / 0x100000000);
  }
}

// Resamples of pairs, drawn once: `intervals` asks for them at each threshold.
class Bootstrap {
  constructor(pairs, { resamples, confidence, state, increment }) {
    Object.assign(this, { pairs, resamples, confidence, generator: new Generator({ state, increment }) });
    this.draws = null;
  }

  draw() {
    const size = this.resamples * this.pairs;
    this.draws = this.pairs > 65536 ? new Uint32Array(size) : new Uint16Array(size);
    for (let n = 0; n < size && this.pairs > 1; n++) this.draws[n] = this.generator.below(this.pairs);
  }

  // {metric: [low, high]} of one system.  sure, possible: of gold.
  intervals(counts, sure, possible) {
    if (this.draws === null) this.draw();
    const columns = [counts.found, sure, possible, counts.sure, counts.possible];
    const values = Object.fromEntries(Object.keys(METRICS).map((metric) => [metric, new Float64Array(this.resamples)]));
    for (let b = 0; b < this.resamples; b++) {
      const totals = [0, 0, 0, 0, 0];
      for (let n = b * this.pairs; n < (b + 1) * this.pairs; n++) {
        const pair = this.draws[n];
        for (let c = 0; c < 5; c++) totals[c] += columns[c][pair];
      }
      const found = scoresOf({
        found: totals[0],
        sure: totals[1],
        possible: totals[2],
        right: totals[3],
        allowed: totals[4],
      });
      for (const metric in values) values[metric][b] = found[metric];
    }
    const ends = [(1 - this.confidence) / 2, (1 + this.confidence) / 2];
    return Object.fromEntries(
      Object.entries(values).map(([metric, those]) => [metric, ends.map((share) => quantile(those.sort(), share))]),
    );
  }
}

// As numpy interpolates between sorted values.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const [a, b] = [sorted[below], sorted[Math.min(below + 1, sorted.length - 1)]];
  const t = place - below;
  return t >= 0.5 ? b - (b - a) * (1 - t) : a + (b - a) * t;
}

// Percent with two digits as Python writes them: of two equally near ones the even, where JavaScript takes the larger.
function percent(fraction) {
  const value = 100 * fraction;
  return (value % 0.5 === 0.125 ? value - 0.001 : value).toFixed(2);
}

const intervalText = (interval) => `[${interval.map(percent).join(", ")}]`;
