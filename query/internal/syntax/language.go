package syntax

import "slices"

// Vocabulary lists the words of a language, in capitals.
type Vocabulary struct {
	// Predicates are the words that start a predicate written as a call, such as NEAR('a', 3).
	Predicates []string
	// Statements are the words that start a statement.
	Statements []StatementWord
	// Keywords are all other words.
	Keywords []string
}

// StatementWord is a word that starts a statement.
type StatementWord struct {
	Word string
	// Expects says what must follow the word, for error messages; "" if nothing must.
	Expects string
}

// Language parses statements written with a vocabulary. It may be used concurrently.
type Language struct {
	kinds      map[string]Kind
	expects    map[string]string // by the word that starts a statement: what must follow it
	predicates []string
	statements []string
	forms      forms
}

// New returns the language with a vocabulary.
func New(v Vocabulary) *Language {
	l := &Language{kinds: make(map[string]Kind), expects: make(map[string]string)}
	for _, w := range v.Keywords {
		l.kinds[w] = Keyword
	}
	for _, w := range v.Predicates {
		l.kinds[w] = Predicate
		l.predicates = append(l.predicates, w)
	}
	for _, s := range v.Statements {
		l.kinds[s.Word] = Keyword
		l.expects[s.Word] = s.Expects
		l.statements = append(l.statements, s.Word)
	}
	return l
}

// Keywords returns every word of the language, sorted.
func (l *Language) Keywords() []string {
	words := make([]string, 0, len(l.kinds))
	for w := range l.kinds {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}
