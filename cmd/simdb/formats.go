package main

import (
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/internal/outfile"
)

// formatName is how messages call a format of inputs.
func formatName(f input.Format) string {
	switch f {
	case input.JSONL:
		return "JSON lines"
	case input.CSV, input.TSV:
		return map[input.Format]string{input.CSV: "CSV", input.TSV: "TSV"}[f]
	case input.TXT:
		return "plain text"
	}
	return fingerprintsName
}

// fingerprintsName is how messages call lists of fingerprints.
const fingerprintsName = "fingerprints"

// linesOf is the kind of an output of lines of an input of this format.
func linesOf(f input.Format) outfile.Kind {
	switch f {
	case input.JSONL:
		return outfile.LinesOf(formatName(f), ".jsonl", ".json", ".ndjson")
	case input.CSV:
		return outfile.LinesOf(formatName(f), ".csv")
	case input.TSV:
		return outfile.LinesOf(formatName(f), ".tsv", ".tab")
	case input.TXT:
		return outfile.LinesOf(formatName(f), ".txt", ".text")
	}
	return outfile.LinesOf(formatName(f), ".tsv", ".txt", ".fps", ".fp")
}
