#!/usr/bin/env bash
# Build the release and try it, up to the upload, which is left to a person: the wheel and the source archive are the
# same bits whenever they are built, the archive makes the same wheel, and in an empty environment of each supported
# Python the wheel aligns, trains, has its man page and completes words, and does the same with the wheel of kernels
# that are compiled ahead, without compiling any. Needs a tree without changes, and uv.
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

# pyenv shows only its chosen versions on the PATH.
PATH="$PATH:$(printf '%s:' ~/.pyenv/versions/*/bin)"
versions=()
for version in 3.11 3.12 3.13; do
    if uv venv --quiet --python "$version" "$work/$version"; then
        versions+=("$version")
    else
        echo "Python $version: skipped, it is not here and could not be downloaded"
    fi
done
program=("$out"/bitext_aligner-*.whl)
kernels=$(python scripts/kernels.py "${program[0]}" "$out" "${versions[@]}")

# align_and_train KERNELS OUT: with a cache of kernels of its own, into files whose names begin with OUT.
align_and_train() {
    export NUMBA_CACHE_DIR="$PWD/$1"
    aligner align "$sample/test.en" "$sample/test.fr" -o "$2.links" -q
    aligner train "$sample/train" -m "$2.model" -q --set cross_validate=0
    aligner align "$sample/test.en" "$sample/test.fr" -m "$2.model" -o "$2.learnt" -q
}

# try_out VERSION: install the wheel in an environment of this Python, away from the checkout, and use it there.
try_out() {
    VIRTUAL_ENV="$work/$1" uv pip install --quiet "${program[0]}"
    cd "$work/$1"
    PATH="$PWD/bin:$PATH"
    sample=$(python -c 'import corpora, pathlib; print(pathlib.Path(corpora.__file__).parent / "sample")')
    aligner --help > /dev/null
    align_and_train compiled here
    aligner evaluate "$sample/test.wa" here.links > /dev/null
    aligner report "$sample/test.en" "$sample/test.fr" here.learnt here.links -o page.html -q
    test -s share/man/man1/aligner.1
    [[ $(_ALIGNER_COMPLETE=complete_bash COMP_WORDS="aligner ev" COMP_CWORD=1 aligner) == evaluate ]]
    echo "Python $1: aligns, trains, reports, has its man page and completes"
    VIRTUAL_ENV="$work/$1" uv pip install --quiet "$kernels"
    align_and_train copied ahead
    cmp here.links ahead.links
    cmp here.learnt ahead.learnt
    if [ -d copied/aligner-kernels-x86-64-v3-* ]; then
        [ "$(find copied -name '*.nbc' | wc -l)" = "$(find lib -path "*aligner_kernels*-${1/./}/*.nbc" | wc -l)" ]
        echo "Python $1: aligns and trains alike with kernels compiled ahead, and compiles none"
    else
        echo "Python $1: this processor is not one for kernels compiled ahead"
    fi
}

tried=()
for version in "${versions[@]}"; do
    try_out "$version" &
    tried+=($!)
done
for job in "${tried[@]}"; do
    wait "$job"
done
(cd "$out" && sha256sum -- *)
echo "not uploaded; that is: python -m twine upload $out/*"
