#!/usr/bin/env bash
# webvtt-py 0.6.0.
# Behaviour: `text` of a caption has character references as they are in the file, `R&amp;D` for R&D, and `save_as_srt`
# writes these letters to a SubRip file. The other way, `from_srt` keeps & and < as they are, and in WebVTT a < begins a
# tag: of the line `if 1 < 2 and 3 > 2` of a SubRip file, `text` is then `if 1  2`.
# One expects otherwise, since WebVTT allows & and < in texts only as &amp; and &lt;, SubRip has no such references,
# `text` is documented as the text without tags, which are undone, and both formats are the library's own: sentences are
# aligned with `amp` as a word, and what stands between < and > is lost on the way.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/python" -m pip install --quiet --disable-pip-version-check webvtt-py==0.6.0
cd "$work"
printf '%s\n' WEBVTT '' '00:01.000 --> 00:02.000' '<i>R&amp;D</i> says 1 &lt; 2' > a.vtt
printf '%s\n' 1 '00:00:01,000 --> 00:00:02,000' 'R&D says' 'if 1 < 2 and 3 > 2' > b.srt
"$work/env/bin/python" - << 'END'
import sys
from pathlib import Path

import webvtt

captions = webvtt.read("a.vtt")
captions.save_as_srt("a.srt")
seen = [captions[0].text, Path("a.srt").read_text().splitlines()[2]]
print("WebVTT: its text, and that of the SubRip file made of it:", seen)
captions = webvtt.from_srt("b.srt")
captions.save("b.vtt")
seen += [captions[0].text.splitlines(), Path("b.vtt").read_text().splitlines()[3:]]
print("SubRip: its text, and the lines of the WebVTT file made of it:", seen[2:])
kept = "R&amp;D says 1 &lt; 2"
expected = [kept, kept, ["R&D says", "if 1  2"], ["R&D says", "if 1 < 2 and 3 > 2"]]
sys.exit(0 if seen == expected else f"this has changed: {seen}")
END
