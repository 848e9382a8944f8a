#!/usr/bin/env bash
# Every test but the nightly ones, on all cores. Arguments go to pytest, for instance: bash scripts/test.sh -k oracles
# Workers share the kernels that numba keeps in __pycache__, and the models of the session (`once` in tests/conftest.py).
source "$(dirname "$0")/setup.sh" dev
exec python -m pytest -q -m "not nightly" "$@"
