package main

// example is a command line in the help of a command, and its effect.
type example struct{ line, does string }

// examples are the examples of each command, by its name.
var examples = map[string][]example{
	"dedup": {
		{`simdb dedup crawl.jsonl -o kept.jsonl`, "Keep the first of all documents that share 80 % of their shingles."},
		{`simdb dedup crawl.jsonl --near 6 --verify 0.7 -o kept.jsonl`, "Compare fingerprints, then the texts of those that match."},
		{`simdb dedup titles.csv --text-field title --levenshtein 0.9 -o kept.csv`, "Compare short texts by edit distance."},
		{`simdb dedup new.parquet --against corpus.simdb --keep longest -o kept.parquet`, "Also drop documents that resemble one in a database."},
		{`simdb dedup a.jsonl --against test.csv --against-text-field q --only-against`, "Drop only what a benchmark has, whose texts have another name."},
		{`simdb dedup crawl.warc.wet.gz --level line -o cut.wet.gz`, "Remove each line that has occurred before."},
		{`simdb dedup a.jsonl --level passage --against test.jsonl -o b.jsonl`, "Remove runs of 50 words that occur in a test set or earlier in the input."},
		{`simdb dedup --images pdq PICTURES/ -o kept.txt`, "List the pictures that do not resemble an earlier one."},
		{`simdb dedup crawl.jsonl --dry-run`, "Only report what would be kept."},
	},
	"match": {
		{`simdb match corpus.simdb new.jsonl --jaccard 0.8 -o fresh.jsonl`, "Copy the lines that resemble no stored document."},
		{`tail -f stream.jsonl | simdb match corpus.simdb - --near 3 --add`, "Store new documents and pass them on."},
		{`simdb match corpus.simdb new.jsonl --jaccard 0.8 --explain`, "Show what each known line resembles."},
	},
	"join": {
		{`simdb join corpus.simdb new.jsonl --jaccard 0.8 -o matches.parquet`, "All stored documents that each line resembles."},
		{`simdb join corpus.simdb fingerprints.txt --near 3 --input-format hashes`, "The same for a list of decimal fingerprints."},
		{`simdb join titles.simdb new.csv --levenshtein 0.9`, "Stored titles that differ in at most a tenth of the characters."},
		{`simdb join corpus.simdb ids.txt --ids --near 3`, "The same for stored documents, by their ids."},
	},
	"shard plan": {
		{`simdb shard plan WORK dedup 'crawl/*.jsonl.gz' -o kept/`, "Plan a run of dedup in many processes: see docs/cluster.md."},
		{`simdb shard plan WORK build 'crawl/*.jsonl.gz' -o tables/`, "Plan a table for each file."},
	},
	"shard steps":  {{`simdb shard steps WORK`, "The steps, one per line."}},
	"shard run":    {{`simdb shard run WORK route --shard 0/8`, "The first of eight shares of a step."}},
	"shard finish": {{`simdb shard finish WORK`, "Publish the outputs."}},
	"pairs": {
		{`simdb pairs crawl.jsonl --jaccard 0.8`, "All pairs in a file, the most similar first."},
		{`simdb pairs corpus.simdb --near 3 --unordered -o pairs.tsv.gz`, "All pairs in a database, in bounded memory."},
	},
	"clusters": {
		{`simdb clusters crawl.jsonl --jaccard 0.8 --format groups`, "Clusters as paragraphs of ids."},
	},
	"shell": {
		{`simdb corpus.simdb`, "A prompt; .help lists what it understands."},
		{`simdb corpus.simdb "NEAR('doc-17', 3)"`, "Documents within 3 bits of a stored one."},
		{`simdb corpus.simdb "JACCARD(TEXT 'some words', 0.5)" --format jsonl`, "Documents that share half of a text's shingles."},
		{`simdb 'parts/*.sst' "NEAR('doc-17', 3)"`, "Many tables at once."},
		{`simdb new.simdb --create < statements.txt`, "Run the statements of a file."},
	},
	"why": {{`simdb why corpus.simdb doc-17 doc-18`, "Distance, similarity and common shingles of two documents."}},
	"tune": {
		{`simdb tune crawl.jsonl`, "What each threshold finds in a file."},
		{`simdb tune corpus.simdb --html tune.html`, "The same for a database, as a web page."},
	},
	"learn": {
		{`simdb learn titles.jsonl -o titles.rule`, "Ask about 30 pairs, and write a rule."},
		{`simdb learn titles.jsonl labels.jsonl -o titles.rule`, "Learn from labels in a file."},
	},
	"plan": {
		{`simdb plan crawl.jsonl`, "Time, memory and disk space that load and dedup need."},
		{`simdb plan --n 1e9 -k 3`, "What layouts cost for a billion fingerprints."},
	},
	"review": {
		{`simdb review kept.audit.jsonl`, "Decide about what dedup has dropped, in a browser."},
		{`simdb review corpus.simdb --jaccard 0.8 --sample 200`, "Decide about 200 random pairs of a database."},
		{`simdb review rows.jsonl corpus.simdb new.jsonl`, "Decide about the rows of simdb join corpus.simdb new.jsonl."},
		{`simdb review kept.audit.jsonl -o review.html`, "Write a page that needs no running program."},
	},
	"allow":   {{`simdb allow corpus.simdb doc-17 doc-18`, "From now on neither is a duplicate of the other."}},
	"unallow": {{`simdb unallow corpus.simdb doc-17 doc-18`, "They are duplicates again."}},
	"allowed": {{`simdb allowed corpus.simdb --format jsonl`, "All recorded pairs."}},
	"apply":   {{`simdb apply corpus.simdb decisions.jsonl --dry-run`, "Only report what would be done."}},
	"hash": {
		{`simdb hash page.txt`, "Fingerprint and sketch of a text."},
		{`simdb hash docs.jsonl --input-format jsonl --text-field title,body`, "The same for each document of a file."},
		{`simdb hash --images pdq a.png b.jpg`, "Hashes of pictures."},
		{`simdb hash --files 'docs/**/*.md' --sketch 0 --bits 128`, "Fingerprints of 128 bits for many files."},
		{`simdb hash --bits 1024 --compare a.txt b.txt`, "How similar two texts are, with the error of the estimate."},
	},
	"load": {
		{`simdb load corpus.simdb crawl.jsonl.gz`, "Load a file; the database is created if there is none."},
		{`simdb load corpus.simdb --files docs --exclude '*.png'`, "Each file of a folder is a document."},
		{`simdb load corpus.simdb data.parquet --id-field meta.id --text-field body`, "Read other fields."},
		{`simdb load pictures.simdb --images pdq PICTURES/`, "Pictures, compared by a perceptual hash."},
		{`simdb load images.simdb hashes.txt --input-format hashes --no-sketch`, "Fingerprints alone."},
		{`simdb load all.simdb corpus.simdb`, "All documents of another database."},
		{`simdb load indexed.simdb docs.jsonl --index lang,meta.url`, "Index fields, so that conditions on them need not read all documents."},
	},
	"create": {
		{`simdb create feed.simdb --ttl 48h`, "An empty database whose documents expire after two days."},
		{`simdb create new.simdb --like corpus.simdb --ttl never`, "An empty database with the parameters of another, except for one."},
	},
	"rebuild": {
		{`simdb rebuild corpus.simdb chars.simdb --shingle chars:5`, "The same documents, compared by runs of five characters."},
		{`simdb rebuild corpus.simdb wide.simdb --bits 128 --containment`, "The same, with longer fingerprints and an index for CONTAINS."},
	},
	"export": {
		{`simdb export corpus.simdb -o corpus.jsonl.zst`, "All documents, as simdb load reads them."},
		{`simdb export corpus.simdb --times -o corpus.parquet`, "The same as Parquet, with the time when each was stored."},
	},
	"stats":  {{`simdb stats corpus.simdb`, "Documents, tables, sizes, merges."}},
	"fields": {{`simdb fields corpus.simdb`, "Names, types, and how many documents have each."}},
	"flush":  {{`simdb flush corpus.simdb`, "Write the newest documents to a table."}},
	"prune": {
		{`simdb prune corpus.simdb --older 48h`, "Keep the last two days."},
		{`simdb prune corpus.simdb --expired expires`, "Delete documents whose field expires is a time in the past."},
		{`simdb prune feed.simdb --ttl 72h`, "Let documents expire at 72 hours from now on."},
	},
	"compact":      {{`simdb compact corpus.simdb --rate 50MiB`, "Merge all tables slowly, so that other programs can use the disk."}},
	"changes":      {{`simdb changes corpus.simdb --since 1234 --follow`, "What has happened since change 1234, and from now on."}},
	"backup":       {{`simdb backup corpus.simdb backups/corpus`, "Make a backup; later runs copy only new tables."}},
	"pack":         {{`simdb pack corpus.simdb corpus.sst`, "Write one file, which simdb corpus.sst searches."}},
	"ingest":       {{`simdb ingest corpus.simdb 'parts/*.sst' --create`, "Make a database from tables packed on other machines."}},
	"check":        {{`simdb check corpus.simdb`, "Exit status 1 if there is damage."}},
	"repair":       {{`simdb repair corpus.simdb`, "Rebuild damaged tables in place, and remove abandoned files."}},
	"recover":      {{`simdb recover damaged.simdb new.simdb`, "Copy everything readable, and list what is lost."}},
	"debug layout": {{`simdb debug layout corpus.sst`, "Parameters, sections and sizes."}},
	"completion":   {{`simdb completion bash > ~/.local/share/bash-completion/completions/simdb`, "Install the completion for bash."}},
}
