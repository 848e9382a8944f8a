#!/usr/bin/env bash
# Build the release and try it, up to the upload, which is left to a person: the wheel and the source archive are the
# same bits whenever they are built, the archive makes the same wheel, and in an empty environment of each supported
# Python the wheel aligns, trains, has its man page and completes words. Needs a tree without changes, and uv.
#
#     bash scripts/release.sh [FOLDER]        # dist/ without one; what is there goes
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh dev
out=${1:-dist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ -n $(git status --porcelain) ]]; then
    echo "there are changes that are not committed (git status)" >&2
    exit 1
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

build() { python -m build --outdir "$1" "${@:2}" > "$work/build.log" || { cat "$work/build.log" >&2; exit 1; }; }
rm -rf "$out"
build "$out"
build "$work/again" --sdist --wheel
(cd "$work/again" && sha256sum -- *) > "$work/sums"
(cd "$out" && sha256sum --check --quiet "$work/sums")
echo "the source archive and its wheel, and the wheel of this tree, are the same bits when they are built again"
python -m twine check --strict "$out"/*

# try_out VERSION: install the wheel in an environment of this Python, away from the checkout, and use it there.
try_out() {
    # pyenv shows only its chosen versions on the PATH.
    if ! PATH="$PATH:$(printf '%s:' ~/.pyenv/versions/"$1"*/bin)" uv venv --quiet --python "$1" "$work/$1"; then
        echo "Python $1: skipped, it is not here and could not be downloaded"
        return
    fi
    VIRTUAL_ENV="$work/$1" uv pip install --quiet "$out"/*.whl
    cd "$work/$1"
    PATH="$PWD/bin:$PATH"
    export NUMBA_CACHE_DIR="$PWD/kernels"
    sample=$(python -c 'import corpora, pathlib; print(pathlib.Path(corpora.__file__).parent / "sample")')
    aligner --help > /dev/null
    aligner align "$sample/test.en" "$sample/test.fr" -o links -q
    aligner evaluate "$sample/test.wa" links > /dev/null
    aligner train "$sample/train" -m model -q --set cross_validate=0
    aligner align "$sample/test.en" "$sample/test.fr" -m model -o learnt -q
    aligner report "$sample/test.en" "$sample/test.fr" learnt links -o page.html -q
    test -s share/man/man1/aligner.1
    [[ $(_ALIGNER_COMPLETE=complete_bash COMP_WORDS="aligner ev" COMP_CWORD=1 aligner) == evaluate ]]
    echo "Python $1: aligns, trains, reports, has its man page and completes"
}

tried=()
for version in 3.11 3.12 3.13; do
    try_out "$version" &
    tried+=($!)
done
for job in "${tried[@]}"; do
    wait "$job"
done
(cd "$out" && sha256sum -- *)
echo "not uploaded; that is: python -m twine upload $out/*"
