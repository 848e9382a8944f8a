#!/usr/bin/env bash
# Every test but the nightly ones, on all cores. Arguments go to pytest, for instance: bash scripts/test.sh -k oracles
# Pages are tested in Debian's chromium, which is installed where that can be done; elsewhere those tests skip.
# Workers share the kernels that numba keeps in __pycache__, and the models of the session (`once` in tests/conftest.py).
source "$(dirname "$0")/setup.sh" dev
if ! command -v chromium > /dev/null && command -v apt-get > /dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y chromium chromium-driver; } > /dev/null 2>&1 \
        || echo "chromium cannot be installed: tests of pages skip"
fi
exec python -m pytest -q -m "not nightly" "$@"
