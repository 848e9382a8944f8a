# Sourced by the other scripts: makes .venv if it is missing, installs this checkout there, and puts it on the PATH.
# Usage: source scripts/setup.sh [EXTRA]        needs only Python 3.11 and pip; PYTHON chooses the interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ ! -x .venv/bin/python ]; then
    "${PYTHON:-$(command -v python3.11 || command -v python3)}" -m venv .venv
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${1:+[$1]}"
export PATH="$PWD/.venv/bin:$PATH"
