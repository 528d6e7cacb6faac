// Package front offers the programs of this module more of the language of statements than package
// query exports: the prompt needs it to read, complete and explain statements, and the command to
// write its manual. Package query fills in Language.
package front

// Topic is a construct of the language as .help shows it.
type Topic struct {
	Words  []string // its keywords, in capitals
	Syntax string
	Help   string
	Rows   []Row // rows of docs/query.md, in Markdown
	// Example is a predicate, as it stands in queries.
	Example string
}

// A Row is a form of a construct, its meaning, and the columns of its rows, or its message.
type Row struct{ Syntax, Meaning, Last string }

// Piece is a statement cut from a longer text.
type Piece struct {
	Text string // without the semicolon
	Line int    // the line of the whole text on which Text starts, from 1
}

// Splitter cuts text that arrives in chunks into statements, at the semicolons that end them. It
// ignores semicolons within strings, comments and JSON, and looks at every byte once.
type Splitter interface {
	// Write adds text.
	Write(text string)
	// Next returns the next complete statement, or false if it needs more text. It skips empty
	// statements.
	Next() (Piece, bool)
	// Pending reports whether anything but white space and comments follows the last complete
	// statement.
	Pending() bool
	// Rest returns the last statement of the text, which no semicolon ended, or false if there is
	// none.
	Rest() (Piece, bool)
	// Reset drops the text that Next has not returned.
	Reset()
}

// Literal marks an argument of query.Run as a value in the syntax of statements, such as 3, 80%,
// 2d, 0xff or a string in quotes. Anything else is a string, as if it were in quotes.
type Literal string

// Language is the language of statements.
var Language struct {
	// Topics are its constructs with a line of help on each. docs/query.md is complete.
	Topics []Topic
	// Keywords are all its words, in capitals, sorted: what Tab completes.
	Keywords []string
	// Splitter returns an empty Splitter.
	Splitter func() Splitter
	// Writes reports whether a statement may change the database. Within a transaction, only COMMIT
	// may. It is false for text that is not a statement.
	Writes func(text string, transaction bool) bool
	// Searches reports whether a statement searches for matches: no rows then means "no".
	Searches func(text string) bool
	// Detail returns an error as text for a user: class, sentence and hint and, for an error at a
	// place in a statement, the line with a caret below the column. The text does not end in a
	// newline.
	Detail func(err error) string
	// OneLine returns statements as they could be typed on one line: without comments, with one
	// space for every run of blanks. It returns false for a wrong token or a string over several
	// lines.
	OneLine func(text string) (string, bool)
}
