#!/usr/bin/env bash
# POT 0.9.7.post1.
# Behaviour: where costs are negative, as minus similarities are, `ot.partial.partial_wasserstein` does not look at `m`:
# asked to move a tenth of the mass, or three quarters, it moves all of it. With 1 added to each cost, which can change
# no optimal plan of mass m, it moves m. Nothing is raised, and nothing is warned of.
# One expects otherwise, since the mass m is a constraint of the problem in its documentation, `ot.emd` and
# `entropic_partial_wasserstein` take negative costs well, and an m that is too large is refused with an error: who
# aligns words by minus their similarity, to leave some without a partner, gets all of them linked.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check POT==0.9.7.post1 numpy==2.4.6 scipy==1.17.1
"$work/env/bin/python" - << 'END'
import sys
import warnings

import numpy as np
import ot

warnings.simplefilter("error")
words = np.array([0.5, 0.5])
costs = -np.array([[0.9, 0.1], [0.2, 0.4]])
plain = ot.emd(words, words, costs)
print("ot.emd with these costs:", plain.tolist())
seen = []
for mass in (0.1, 0.5, 0.75):
    as_they_are = ot.partial.partial_wasserstein(words, words, costs, m=mass).sum()
    raised = ot.partial.partial_wasserstein(words, words, costs + 1, m=mass).sum()
    entropic = ot.partial.entropic_partial_wasserstein(words, words, costs, 0.05, m=mass).sum()
    seen.append([round(float(value), 6) for value in (as_they_are, raised, entropic)])
    print(f"m = {mass}: moved {seen[-1][0]}, with costs + 1 {seen[-1][1]}, entropic {seen[-1][2]}")
expected = [[1.0, mass, mass] for mass in (0.1, 0.5, 0.75)]
sys.exit(0 if seen == expected and np.allclose(plain, np.diag(words)) else f"this has changed: {seen}")
END
