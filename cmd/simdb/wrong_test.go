package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/internal/exhaustive"
)

// wrong lists invocations that must fail with a message that contains a text, and change nothing. A
// | separates the arguments. The exit status is 2, or 1 for those that begin with "1 ".
var wrong = []struct{ args, want string }{
	// Commands.
	{"", "simdb COMMAND -h"},
	{"annotate", `unknown command "annotate", and there is no database of that name`},
	{"annotate|--help", `unknown command "annotate"`},
	{"search|x.simdb|a", `: simdb DB "NEAR('ID', 3)" finds documents`},
	{"-v", "unknown flag -v; instead: simdb -V, or --version"},
	{"dedup|in.jsonl|--threshold|0.8", "unknown flag --threshold; instead: --jaccard T"},
	{"dedup|in.jsonl|--frobnicate|8", "no flag is like it: leave it out, as in simdb dedup crawl.jsonl"},
	{"dedup|in.jsonl|--streaming", "no flag is like it"}, // not --min, which is within a word
	{"dedup|in.jsonl|--strip-accents", "instead: --fold accents"},
	{"dedup|in.jsonl|--ref-column|q", "instead: --against-text-field NAME"},
	{"dedup|in.jsonl|--record-separator|x", "--record-start"},
	{"dedup|in.jsonl|--no-hidden", "hidden files are read only with --hidden"},
	{"dedup|in.jsonl|--images|--near|3", "--images needs a value"},
	{"dedup|me@host:a.jsonl", "scp -r me@host:a.jsonl ."},
	{"dedup|user/name", "hf://datasets/user/name/**/*.parquet"},
	{"load|in.jsonl|x.simdb", "the database comes first: simdb load x.simdb in.jsonl"},
	{"scan|in.jsonl", "simdb dedup FILE -o KEPT"},
	{"dedup|in.jsonl|--against|none", "--against none: no such file or database"},
	{"match|in.jsonl|x.simdb|--near|3", "in.jsonl: not a simdb database"},
	{"lod|--help", `unknown command "lod", did you mean "load"?`},
	{"help|lod", `there is no help on "lod", did you mean load?`},
	{"tunes|in.jsonl", `did you mean "tune"?`},
	{"paln|in.jsonl", `did you mean "plan"?`},
	{"none.simdb", "none.simdb: no such database"},
	{"none.simdb|COUNT", "none.simdb: no such database"},
	{"no/such/x.simdb|--create", "no/such/x.simdb: there is no folder no/such"},
	{"plain/x.simdb|--create|COUNT", "plain/x.simdb: "},
	{"--nosuch", "unknown flag --nosuch"},
	{"x.simdb|--nosuch", "unknown flag --nosuch"},
	{"debug", `expected`},
	{"debug|lay", "lay"},
	{"completion", `expected "<shell>"`},
	{"import|x.simdb|in.jsonl", "simdb load DB FILE... stores documents"},
	{"drop|x.simdb", "rm -r removes it"},
	{"pairs|in.jsonl|--across|lang", `no document has a number, a string or a boolean in the field "lang"`},
	{"dedup|in.jsonl|--threads|2", "GOMAXPROCS=N"},
	{"export|x.simdb|--text-field|id", `"id" would be the name of two fields`},
	{"shard|steps|none", "none: there is no job; simdb shard plan makes one"},
	{"1 prints.simdb|CONTAINS(TEXT 'a b c', 0.5)", "the documents have fingerprints but no texts: NEAR compares fingerprints"},
	{"completion|tcsh", "must be one of"},
	{"version|extra", "unexpected argument extra; usage: simdb version"},
	{"dedup|in.jsonl|-q|rows.csv", "unexpected argument rows.csv: put all arguments before the flags, or all after them"},
	{"load|new.simdb|in.jsonl|--progress|often", "must be one of"},

	// Arguments that are missing or contradict each other.
	{"load", "expected"},
	{"load|new.simdb", "expected"},
	{"pairs|none|--near|3", "none: no such file or database"},
	{"review|none.jsonl|-o|r.html", "none.jsonl: no such file or database"},
	{"clusters|x.simdb|--near", "--near needs a value"},
	{"dedup|in.jsonl|--against", "--against needs a value"},
	{"x.simdb|COUNT|--json", "unknown flag --json; instead: --format json"},
	{"match|x.simdb|left.txt|--jaccard|0.8", "left.txt has fingerprints but no texts: --near K compares fingerprints"},
	{"match|x.simdb|left.txt|in.jsonl|--jaccard|0.8|--explain", "left.txt has fingerprints but no texts"},
	{"join|x.simdb|left.txt|--levenshtein|0.8", "left.txt has fingerprints but no texts"},
	{"match|prints.simdb|in.jsonl|--jaccard|0.8", "the documents have fingerprints but no texts: --near K compares fingerprints"},
	{"join|prints.simdb|in.jsonl|--jaccard|0.8", "the documents have fingerprints but no texts: --near K compares fingerprints"},
	{"1 pairs|empty.simdb|--near|3", "empty.simdb has no documents"},
	{"1 clusters|empty.simdb|--jaccard|0.8", "empty.simdb has no documents"},
	{"1 join|empty.simdb|in.jsonl|--near|3", "empty.simdb has no documents"},
	{"1 empty.simdb|NEAR(0xff, 3)", "the database has no documents"},
	{"load|new.simdb|in.jsonl|--shingle|chars", "or words:N or chars:N, such as chars:5, or tokens"},
	{"dedup", `expected "<file> ..."; the file - is standard input`},
	{"match|none.simdb|in.jsonl|--near|3", "simdb create DB"},
	{"why|x.simdb|a", `expected "<second-id>"`},
	{"why|x.simdb|zzz|a", `there is no document "zzz"`},
	{"dedup|in.jsonl|--jaccard|0.8|--verify|0.9", "--verify needs --near"},
	{"dedup|in.jsonl|--level|line|--near|3", "equal or not, or by Jaccard"},
	{"dedup|in.jsonl|--level|passage|--jaccard|0.8", "a passage is a run of equal words"},
	{"dedup|in.jsonl|--level|line|--keep|last", "--keep cannot be used with --level"},
	{"dedup|in.jsonl|--mask|number", "--mask number as an expression matches only this word: did you mean numbers? To match the word, write (number)"},
	{"dedup|in.jsonl|--mask|date", "did you mean dates?"},
	{"dedup|in.jsonl|--level|word", "must be one of"},
	{"dedup|in.jsonl|--level|paragraph|--field|text", "--field cannot be used with --level"},
	{"dedup|in.jsonl|--level|line|--bits|128", "--bits cannot be used with --level"},
	{"dedup|in.jsonl|--level|line|--text-field|text,id", "one field of a record can be cut"},
	{"dedup|in.jsonl|--level|line|--against|in.jsonl", "an input, and would be overwritten"},
	{"dedup|.|--files|--level|line", "list of paths"},
	{"dedup|in.jsonl|--level|line|--min-count|1", "at least 2"},
	{"dedup|in.jsonl|--min-count|3", "--min-count needs --level"},
	{"dedup|rows.csv|in.jsonl", "rows.csv is CSV"},
	{"pairs|x.simdb|--near|3|--jaccard|0.8", "can't be used together"},
	{"dedup|--near|3", "expected"},
	{"why|x.simdb|a", "expected"},
	{"pack|x.simdb", "expected"},
	{"ingest|x.simdb", "expected"},
	{"prune|x.simdb", "missing flags: --older=AGE"},
	{"plan", "name files, or give --n N"},
	{"plan|in.jsonl|--n|5", "name files, or give --n N"},
	{"hash", "expected"},
	{"load|new.simdb|in.jsonl|--tables|4|--layout|4:1", "set the same parameter: give only one"},
	{"load|new.simdb|in.jsonl|--no-sketch|--sketch|64", "do not apply"},
	{"dedup|in.jsonl|--near|3|--audit|a.jsonl|--no-audit", "contradict each other"},
	{"load|new.simdb|-|-", "standard input (-) can be read only once"},

	// What other programs call it, and what to type here.
	{"-header|x.simdb|COUNT", "unknown flag -header; instead: --header"},
	{"-json|x.simdb|COUNT", "unknown flag -json; instead: --format json"},
	{"x.simdb|-c|COUNT", `instead: simdb DB "STATEMENT"`},
	{"x.simdb|-format|json|COUNT", "unknown flag -format; instead: --format"},
	{"dedup|in.jsonl|--num_perm|128", "instead: --sketch N in load and create"},
	{"dedup|in.jsonl|--ngram|5", "instead: --shingle words:N or chars:N"},
	{"dedup|in.jsonl|--text_field|text", "unknown flag --text_field, did you mean \"--text-field\"?"},
	{"dedup|in.jsonl|--keep-best", "unknown flag --keep-best; instead: --keep"},
	{"dedup|-r|folder", "simdb dedup --files FOLDER"},
	{"match|-v|x.simdb|in.jsonl", "instead: simdb match --invert"},
	{"pairs|in.jsonl|--decisions|x", "unknown flag --decisions: it is a flag of dedup"},
	{"--no-color|x.simdb|COUNT", "NO_COLOR=1"},
	{"query|x.simdb|NEAR('a', 3)", `simdb DB "STATEMENT" runs a statement`},
	{"info|x.simdb", "simdb stats DB"},
	{".import|in.jsonl", "simdb DB '.import in.jsonl'"},
	{".[0].text|in.jsonl", "--text-field text"},
	{"load|in.jsonl", "the database is missing: simdb load DB in.jsonl"},
	{"load|in.jsonl|rows.csv", "the database comes first: simdb load in.simdb in.jsonl rows.csv"},
	{"match|in.jsonl|x.simdb|--jaccard|0.8", "the database comes first: simdb match x.simdb in.jsonl --jaccard 0.8"},
	{"in.jsonl|NEAR('a', 3)", `load it first: simdb load in.simdb in.jsonl; then simdb in.simdb "NEAR('a', 3)"`},
	{"why|in.jsonl|a|b", "simdb load in.simdb in.jsonl; then simdb why in.simdb a b"},
	{"export|x.simdb|out.jsonl", "-o out.jsonl writes to that file"},
	{"stats|x.simdb|x", "usage: simdb stats <db>"},
	{"x.simd|COUNT", "did you mean x.simdb?"},
	{"dedup|in.json", "did you mean in.jsonl?"},
	{"hash|some text", "echo 'some text' | simdb hash -"},
	{"x.simdb|lang|=|en", "a statement is one argument: simdb x.simdb 'lang = en'"},
	{"dedup|az://c/x.jsonl|--near|3", "pipe it: rclone cat REMOTE:c/x.jsonl | simdb dedup - --near 3"},
	{"load|x.simdb|ftp://h/x.gz", "pipe it: curl -sL ftp://h/x.gz | simdb load x.simdb -"},
	{"load|x.simdb|s3://b_/x", "it is not s3://BUCKET/KEY"},
	{"ingest|x.simdb|gs://b/x.sst", "fetch it first: gcloud storage cp gs://b/x.sst ."},
	{"dedup|in.jsonl|--against|az://c/x", "fetch it first: rclone copy REMOTE:c/x ."},
	{"dedup|in.jsonl|-o|az://c/x", "pipe it: simdb dedup in.jsonl -o - | rclone rcat REMOTE:c/x"},
	{"help|jacard", "did you mean JACCARD?"},
	{"help|nonsense", "formats"},

	// Values of flags.
	{"pairs|x.simdb|--near|65", `a distance of 65: a fingerprint has 64 bits, so K must be from 0 to 64`},
	{"pairs|x.simdb|--near|1025", `--near: "1025": K is a number of bits such as 3, from 0 to the length of a fingerprint: 64, or up to 1024 with --bits`},
	{"match|x.simdb|in.jsonl|--near|65", "K must be from 0 to 64"},
	{"join|x.simdb|in.jsonl|--near|65", "K must be from 0 to 64"},
	{"pairs|in.jsonl|--near|65", "K must be from 0 to 64"},
	{"load|new.simdb|in.jsonl|--bits|2048", "--bits 2048: the length of a fingerprint is a multiple of 64 bits, from 64 to 1024 (in simdb hash, to 4096)"},
	{"load|x.simdb|in.jsonl|--bits|128", "128"},
	{"dedup|in.jsonl|--near|65", "K must be from 0 to 64"},
	{"dedup|in.jsonl|--near|129|--bits|128", "a fingerprint has 128 bits, so K must be from 0 to 128"},
	{"hash|in.jsonl|--compare", "--compare needs two, not 1"},
	{"pairs|in.jsonl|x.simdb|--near|3", "x.simdb is a database, not a file with documents"},
	{"pairs|in.jsonl|--levenshtein|0.9|--shingle|2", "compares whole texts: --shingle does not apply"},
	{"clusters|in.jsonl|--jaccard|0.8|--estimate", "--estimate uses the sketches of a whole database"},
	{"pairs|in.jsonl|--near|64|--memory|0", "give a size above 0"},
	{"pairs|in.jsonl|--near|3|--sample|10|--memory|100", "the documents do not fit into half of --memory"},
	{"pairs|in.jsonl|--near|3|--threads|-1", "--threads -1: use 1 or more"},
	{"pairs|x.simdb|--near|-1", `--near: "-1"`},
	{"pairs|x.simdb|--near|three", `--near: "three"`},
	{"pairs|x.simdb|--near|3.5", `--near: "3.5"`},
	{"pairs|x.simdb|--near=", `--near: "": `},
	{"pairs|x.simdb|--jaccard|0", `--jaccard: "0": T is a share above 0 and up to 1`},
	{"pairs|x.simdb|--jaccard|1.5", `--jaccard: "1.5"`},
	{"pairs|x.simdb|--jaccard|120%", `--jaccard: "120%"`},
	{"pairs|x.simdb|--jaccard|NaN", `--jaccard: "NaN"`},
	{"clusters|x.simdb|--near|3|--mode|stars", "must be one of"},
	{"dedup|in.jsonl|--near|3|--keep|best", "not one of first, last, longest"},
	{"dedup|in.jsonl|--near|3|--keep|max", "needs the name of a field"},
	{"dedup|in.jsonl|--near|3|--keep|max:", "needs the name of a field"},
	{"dedup|in.jsonl|--near|3|--keep|first:x", "not one of"},
	{"dedup|in.jsonl|--near|3|--keep|min:nosuch|-o|k.jsonl", `the field "nosuch"`},
	{"dedup|fields.jsonl|--near|3|--keep|max:scor|-o|k.jsonl", `(the fields are "lang", "score"; did you mean "score"?)`},
	{"dedup|in.jsonl|--near|3|--memory|10", `--memory: "10": at least 1MiB is needed`},
	{"pairs|x.simdb|--near|3|--memory|0", `--memory: "0": give a size above 0`},
	{"x.simdb|COUNT|--memory|0B", `--memory: "0B": give a size above 0`},
	{"load|new.simdb|in.jsonl|--memory|much", `--memory: "much" is not a size such as 2GiB`},
	{"load|new.simdb|in.jsonl|--memory|-5", `--memory: "-5"`},
	{"load|new.simdb|in.jsonl|--memory|1e99GB", `--memory: `},
	{"load|new.simdb|in.jsonl|--shingle|0", `--shingle: "0": use a whole number of words, from 1 to 1024`},
	{"load|new.simdb|in.jsonl|--shingle|1025", `--shingle: "1025"`},
	{"load|new.simdb|in.jsonl|--shingle|99999999999999999999", `--shingle: "99999999999999999999"`},
	{"load|new.simdb|in.jsonl|--sketch|0", `--sketch: "0": a sketch has a whole number of hashes, from 1 to 65536`},
	{"load|new.simdb|in.jsonl|--sketch|99999999", `--sketch: "99999999"`},
	{"load|new.simdb|in.jsonl|--tables|0", `--tables: "0"`},
	{"load|new.simdb|in.jsonl|--tables|100", `--tables: "100": a database has a whole number of permuted tables, from 1 to 16`},
	{"load|new.simdb|in.jsonl|--layout|2:3", "--layout: layout 2:3: the leading blocks must be 1 to 2"},
	{"load|new.simdb|in.jsonl|--layout|four", `--layout: layout "four" is not of the form`},
	{"load|new.simdb|in.jsonl|--layout|16:8", "--layout: layout 16:8 needs 12870 tables"},
	{"load|new.simdb|in.jsonl|--min-jaccard|0", `--min-jaccard: "0": T is a share`},
	{"load|new.simdb|in.jsonl|--min-jaccard|2", `--min-jaccard: "2"`},
	{"load|new.simdb|in.jsonl|--ttl|0s", `--ttl: "0s": documents would expire at once`},
	{"load|new.simdb|in.jsonl|--ttl|tomorrow", `--ttl: "tomorrow" is not an age such as 30d`},
	{"load|new.simdb|in.jsonl|--ttl|1y", `--ttl: "1y" is not an age`},
	{"load|new.simdb|in.jsonl|--ttl|-3d", `--ttl: "-3d" is not an age`},
	{"prune|x.simdb|--older|400y", `--older: "400y" is not an age`},
	{"prune|x.simdb|--older|9999999d", `--older: "9999999d" is not an age`},
	{"prune|x.simdb|--older|", `--older: "" is not an age`},
	{"load|new.simdb|in.jsonl|--max-errors|x", `--max-errors: "x": give a whole number of lines`},
	{"load|new.simdb|in.jsonl|--on-conflict|maybe", "must be one of"},
	{"load|new.simdb|in.jsonl|--format|docx", `unknown input format "docx": one of jsonl, csv`},
	{"match|x.simdb|in.jsonl|--near|3|--format|table", `--format sets the format of the rows of --explain, which is not given`},
	{"x.simdb|COUNT|--format|xml", `unknown format "xml": it is one of table, tsv, csv`},
	{"hash|in.jsonl|--shingle|0", `--shingle: "0"`},
	{"hash|in.jsonl|--bits|100", `--bits: "100": the length of a fingerprint is a multiple of 64 bits`},
	{"hash|in.jsonl|--bits|0", `--bits: "0"`},
	{"hash|in.jsonl|--sketch|-1", `--sketch: "-1"`},
	{"plan|--n|0", `--n: "0" is not a count`},
	{"plan|--n|1e30", `--n: "1e30"`},
	{"plan|--n|5|-k|65", `-k: a distance of 65: a fingerprint has 64 bits`},
	{"plan|--n|5|--layout|x", "--layout: layout"},
	{"tune|in.jsonl|--sample|many", `--sample: "many"`},

	// Files that are not there, or are something else.
	{"load|new.simdb|none.jsonl", "none.jsonl: no such file or directory"},
	{"load|new.simdb|in.jsonl|none.jsonl", "none.jsonl: no such file or directory"},
	{"load|new.simdb|folder", "folder is a folder; --files reads the files in it, each as a document"},
	{"load|no/such/new.simdb|in.jsonl", "no/such/new.simdb: there is no folder no/such"},
	{"load|plain|in.jsonl", "plain: not a simdb database"},
	{"load|folder2|in.jsonl", "folder2: not a simdb database"},
	{"load|plain/new.simdb|in.jsonl", "plain/new.simdb: "},
	{"load|packed.sst|in.jsonl", "read-only"},
	{"load|damaged.simdb|in.jsonl", "holds tables or logs but no CATALOG"},
	{"load|x.simdb|in.jsonl|--shingle|5", "x.simdb was created with "},
	{"load|new.simdb|doc.xz", "doc.xz: it is xz-compressed"},
	{"load|new.simdb|doc.bz2", "doc.bz2: it is "},
	{"load|new.simdb|doc.zip", "doc.zip: it is "},
	{"dedup|in.jsonl|-o|plain/folder/", "-o plain/folder/: "},
	{"load|new.simdb|noise.jsonl", "no document of 2 lines could be used"},
	{"load|new.simdb|noise.jsonl|--max-errors|0", "noise.jsonl:1: "},
	{"load|new.simdb|keys.csv", `there is no column "id"`},
	{"load|new.simdb|long-id.jsonl", "no document of 1 line could be used"},
	{"dedup|noise.jsonl|--near|3|-o|k.jsonl|--max-errors|0", "noise.jsonl:1: "},
	{"dedup|none.jsonl|--near|3", "none.jsonl: no such file or directory"},
	{"dedup|in.jsonl|rows.csv|--near|3|-o|k.jsonl", "in.jsonl is JSON lines and rows.csv is CSV"},
	{"dedup|left.txt|right.txt|--near|3|-o|k.txt", "left.txt is fingerprints, hexadecimal number TAB id a line and right.txt is "},
	{"dedup|rows.csv|--near|3|-o|k.jsonl", "because the output is lines of CSV"},
	{"dedup|rows.csv|keys.csv|--near|3|--id-field|1|-o|k.csv", "keys.csv: "},
	{"dedup|cut.jsonl.gz|--near|3|-o|k.jsonl", "nothing was written, because lines would be missing"},
	{"dedup|doc.xz|--near|3|-o|k", "doc.xz: it is xz-compressed"},
	{"dedup|in.jsonl|--near|3|--audit|-", "--audit and -o are both standard output"},
	{"dedup|in.jsonl|--near|3|--rejects|-|--audit|-|-o|k.jsonl", "are both standard output"},
	{"match|none.simdb|in.jsonl|--near|3", "none.simdb: no such database"},
	{"match|x.simdb|none.jsonl|--near|3|-o|k.jsonl", "none.jsonl: no such file or directory"},
	{"match|x.simdb|cut.jsonl.gz|--near|3|-o|k.jsonl", "cut.jsonl.gz: could not be read"},
	{"match|x.simdb|rows.csv|--near|3|-o|k.jsonl", "because the output is lines of CSV"},
	{"match|x.simdb|in.jsonl|--near|3|--rejects|-", "are both standard output"},
	{"tune|none.jsonl", "none.jsonl: no such file or database"},
	{"tune|noise.jsonl", "noise.jsonl"},
	{"hash|none.txt", "none.txt: no such file or directory"},
	{"hash|folder", "folder"},
	{"plan|none.jsonl", "none.jsonl: no such file or directory"},
	{"stats|none.simdb", "none.simdb: no such database"},
	{"stats|", "<db> is empty"},
	{"|COUNT", "<db> is empty"},
	{"load||in.jsonl", "<db> is empty"},
	{"dedup|in.jsonl||--near|3", "<file> is empty"},
	{"pack|packed.sst|", "<file> is empty"},
	{"stats|plain", "plain: not a simdb database"},
	{"check|none.simdb", "none.simdb: no such database"},
	{"compact|none.simdb", "none.simdb: no such database"},
	{"compact|packed.sst", "read-only"},
	{"prune|packed.sst|--older|3d", "read-only"},
	{"why|x.simdb|a|zzz", "zzz"},
	{"why|none.simdb|a|b", "none.simdb: no such database"},
	{"pack|none.simdb|out.sst", "none.simdb: no such database"},
	{"pack|x.simdb|out.csv", "cannot write CSV, because the output is a table: use .sst"},
	{"pack|x.simdb|out", "use .sst"},
	{"pack|x.simdb|packed.sst", "packed.sst: already exists"},
	{"pack|x.simdb|no/such/out.sst", "no/such/out.sst: there is no folder no/such"},
	{"ingest|x.simdb|none.sst", "none.sst: no such file or directory"},
	{"ingest|x.simdb|plain", "plain is not a table; simdb pack makes one from a database"},
	{"ingest|x.simdb|folder", "folder"},
	{"ingest|x.simdb|cut.sst", "cut.sst is a damaged table"},
	{"ingest|x.simdb|older.sst", "simdb: older.sst: table format version 1, from before the first release: export the documents"},
	{"ingest|x.simdb|newer.sst", "simdb: newer.sst: table format version 9; this program reads 2"},
	{"debug|layout|older.sst", "simdb: older.sst: table format version 1, from before the first release: export the documents"},
	{"check|older.sst", "older.sst: table format version 1, from before the first release: export the documents"},
	{"ingest|x.simdb|flipped.sst", "ingesting flipped.sst: flipped.sst: corrupt "},
	{"ingest|none.simdb|packed.sst", "none.simdb: no such database"},
	{"debug|layout|plain", "plain"},
	{"debug|layout|none.sst", "none.sst"},
	{"1 check|damaged.simdb", "CATALOG"},

	// Outputs.
	{"pairs|x.simdb|--near|3|-o|no/such/out.csv", "-o no/such/out.csv: there is no folder no/such"},
	{"pairs|x.simdb|--near|3|-o|out.avro", "cannot write Avro: use .csv, .jsonl, .json, .tsv, with .gz or .zst, or .parquet"},
	{"pairs|x.simdb|--near|3|-o|out.parquet.gz", "Parquet compresses itself: use .parquet"},
	{"pairs|x.simdb|--near|3|-o|out.txt", "cannot write plain text: use .csv"},
	{"pairs|x.simdb|--near|3|-o|out.csv.xz", "cannot write xz: use"},
	{"pairs|x.simdb|--near|3|--format|csv|-o|out.xlsx", "cannot write Excel: use"},
	{"load|new.simdb|in.jsonl|--rejects|r.html", "--rejects r.html: cannot write HTML, because the output is lines of the input"},
	{"load|new.simdb|in.jsonl|--rejects|new.simdb", "--rejects new.simdb would overwrite the database"},

	// Statements.
	{"x.simdb|NEER('a', 3)", `unknown predicate "NEER", did you mean NEAR?`},
	{"x.simdb|NEAR('a', 65)", "65"},
	{"x.simdb|NEAR('a', 3", "Parse error"},
	{"x.simdb|GET 'none'", "none"},
	{"x.simdb|.nosuch", `unknown command ".nosuch"`},
	{"x.simdb|.read none.sql", "none.sql"},
	{"new.simdb|--create|NEER('a', 3)", "NEER"},
	{"new.simdb|--create|.output in.jsonl.parquet", "cannot write Parquet"},
	{"packed.sst|PUT {\"id\":\"q\",\"text\":\"x\"}", "read-only"},

	// Names that would drive a terminal.
	{"stats|\x1b[31mnone.simdb", `\x1b[31mnone.simdb: no such database`},
	{"load|new.simdb|no\nsuch.jsonl", `no\nsuch.jsonl: no such file or directory`},
	{"load|new.simdb|in.jsonl|--rejects|no\x07/\u202efile", `\a`},
	{"wh\x1by|x.simdb", `wh\x1by`},
}

// wrongFiles makes the files that the invocations of wrong name.
func wrongFiles(t *testing.T) {
	t.Helper()
	table, err := os.ReadFile("packed.sst")
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(table)
	flipped[len(flipped)/3] ^= 1
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 3000 {
		fmt.Fprintf(z, `{"id":"%d","text":"text %x of its own"}`+"\n", i, i*i*7919)
	}
	z.Close()
	for name, text := range map[string]string{
		"doc.xz": "\xfd7zXZ\x00aaaa", "doc.bz2": "BZh91AY&SYaaaa", "doc.zip": "PK\x03\x04aaaa", "noise.jsonl": "x\ny\n",
		"keys.csv": "key,value\n1,2\n", "rows.csv": "id,text\n1,some words\n", "cut.sst": string(table[:len(table)/2]),
		"older.sst": ofVersion(table, 1), "newer.sst": ofVersion(table, 9),
		"flipped.sst": string(flipped), "cut.jsonl.gz": string(packed.Bytes()[:packed.Len()/2]),
		"left.txt": "00000000000000ff\ta\n", "right.txt": "b\t00000000000000ff\n",
		"fields.jsonl":  `{"id":"a","text":"x y z","score":1,"lang":"en"}` + "\n",
		"long-id.jsonl": `{"id":"` + strings.Repeat("x", 70000) + `","text":"words"}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for db, from := range map[string]string{"prints.simdb": "left.txt", "empty.simdb": os.DevNull} {
		if code, _, talk := simdbHere(t, "load", db, from); code != 0 {
			t.Fatal(talk)
		}
	}
	if err := os.Mkdir("folder2", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("folder2/file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// jargon matches text that describes the program rather than the mistake.
var jargon = regexp.MustCompile(`strconv|invalid argument|<nil>|panic|goroutine|\*[a-z]+\.[A-Z]|engine\.|%!|bit int|map\[|0x[0-9a-f]{8,}`)

// likeUnix converts a message of any system to the words of Unix.
func likeUnix(message string) string {
	_, missing := os.Stat("no file has this name")
	message = strings.ReplaceAll(message, errors.Unwrap(missing).Error(), "no such file or directory")
	return strings.ReplaceAll(message, string(os.PathSeparator), "/")
}

// Every mistake is reported in plain words, with the right exit status, and leaves nothing behind.
func TestWrong(t *testing.T) {
	dir := newFolder(t)
	wrongFiles(t)
	before := listing(t, dir)
	for i := range exhaustive.Every(t, 4).Of(len(wrong)) {
		w := wrong[i]
		if runtime.GOOS == "windows" && strings.ContainsAny(w.args, "\x1b\n") && strings.Contains(w.want, "no such") {
			continue // the system rejects such names before anything looks for them
		}
		args, status := w.args, app.ExitError
		if rest, ok := strings.CutPrefix(args, "1 "); ok {
			args, status = rest, app.ExitNo
		}
		var list []string
		if args != "" {
			list = strings.Split(args, "|")
		}
		code, data, talk := simdbHere(t, list...)
		if code != status {
			t.Errorf("simdb %q: exit status %d\n%s", list, code, talk)
		}
		if said := talk + data; !strings.Contains(likeUnix(said), w.want) && !strings.Contains(said, w.want) {
			t.Errorf("simdb %q does not say %q:\n%s", list, w.want, talk)
		}
		if bad := jargon.FindString(talk); bad != "" {
			t.Errorf("simdb %q says %q:\n%s", list, bad, talk)
		}
		if strings.ContainsFunc(talk, func(r rune) bool { return unicode.IsControl(r) && r != '\n' || r == '\u202e' }) {
			t.Errorf("simdb %q: control characters: %q", list, talk)
		}
		if diff := changes(before, listing(t, dir)); len(diff) > 0 {
			t.Errorf("simdb %q: %v\n%s", list, diff, talk)
			before = listing(t, dir)
		}
		if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
			t.Errorf("simdb %q leaves %v", list, left)
		}
	}
}

// ofVersion returns a table that claims to have another format version.
func ofVersion(table []byte, version uint32) string {
	table = bytes.Clone(table)
	tail := table[len(table)-32:]
	for _, at := range [][]byte{table[8:], tail[16:]} {
		binary.LittleEndian.PutUint32(at, version)
	}
	binary.LittleEndian.PutUint32(tail[20:], crc32.Checksum(tail[:20], crc32.MakeTable(crc32.Castagnoli)))
	return string(table)
}
