#!/usr/bin/env bash
# The first table of docs/accuracy.md, by the commands that a user would run; each figure is compared with the table's,
# which must lie in its interval, or the table is written anew. A few minutes; needs the corpora of ALIGNER_DATA.
#
#     bash scripts/reproduce.sh [--full] [--write]         # --full: the Hansards' 674,324 pairs, too
source "$(dirname "$0")/setup.sh" ''
data=${ALIGNER_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
full='' write=''
for option; do
    case $option in
        --full) full=yes ;;
        --write) write=--write ;;
        *) echo "unknown option: $option" >&2 && exit 2 ;;
    esac
done

# first FILE N: its first N lines; whoever writes them is ended when these are there.
first() { { case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac || true; } | head -n "$2"; }

# judge NAME COLUMN LABELS LINKS: of the first lines of LINKS, which are gold-dev's.
judge() {
    head -n "$(wc -l < "$gold.wa")" "$4" > "$work/dev.links"
    aligner evaluate "$gold.wa" "$work/dev.links" --format json > "$work/judged.json"
    python - "$1" "$2" "$3" "$work/judged.json" << 'END' | tee -a "$work/figures"
import json, sys
name, column, labels, path = sys.argv[1:]
(found,) = json.load(open(path))
print(name, column, labels, found["aer"], *found["interval"], sep="\t")
END
}

# row NAME GOLD SOURCE TARGET CORPUS_SOURCE CORPUS_TARGET PAIRS [LABELS...]: three systems for one text, gold first.
row() {
    local name=$1 s=$3 t=$4 pairs=$7 labels=("${@:8}") number=0
    gold=$2
    { cat "$gold.$s"; first "$5" "$pairs"; } > "$work/text.$s"
    { cat "$gold.$t"; first "$6" "$pairs"; } > "$work/text.$t"
    for one in "${labels[@]}"; do number=$((number + $(wc -l < "$one.wa"))); done
    aligner align "$work/text.$s" "$work/text.$t" -q --unsupervised > "$work/links"
    judge "$name" unsupervised 0 "$work/links"
    aligner align "$work/text.$s" "$work/text.$t" -q > "$work/links"
    judge "$name" default 0 "$work/links"
    if ((number)); then
        aligner train "$work/text.$s" "$work/text.$t" "${labels[@]/#/--gold=}" -m "$work/model" -q --force
        aligner align "$gold.$s" "$gold.$t" -m "$work/model" -q > "$work/links"
        judge "$name" learnt "$number" "$work/links"
    fi
}

hansards=$data/hansards
for pairs in 10,000 100,000 ${full:+674,324}; do
    row "Hansards English-French, $pairs pairs" "$hansards/gold-dev" en fr \
        "$hansards/train.en.gz" "$hansards/train.fr.gz" "${pairs/,/}" "$hansards/gold-train" "$hansards/gold-trial"
done
row "English-Czech, 2,500 pairs" "$data/cs-en-possible/gold-dev" en cs \
    "$data/cs-en/text.en" "$data/cs-en/text.cs" 2500 "$data/cs-en-possible/gold-train"
row "German-English, 23,580 pairs" "$data/rwth-de-en/gold" de en \
    "$data/comtrans-de-en/train.de.gz" "$data/comtrans-de-en/train.en.gz" 23580
gold=$hansards/gold-dev
judge "GIZA++ Model 4, intersection" published 0 "$hansards/giza-dev.intersection"
judge "GIZA++ Model 4, grow-diag" published 0 "$hansards/giza-dev.grow-diag"
judge "awesome-align (mBERT, fine-tuned)" published 0 "$hansards/neural-dev.awesome-align"
judge "Cross-Align (mBERT)" published 0 "$hansards/neural-dev.cross-align"
python scripts/reproduced.py "$work/figures" $write
