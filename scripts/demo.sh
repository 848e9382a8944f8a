#!/usr/bin/env bash
# Train on the bundled sample, align a file pair with the trained model, and print the AER report.
source "$(dirname "$0")/setup.sh" web
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sample=corpora/sample

echo "\$ aligner train $sample/train -m demo.model"
aligner train "$sample/train" -m "$out/demo.model"
echo
echo "\$ aligner align $sample/test.en $sample/test.fr -m demo.model > test.links"
aligner align "$sample/test.en" "$sample/test.fr" -m "$out/demo.model" > "$out/test.links"
paste -d '\n' <(head -2 "$sample/test.en") <(head -2 "$sample/test.fr") <(head -2 "$out/test.links")
echo
echo "\$ aligner evaluate $sample/test.wa test.links"
aligner evaluate "$sample/test.wa" "$out/test.links"
