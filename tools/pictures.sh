#!/usr/bin/env bash
# Makes the pictures of the README from real runs: docs/tour.svg, what a terminal shows, and docs/review.png,
# the page of simdb review, if there is a Chromium.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$root" && go build -o "$work/simdb" ./cmd/simdb)
cp "$root/examples/licenses.jsonl.gz" "$work"
cd "$work"
PATH=$work:$PATH
export COLUMNS=100

run() {
	echo "\$ $1"
	bash -c "$1" 2>&1 || true
	echo
}
{
	run 'simdb dedup licenses.jsonl.gz -o kept.jsonl'
	run 'simdb load licenses.simdb licenses.jsonl.gz'
	run "simdb licenses.simdb \"JACCARD('MIT', 0.7) VERIFY SHOW id, score, name\" --format table"
	run "simdb licenses.simdb \"NEARR('MIT', 3)\""
} >tour.txt

awk -v size=14 '
	{ gsub(/&/, "\\&amp;"); gsub(/</, "\\&lt;"); gsub(/>/, "\\&gt;"); line[NR] = $0; if (length($0) > wide) wide = length($0) }
	END {
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"%d\">\n", wide * size * 0.61 + 30, NR * size * 1.3 + 24, size
		print "<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#1e1e1e\"/>"
		for (i = 1; i <= NR; i++)
			printf "<text x=\"15\" y=\"%d\" fill=\"%s\" xml:space=\"preserve\">%s</text>\n", i * size * 1.3 + 10, line[i] ~ /^\$ / ? "#8ae234" : "#dddddd", line[i]
		print "</svg>"
	}' tour.txt >"$root/docs/tour.svg"

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $chromium ]]; then
	echo "docs/review.png is as it was: there is no Chromium"
	exit
fi
gunzip -c licenses.jsonl.gz | grep -v MulanPSL >latin.jsonl # browsers without fonts for Chinese show boxes
simdb dedup latin.jsonl -o kept-latin.jsonl -q
simdb review kept-latin.audit.jsonl -o review.html -q
"$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,860 --virtual-time-budget=3000 \
	--screenshot="$root/docs/review.png" "file://$work/review.html" >/dev/null 2>&1
