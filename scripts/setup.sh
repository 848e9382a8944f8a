# Sourced by the other scripts: makes .venv if it is missing, installs this checkout there, and puts it on the PATH.
# Usage: source scripts/setup.sh [EXTRA]        needs only Python 3.11 or later; PYTHON chooses the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    echo "$0: $*" >&2
    exit 1
}

# The first of some interpreters that is Python 3.11 or later.
interpreter() {
    local name
    for name in ${PYTHON:-python3.11 python3 python3.13 python3.12 python}; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
            echo "$name"
            return
        fi
    done
    return 1
}

if ! .venv/bin/python -m pip --version > /dev/null 2>&1; then  # missing, or half made
    python=$(interpreter) || fail "there is no Python 3.11 or later${PYTHON:+ in $PYTHON} (install it, or name it: PYTHON=…)"
    "$python" -m venv --clear .venv > /dev/null 2>&1 || fail "$python -m venv fails (on Debian and Ubuntu: apt install python3-venv)"
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${1:+[$1]}" \
    || fail "pip cannot install what is needed (is there a network?)"
export PATH="$PWD/.venv/bin:$PATH"
