#!/usr/bin/env bash
# The whole test suite, slow tests included. Arguments go to pytest, for instance: bash scripts/test.sh -k oracles
source "$(dirname "$0")/setup.sh" dev
exec python -m pytest -q -m "slow or not slow" "$@"
