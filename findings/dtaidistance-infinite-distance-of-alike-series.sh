#!/usr/bin/env bash
# dtaidistance 2.5.1, numpy 2.4.6.
# Behaviour: `dtw.distance_fast` says that the distance of two series is infinite if they are best aligned as they
# stand, item by item, and rounding is against it: for the sentence lengths 7 12 20 and 8 13 21 it is inf, where
# `distance` has 1.73. With a penalty it is inf for more, as for 12 30 7 22 4 and 12 30 7 26, whose last two are joined.
# Of 1000 pairs of three random lengths each more than a hundred are so without any option; `distance` never is.
# One expects otherwise, since no limit was given, "fast" is the same distance by its documentation, which prunes by an
# upper bound of the distance, and pruning by a bound does not change a result: pairs that are most alike become the
# most distant of all, and are the first to be dropped.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check dtaidistance==2.5.1 numpy==2.4.6
"$work/env/bin/python" - << 'END'
import random
import sys

import numpy
from dtaidistance import dtw

seen = []
for first, second, options in (
    ([7, 12, 20], [8, 13, 21], {}),
    ([7, 12, 20, 9], [8, 13, 21, 10], {}),
    ([12, 30, 7, 22, 4], [12, 30, 7, 26], {}),
    ([12, 30, 7, 22, 4], [12, 30, 7, 26], {"penalty": 1.0}),
):
    first, second = numpy.array(first, dtype=float), numpy.array(second, dtype=float)
    seen.append([round(float(f(first, second, **options)), 2) for f in (dtw.distance, dtw.distance_fast)])
    print(f"{first} and {second} {options}: distance {seen[-1][0]}, distance_fast {seen[-1][1]}")
random.seed(1)
pairs = [numpy.array([[random.randint(3, 40) for _ in range(3)] for _ in range(2)], dtype=float) for _ in range(1000)]
infinite = [sum(f(*pair) == numpy.inf for pair in pairs) for f in (dtw.distance, dtw.distance_fast)]
print(f"infinite of 1000: distance {infinite[0]}, distance_fast {infinite[1]}")
expected = [[1.73, numpy.inf], [2.0, 2.0], [22.36, 22.36], [22.38, numpy.inf]]
wrong = seen != expected or infinite[0] or infinite[1] < 100
sys.exit(f"this has changed: {seen}, {infinite}" if wrong else 0)
END
