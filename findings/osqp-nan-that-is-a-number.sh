#!/usr/bin/env bash
# osqp 1.1.3.
# Behaviour: where there is no solution, of a problem that is primal or dual infeasible, `x` and `y` are filled with
# 2143289344.0: the bits of a NaN of 32 bits (0x7FC00000), read as an integer. So are the certificates that do not apply.
# One expects otherwise, since `numpy.isnan` is how such answers are found, the objective is 1e30 there, which is the
# library's infinity, and a number of usual size goes through whatever comes after: sums, rounding, plots, gradients.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check osqp==1.1.3 numpy==2.4.6 scipy==1.17.1
"$work/env/bin/python" - << 'END'
import sys

import numpy as np
import osqp
from scipy.sparse import csc_matrix

PROBLEMS = {  # a quadratic term, a linear one, rows, and their bounds
    "x >= 2 and x <= 1": ([[1.0]], [0.0], [[1.0], [1.0]], [2.0, -np.inf], [np.inf, 1.0]),
    "the greatest x >= 0": ([[0.0]], [-1.0], [[1.0]], [0.0], [np.inf]),
}
seen = []
for name, (quadratic, linear, rows, lower, upper) in PROBLEMS.items():
    solver = osqp.OSQP()
    vectors = [np.array(values) for values in (linear, lower, upper)]
    solver.setup(csc_matrix(quadratic), vectors[0], csc_matrix(rows), *vectors[1:], verbose=False)
    found = solver.solve()
    print(f"{name}: {found.info.status}, x = {found.x}, isnan: {np.isnan(found.x)}, y = {found.y}")
    seen += [found.info.status, *found.x, *found.y]
number = float(np.array(np.nan, np.float32).view(np.int32))
print("the bits of a float32 NaN as an integer:", number)
expected = ["primal infeasible", *[number] * 3, "dual infeasible", *[number] * 2]
sys.exit(0 if seen == expected and number == 2143289344.0 else "this has changed")
END
