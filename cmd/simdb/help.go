package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
)

// description is the beginning of the help and of the manual page.
const description = `An embedded database for near-duplicates: have I seen something like this before?

A DB is a folder (corpus.simdb), a single table (corpus.sst) or, to read, a pattern of several ('parts/*.sst'). A FILE
holds documents: JSON lines, JSON, CSV, TSV, Parquet, WARC, mbox, plain text or fingerprints, plain or compressed with
gzip or zstd; - is standard input.

  simdb dedup crawl.jsonl -o kept.jsonl     deduplicate a file
  simdb load corpus.simdb crawl.jsonl       load it into a database
  simdb corpus.simdb "NEAR('doc-17', 3)"    search the database
  simdb corpus.simdb                        open a prompt`

// help prints the help of a command as kong does, except that it shows flags of which one is
// required, that flags of all commands are only named, and that examples come last.
func help(options kong.HelpOptions, ctx *kong.Context) error {
	var text bytes.Buffer
	to, selected := ctx.Stdout, ctx.Selected()
	ctx.Stdout = &text
	global := globalFlags(ctx.Model.Flags)
	for _, f := range global {
		f.Hidden = selected != nil
	}
	err := kong.DefaultHelpPrinter(options, ctx)
	for _, f := range global {
		f.Hidden = false
	}
	ctx.Stdout = to
	if err != nil {
		return err
	}
	if selected != nil {
		text.WriteString("\nEvery command has these flags, too; simdb --help explains them:\n")
		text.WriteString("  " + inOneLine(global) + "\n")
		writeExamples(&text, examples[commandName(selected)])
	}
	_, err = io.WriteString(to, app.CriterionUsage.Replace(text.String()))
	return err
}

// globalFlags returns those of flags that are shown.
func globalFlags(flags []*kong.Flag) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f *kong.Flag) bool { return f.Hidden })
}

// inOneLine names flags in one line.
func inOneLine(flags []*kong.Flag) string {
	var names []string
	for _, f := range flags {
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + " " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// writeExamples writes the examples of a command.
func writeExamples(b *bytes.Buffer, all []example) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\nExamples:\n")
	for _, e := range all {
		fmt.Fprintf(b, "  %s\n      %s\n", e.line, e.does)
	}
}
