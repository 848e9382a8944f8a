// The shapes of what goes between the modules of the pages, and between them and the program; for tsc alone.

type AnyElement = HTMLInputElement & HTMLDialogElement;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => unknown)>;
type Child = Node | string | null | undefined | Child[];
type Ask = (method: "GET" | "POST", name: string, given: Record<string, any>) => Promise<any>;
type InTurn = (action: () => unknown) => Promise<void>;

type Kind =
  | "link" | "sure" | "possible" | "suggested" | "right" | "allowed" | "wrong" | "missed" | "open"
  | "first" | "firstWrong" | "second" | "secondWrong";

// A link to draw.  found: whether each of several systems has it.
interface Link { source: number; target: number; kind: Kind; probability: number | null; found: boolean[] }

interface Pair { source: string[]; target: string[]; languages?: (string | null)[]; links: Link[] }

// Links of systems, and of gold, as [source, target, probability or null] and [source, target, 1 where sure].
type Scored = [number, number, number | null];
interface Judged { gold: number[][] | null; systems: Scored[][] }
interface Shown { mode: "one" | "all" | "difference"; system: number; other: number }

interface Options {
  view?: "lines" | "matrix"; label?: string; systems: string[]; shown: Shown;
  onword?: (side: number, index: number) => void;
}

// A word as it is written, with its number among equal ones, and where.  near: where curves end.
interface Label {
  index: number; word: string; text: string; number: number | null; width: number; x: number; y: number; near: number[];
}
interface Box { x: number; y: number; width: number; height: number }
type Cell = [number, number];
type Measure = (text: string) => number;

// Of a matrix: its words follow a scroller; the cell under the mouse; the box of a cell; a bar behind a row and a column.
interface Matrix {
  stay: (scroller: Element) => void; cell: (event: MouseEvent) => Cell | null; place: (j: number, k: number) => Box;
  cross: (j: number | null, k: number | null) => void;
}

// What `drawLines` and `drawMatrix` give.
interface Drawn {
  picture: SVGElement; words: SVGElement[][]; links: SVGElement[];
  matrix?: Matrix;
}

// What `placeLines` gives: places of words, and the curve of a link, which is at point(link, t), from 0 to 1.
interface Places { width: number; height: number; across: boolean; sides: Label[][] }
interface Curves { curve: (link: Link) => string; point: (link: Link, t: number) => [string, string] }

// What `draw` gives.
interface Picture {
  svg: SVGElement | null; light: (side: number, index: number) => void; unlight: () => void; focus: () => void;
  point: (j: number, k: number) => void; matrix?: Matrix;
}

// Counts of links, and what is made of them.
interface Counts { found: number; sure: number; possible: number; right: number; allowed: number }
type Metric = "aer" | "precision" | "recall" | "f1";

// Links of all pairs: those of pair i are starts[i] … starts[i + 1].
interface Packed { type: string; data: string }
interface Links {
  name: string; source: Numbers; target: Numbers; scores: Numbers | null; support: Numbers | null;
  sure: Numbers | null; starts: Uint32Array;
}
type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array;
type CountsByPair = Record<"found" | "sure" | "possible" | "mean", Float64Array>;
type ReportData = import("./data.js").ReportData;
type Compared = { system: number; other: number };
interface Filters {
  text: string; word: string; errors: string; order: string; length: number[]; error: number[]; confidence: number[];
}

type Needs = "gold" | "scores" | "systems";
type Frequent = [string, string, number];
type Occurrence = Link & { pair: number; words: string[][] };

// Of charts.
interface Frame { body: SVGElement; x: (value: number) => number; y: (value: number) => number; step: number }
interface Point { x: number; y: number | null; detail?: number }
interface Series { name: string; points: Point[] }
interface Bars { name: string; values: number[]; className?: string }
interface Axes {
  xTitle: string; yTitle: string; categories?: string[]; xs?: number[]; fromZero?: boolean;
}
type Bin = [number, number, string];

// What the record of a model has of its training.
interface Learnt { trace?: { passes: number; primal: number; dual: number }[] }

// Of annotation: what is made of a pair, as the server has it.
type Status = "open" | "accepted" | "skipped";
interface GivenAnnotation {
  sure: Cell[]; possible: Cell[]; suggested: Cell[]; null: number[][]; status: Status; flagged: boolean; comment: string;
}
type Made = "sure" | "possible" | "suggested";
type LinkKind = Made | "none";
type Annotation = import("./annotation.js").Annotation;
interface Placed { source: number; target: number; kind: Made }

// Another annotator: the figures both ways, the pairs that differ, how many are the same, and are left to take over.
interface Other {
  name: string; pairs: number; aer: number[]; f1: number[]; kappa: number; same: number; left: number;
  different: { pair: number; words: string[]; decided: boolean }[];
}

// A row of the list of pairs.
interface Listed { pair: number; words: string[]; status: Status; flagged: boolean; comment: string }

// What the server says of a pair.
interface About {
  pair: number; source: string[]; target: string[]; work: GivenAnnotation; sides: GivenAnnotation[]; scores: number[][];
  revision: number; previous: number | null; next: number | null; following: number | null; flagged: number;
  progress: { pairs: number; accepted: number; skipped: number; pace: number | null };
}

/** Source, target, count, both probabilities, score, other forms, and places: the number of a pair, and four positions. */
type Term = [string, string, number, number, number, number, [string, string][], [number, number[]][]];

// Of tags: from a character to the end, equal at a place; and name, opening, whether it is around words, its place in the
// source from and to, and in the target.
type Place = [number, number];
type GivenTag = [string, string, boolean, number, number, number, number];
interface TaggedSegment {
  pair: number; line: number; name: string; sides: [string, string]; tags: GivenTag[]; tokens: Place[];
}
