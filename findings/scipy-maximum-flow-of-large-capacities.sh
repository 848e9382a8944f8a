#!/usr/bin/env bash
# scipy 1.17.1, numpy 2.4.6.
# Behaviour: `scipy.sparse.csgraph.maximum_flow` takes a matrix of int64, but computes with its capacities modulo 2**32:
# one edge of capacity 2**33 carries nothing, one of 2**32 + 5 carries 5. Nothing is raised, and nothing is warned of.
# One expects otherwise, since all that is refused are floats ("graph capacities must be integers"), int64 is what NumPy
# makes of integers, and SciPy's documentation advises to scale rational capacities to integers, which makes them large.
# networkx has the right values.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check scipy==1.17.1 numpy==2.4.6 networkx==3.6.1
"$work/env/bin/python" - << 'END'
import sys
import warnings

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

warnings.simplefilter("error")
seen = []
for capacity in (5, 2**31 - 1, 2**32 + 5, 2**33):
    edge = csr_array(np.array([[0, capacity], [0, 0]], dtype=np.int64))
    flow = int(maximum_flow(edge, 0, 1).flow_value)
    right = nx.maximum_flow_value(nx.DiGraph([(0, 1, {"capacity": capacity})]), 0, 1)
    print(f"one edge of capacity {capacity}: scipy {flow}, networkx {right}")
    seen.append(flow)
sys.exit(0 if seen == [5, 2**31 - 1, 5, 0] else "this has changed")
END
