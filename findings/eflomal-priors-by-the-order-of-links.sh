#!/usr/bin/env bash
# eflomal 2.0.0 (a program under the GPL, here run only).
# Behaviour: `calculate_priors` counts other jumps for the same links if they stand in another order on their line:
# "0-0 1-0 2-2" and "1-0 0-0 2-2" give different HMM priors of the forward direction, the same lexical ones.
# One expects otherwise, since the links of a sentence are a set: the Pharaoh format gives their order no meaning, eflomal
# and others write them sorted, but symmetrisers, set operations and hand-made files do not, and nothing says that
# priors of such files differ.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check eflomal==2.0.0
"$work/env/bin/python" - << 'END'
import sys

from eflomal import calculate_priors

found = {}
for links in ("0-0 1-0 2-2", "1-0 0-0 2-2"):
    lexical, forward, *_ = calculate_priors(["a b c"], ["x y z"], [links], [links])
    found[links] = dict(sorted(lexical.items())), dict(sorted(forward.items()))
    print(f"links {links!r}: jumps of the forward direction {found[links][1]}")
one, other = found.values()
print("lexical counts equal:", one[0] == other[0])
sys.exit(0 if one[0] == other[0] and (one[1], other[1]) == ({1: 3}, {1: 1, 2: 2}) else "this has changed")
END
