// A cell of a notebook: the picture of one pair.

import { draw } from "./draw.js";
import { ONE, judge } from "./links.js";
import { $, given } from "./page.js";

const { pair, view } = given();
draw($("drawing"), { ...pair, links: judge(pair, ONE) }, { view, systems: [], shown: ONE });
