// The pairs of a report, as the file holds them: texts as lines, links as packed arrays, decoded as they are needed.

import { sum } from "./dom.js";
import { judge } from "./links.js";

/** @type {Record<string, any>} */
const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array };

// An array from {type, data}, little-endian bytes in base64.
/** @type {(packed: Packed) => Numbers} */
function unpacked({ type, data }) {
  const letters = atob(data);
  const bytes = new Uint8Array(letters.length);
  for (let n = 0; n < letters.length; n++) bytes[n] = letters.charCodeAt(n);
  return new ARRAYS[type](bytes.buffer);
}

// Links of all pairs: {name, source, target, scores or null, support of each pair or null, sure or null, starts}; those of pair i are starts[i]…starts[i + 1].
/** @type {(given: any) => Links} */
function unpackedLinks(given) {
  const counts = unpacked(given.counts);
  const starts = new Uint32Array(counts.length + 1);
  for (let n = 0; n < counts.length; n++) starts[n + 1] = starts[n] + counts[n];
  const [source, target] = [unpacked(given.source), unpacked(given.target)];
  const [scores, sure] = [given.scores, given.sure].map((values) => (values ? unpacked(values) : null));
  const support = given.support ? unpacked(given.support) : null;
  return { name: given.name, source, target, scores, support, sure, starts };
}

// What a report holds.
//
// given: as `aligner.pages.report` writes it
// gold: null without; judged: of each system, for each of its links, 2: sure in gold, 1: possible, 0: wrong
// counts: of each system, of each pair, |A|, |A∩S| and |A∩P| at the threshold; sure, possible: |S| and |P| of each pair
export class ReportData {
  /** @param {any} given */
  constructor(given) {
    this.given = given;
    /** @type {string[][]} */
    this.lines = [given.source, given.target].map((text) => text.split("\n"));
    /** @type {number} */
    this.pairs = given.pairs;
    /** @type {(string | null)[]} */
    this.languages = given.languages;
    /** @type {Links[]} */
    this.systems = given.systems.map(unpackedLinks);
    this.gold = given.gold ? unpackedLinks(given.gold) : null;
    /** @type {string[]} */
    this.faults = given.faults;
    this.names = this.systems.map((system) => system.name);
    this.lengths = this.lines.map((lines) => Uint32Array.from(lines, wordsIn));
    this.scored = this.systems.some((system) => system.scores !== null);
    this.judged = this.gold ? this.systems.map((system) => this.judge(system)) : null;
    this.sure = new Uint32Array(this.pairs);
    this.possible = new Uint32Array(this.pairs);
    const { gold } = this;
    for (let i = 0; gold && i < this.pairs; i++) {
      this.possible[i] = gold.starts[i + 1] - gold.starts[i];
      for (let n = gold.starts[i]; n < gold.starts[i + 1]; n++) this.sure[i] += gold.sure?.[n] ?? 0;
    }
    this.threshold = 0;
    this.least = -Infinity;
    /** @type {CountsByPair[]} */
    this.counts = [];
    this.setThreshold(0);
  }

  /** @type {(side: number, pair: number) => string[]} */
  words(side, pair) {
    const line = this.lines[side][pair];
    return line === "" ? [] : line.split(" ");
  }

  // Both lists ascend by (source, target) within a pair.
  /** @type {(links: Links) => Uint8Array} */
  judge({ source, target, starts }) {
    const judged = new Uint8Array(source.length);
    const gold = /** @type {Links} */ (this.gold);
    for (let i = 0; i < this.pairs; i++) {
      let g = gold.starts[i];
      for (let n = starts[i]; n < starts[i + 1]; n++) {
        const before = () => gold.source[g] - source[n] || gold.target[g] - target[n];
        while (g < gold.starts[i + 1] && before() < 0) g++;
        if (g < gold.starts[i + 1] && before() === 0) judged[n] = 1 + (gold.sure?.[g] ?? 0);
      }
    }
    return judged;
  }

  // Whether a link is kept: without a probability always. Scores are of 32 bits, and so must be what they are compared with.
  /** @type {(system: number, n: number) => boolean} */
  keeps(system, n) {
    const { scores } = this.systems[system];
    return scores === null || scores[n] >= this.least;
  }

  /** @type {(threshold: number) => void} */
  setThreshold(threshold) {
    this.threshold = threshold;
    this.least = threshold > 0 ? Math.fround(threshold) : -Infinity;
    this.counts = this.systems.map((system, s) => {
      const table = ["found", "sure", "possible", "mean"].map(() => new Float64Array(this.pairs));
      const [found, sure, possible, mean] = table;
      for (let i = 0; i < this.pairs; i++) {
        for (let n = system.starts[i]; n < system.starts[i + 1]; n++) {
          if (!this.keeps(s, n)) continue;
          found[i] += 1;
          if (system.scores) mean[i] += system.scores[n];
          if (!this.judged) continue;
          sure[i] += Number(this.judged[s][n] === 2);
          possible[i] += Number(this.judged[s][n] > 0);
        }
        mean[i] = !system.scores ? NaN : found[i] ? mean[i] / found[i] : 0; // of no links, as in other formats
      }
      return { found, sure, possible, mean };
    });
  }

  // AER of a pair by a system, a fraction.
  /** @type {(system: number, pair: number) => number} */
  errorRate(system, pair) {
    const counts = this.counts[system];
    const whole = counts.found[pair] + this.sure[pair];
    return whole ? 1 - (counts.sure[pair] + counts.possible[pair]) / whole : 0;
  }

  // How many links of two systems are of one of them alone.
  /** @type {(first: number, second: number, pair: number) => number} */
  difference(first, second, pair) {
    const places = [first, second].map((s) => new Set(this.linksOf(s, pair).map(([j, k]) => `${j}-${k}`)));
    return sum(places.map((own, n) => [...own].filter((place) => !places[1 - n].has(place)).length));
  }

  // [[source, target, probability or null]] of a system at the threshold.
  /** @type {(system: number, pair: number) => Scored[]} */
  linksOf(system, pair) {
    const { source, target, scores, starts } = this.systems[system];
    /** @type {Scored[]} */
    const links = [];
    for (let n = starts[pair]; n < starts[pair + 1]; n++) {
      if (this.keeps(system, n)) links.push([source[n], target[n], scores ? scores[n] : null]);
    }
    return links;
  }

  // [[source, target, sure]] or null.
  /** @type {(pair: number) => number[][] | null} */
  goldOf(pair) {
    if (!this.gold) return null;
    const { source, target, sure, starts } = this.gold;
    return Array.from({ length: starts[pair + 1] - starts[pair] }, (_, n) => n + starts[pair]).map((n) => [
      source[n],
      target[n],
      sure?.[n] ?? 0,
    ]);
  }

  // A pair as `draw` takes it.
  /** @type {(index: number, shown: Shown) => Pair} */
  pair(index, shown) {
    const systems = this.systems.map((_, system) => this.linksOf(system, index));
    const links = judge({ gold: this.goldOf(index), systems }, shown);
    return { source: this.words(0, index), target: this.words(1, index), languages: this.languages, links };
  }
}

/** @type {(line: string) => number} */
function wordsIn(line) {
  let words = line === "" ? 0 : 1;
  for (let place = line.indexOf(" "); place >= 0; place = line.indexOf(" ", place + 1)) words++;
  return words;
}
