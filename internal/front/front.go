// Package front has what package query says of its language to the programs of this module that
// help with typing it: the prompt and the manual. Package query fills it in.
package front

// Topic is a construct of the language as .help shows it.
type Topic struct {
	Words  []string // its keywords, in capitals
	Syntax string
	Help   string
	Rows   []Row // what docs/query.md says, in Markdown
	// Example is a predicate, as it stands in queries.
	Example string
}

// A Row is a form of a construct, its meaning, and the columns of its rows, or its message.
type Row struct{ Syntax, Meaning, Last string }

// Language is the language of statements.
var Language struct {
	// Topics are its constructs with a line of help on each. docs/query.md is complete.
	Topics []Topic
	// Keywords are all its words, in capitals, sorted: what Tab completes.
	Keywords []string
	// OneLine returns statements as they could be typed on one line: without comments, with one
	// space for every run of blanks. It returns false for a wrong token or a string over several
	// lines.
	OneLine func(text string) (string, bool)
}
