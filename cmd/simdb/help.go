package main

import (
	"bytes"
	"io"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
)

// description is the beginning of the help and of the manual page.
const description = `An embedded database for near-duplicates: have I seen something like this before?

A DB is a folder (corpus.simdb) or a single table (corpus.sst). A FILE holds documents: JSON lines, CSV, TSV, plain
text or fingerprints, plain or compressed with gzip or zstd; - is standard input.

  simdb dedup crawl.jsonl --near 6 -o kept.jsonl   deduplicate a file
  simdb load corpus.simdb crawl.jsonl              load it into a database
  simdb corpus.simdb "NEAR('doc-17', 3)"           search the database
  simdb corpus.simdb                               open a prompt`

// help prints the help of a command as kong does, except that it shows flags of which one is
// required.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	var text bytes.Buffer
	to := ctx.Stdout
	ctx.Stdout = &text
	err := kong.DefaultHelpPrinter(options, ctx)
	ctx.Stdout = to
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, app.CriterionUsage.Replace(text.String()))
	return err
}
