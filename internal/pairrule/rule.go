// Package pairrule reads rules: expressions that say which two documents, a and b, match.
//
//	JACCARD >= 0.8 AND NUMBERS(a) = NUMBERS(b)
//	JACCARD(chars:5, text) >= 0.4 OR LEVENSHTEIN(title) >= 0.9 AND a.year = b.year
//	LEVENSHTEIN(name) >= 0.9 AND NOT (a.source = b.source OR DIFFERS('draft', 'final'))
//
//	rule.go    the parts of a rule, and its normal form
//	parse.go   the parser
//	scan.go    words and signs
//
// The package knows no documents: dedup evaluates rules.
package pairrule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/jsonfield"
)

// A Rule is an OR of Branches, each an AND of literals. As in SQL, an atom is true, false or
// unknown; it is unknown if a document lacks the value. A literal holds if its atom is true,
// or with Not if it is false.
type Rule struct {
	Text     string // as written
	Atoms    []Atom // distinct
	Branches [][]Literal
}

// A Literal is an atom or its negation.
type Literal struct {
	Atom int // its index
	Not  bool
}

// Kind is the comparison of an atom.
type Kind uint8

// The kinds of atoms.
const (
	Equal       Kind = iota // what Of says is equal in both documents
	Near                    // fingerprints, which differ in at most K bits
	Jaccard                 // texts, whose similarity is at least T
	Cosine                  // likewise
	Levenshtein             // likewise
	Contains                // texts, of which the larger one contains at least the share T of the smaller one
	Differ                  // the words that only one text has: what Words says, or what recurs, is not among them
)

// Of is the value that an atom of kind Equal compares.
type Of uint8

// What documents have.
const (
	Value   Of = iota // of a field
	Numbers           // the set of numbers in a text
	Dates             // the set of dates in a text
	Matches           // the set of matches of Pattern in a text
	Words             // the set of those of Words that are in a text
	File              // the file that a document is from
	Folder            // the folder of this file
)

// An Atom is a comparison of two documents.
type Atom struct {
	Kind Kind
	K    int     // of Near
	T    float64 // of similarities

	Unit    string // of Jaccard and Contains: "words" or "chars", or "" for what options say
	Shingle int    // of Unit

	Of       Of
	Distinct bool     // of Value: a missing value is a value, too (IS NOT DISTINCT FROM)
	Pattern  string   // of Matches: a regular expression
	Words    []string // of Words, in lower case; of Differ: pairs such as "left/right", or nil for what recurs

	// Fields are the paths of the fields that are compared. Nil means the text, as options select it.
	Fields []string

	Offset int // in Text, in bytes
}

// Recurs reports whether the atom is NOT DIFFERS(RECURRING), which only all pairs of a corpus decide.
func (a *Atom) Recurs() bool { return a.Kind == Differ && a.Words == nil }

// OfFile reports whether an atom compares the files or folders of documents.
func (a *Atom) OfFile() bool { return a.Kind == Equal && (a.Of == File || a.Of == Folder) }

// String writes an atom as it stands in a rule.
func (a *Atom) String() string {
	side := func(name, of string) string {
		if len(a.Fields) > 0 {
			of += "." + a.Fields[0]
		}
		if name == "" {
			return of
		}
		if a.Of == Matches {
			of += ", " + quoted(a.Pattern)
		}
		return name + "(" + of + ")"
	}
	if a.Kind == Differ || a.Kind == Equal && a.Of == Words {
		args := a.Fields[:len(a.Fields):len(a.Fields)]
		for _, w := range a.Words {
			args = append(args, quoted(w))
		}
		if a.Words == nil {
			args = append(args, recurring)
		}
		return "NOT DIFFERS(" + strings.Join(args, ", ") + ")"
	}
	if a.Kind == Equal {
		if a.Distinct {
			return side(extracts[a.Of], "a") + " IS NOT DISTINCT FROM " + side(extracts[a.Of], "b")
		}
		return side(extracts[a.Of], "a") + " = " + side(extracts[a.Of], "b")
	}
	var args []string
	if a.Unit != "" {
		args = append(args, fmt.Sprintf("%s:%d", a.Unit, a.Shingle))
	}
	name := measures[a.Kind]
	if args = append(args, a.Fields...); len(args) > 0 {
		name += "(" + strings.Join(args, ", ") + ")"
	}
	if a.Kind == Near {
		return fmt.Sprintf("%s <= %d", name, a.K)
	}
	return fmt.Sprintf("%s >= %v", name, a.T)
}

// extracts are the names of functions of one document; measures those of comparisons.
var (
	extracts = map[Of]string{Numbers: "NUMBERS", Dates: "DATES", Matches: "MATCHES", File: "FILE", Folder: "FOLDER"}
	measures = map[Kind]string{Near: "NEAR", Jaccard: "JACCARD", Cosine: "COSINE", Levenshtein: "LEVENSHTEIN", Contains: "CONTAINS"}
)

// recurring stands in DIFFERS for the differences that recur.
const recurring = "RECURRING"

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// And returns the rule that also requires the other one.
func (r *Rule) And(other *Rule) (*Rule, error) {
	if r == nil {
		return other, nil
	}
	if other == nil {
		return r, nil
	}
	text := "(" + r.Text + "\n) AND (" + other.Text + "\n)"
	n := normalizer{rule: &Rule{Text: text}}
	both := &node{op: and, of: []*node{n.adopt(r), n.adopt(other)}}
	return n.finish(both)
}

// Literal writes a literal as it stands in a rule.
func (r *Rule) Literal(l Literal) string {
	text := r.Atoms[l.Atom].String()
	if l.Not {
		text = strings.TrimPrefix("NOT "+text, "NOT NOT ") // NOT DIFFERS(...) is an atom
	}
	return text
}

// ComparesText reports whether the rule compares the texts of documents, and not only their fields and
// files.
func (r *Rule) ComparesText() bool {
	return slices.ContainsFunc(r.Atoms, func(a Atom) bool {
		return a.Fields == nil && !a.OfFile()
	})
}

// Alone returns the similarity of the texts that is a whole rule, or nil.
func (r *Rule) Alone() *Atom {
	a, limits := r.Limited()
	if a == nil || limits != nil || a.Unit != "" || a.Fields != nil {
		return nil
	}
	return a
}

// Limited returns the similarity of a rule that is one similarity and equalities, at most one of which
// is negated, and the rule of these equalities, nil if there are none. It returns nil for other rules.
func (r *Rule) Limited() (similarity *Atom, limits *Rule) {
	var equal []Literal
	negated := 0
	for _, l := range r.Branches[0] {
		a := &r.Atoms[l.Atom]
		switch {
		case a.Kind == Equal:
			if equal = append(equal, l); l.Not {
				negated++
			}
		case a.Kind == Differ || l.Not || similarity != nil:
			return nil, nil
		default:
			similarity = a
		}
	}
	if similarity == nil || negated > 1 || len(r.Branches) > 1 {
		return nil, nil
	}
	if equal != nil {
		limits = &Rule{Text: r.Text, Atoms: r.Atoms, Branches: [][]Literal{equal}}
	}
	return similarity, limits
}

// Equal reports whether all documents that match are equal in something; r may be nil.
func (r *Rule) Equal() bool {
	for i := 0; r != nil && i < len(r.Branches); i++ {
		if !slices.ContainsFunc(r.Branches[i], func(l Literal) bool { return !l.Not && r.Atoms[l.Atom].Kind == Equal }) {
			return false
		}
	}
	return r != nil
}

// Similarity returns the rule of one similarity of the texts.
func Similarity(kind Kind, k int, t float64) *Rule {
	a := Atom{Kind: kind, K: k, T: t}
	return &Rule{Text: a.String(), Atoms: []Atom{a}, Branches: [][]Literal{{{}}}}
}

// Agreement returns the rule of one equality, or with not of its negation; the latter needs And.
func Agreement(a Atom, not bool) *Rule {
	a.Kind = Equal
	text := a.String()
	if not {
		text = "NOT " + text
	}
	return &Rule{Text: text, Atoms: []Atom{a}, Branches: [][]Literal{{{Not: not}}}}
}

// Distinct returns the rule that two documents do not differ in one of the words, which may be
// substitutions such as "left/right", or "recurring" for the differences that recur. It needs And.
func Distinct(words []string) (*Rule, error) {
	var args []string
	for _, w := range words {
		if w != strings.ToLower(recurring) {
			args = append(args, quoted(w))
		}
	}
	if len(args) < len(words) {
		args = append(args, recurring)
	}
	p, e, err := parse("NOT DIFFERS(" + strings.Join(args, ", ") + ")")
	if err != nil {
		return nil, err
	}
	p.rule.Branches, err = p.branches(e, false)
	return p.rule, err
}

// Fields returns the distinct paths of fields that a rule names.
func (r *Rule) Fields() (paths []string) {
	seen := map[string]bool{}
	for i := range r.Atoms {
		for _, f := range r.Atoms[i].Fields {
			if !seen[f] {
				seen[f], paths = true, append(paths, f)
			}
		}
	}
	return paths
}

// A node is an expression before its normal form.
type node struct {
	op op
	of []*node // operands, one for not
	at int     // of atom: its index
}

type op uint8

const (
	atom op = iota
	not
	and
	or
)

// MostBranches limits the branches of a rule.
const MostBranches = 64

// A normalizer brings an expression into normal form.
type normalizer struct{ rule *Rule }

// add returns the node of an atom. Equal atoms are one.
func (n *normalizer) add(a Atom) *node {
	text := a.String()
	for i := range n.rule.Atoms {
		if n.rule.Atoms[i].String() == text {
			return &node{at: i}
		}
	}
	n.rule.Atoms = append(n.rule.Atoms, a)
	return &node{at: len(n.rule.Atoms) - 1}
}

// adopt returns the expression of a rule with atoms of n.
func (n *normalizer) adopt(r *Rule) *node {
	any := &node{op: or}
	for _, branch := range r.Branches {
		all := &node{op: and}
		for _, l := range branch {
			x := n.add(r.Atoms[l.Atom])
			if l.Not {
				x = &node{op: not, of: []*node{x}}
			}
			all.of = append(all.of, x)
		}
		any.of = append(any.of, all)
	}
	return any
}

// finish returns the rule of an expression.
func (n *normalizer) finish(e *node) (*Rule, error) {
	branches, err := n.branches(e, false)
	if err != nil {
		return nil, err
	}
	n.rule.Branches = branches
	if len(branches) == 0 {
		return nil, n.rule.errorf(0, "", "no two documents can match, as each part of the rule contradicts itself")
	}
	for _, b := range branches {
		finds := false
		for _, l := range b {
			finds = finds || !l.Not && n.rule.Atoms[l.Atom].Kind != Differ
		}
		if !finds {
			at := n.rule.Atoms[b[0].Atom].Offset
			return nil, n.rule.errorf(at, "add a similarity or an equality with AND, such as JACCARD >= 0.8",
				"documents that are only different cannot be listed")
		}
	}
	return n.rule, nil
}

// branches returns the normal form of an expression, or of its negation.
func (n *normalizer) branches(e *node, negated bool) (all [][]Literal, err error) {
	switch {
	case e.op == atom:
		return [][]Literal{{{e.at, negated}}}, nil
	case e.op == not:
		return n.branches(e.of[0], !negated)
	case (e.op == or) != negated:
		for _, x := range e.of {
			some, err := n.branches(x, negated)
			if err != nil {
				return nil, err
			}
			for _, b := range some {
				all = appendBranch(all, b)
			}
		}
	default:
		all = [][]Literal{nil}
		for _, x := range e.of {
			some, err := n.branches(x, negated)
			if err != nil {
				return nil, err
			}
			var product [][]Literal
			for _, b := range all {
				for _, c := range some {
					if both, ok := merged(b, c); ok {
						product = appendBranch(product, both)
					}
				}
			}
			all = product
		}
	}
	if len(all) > MostBranches {
		return nil, n.rule.errorf(0, "", "the rule has more than %d alternatives when written as an OR of ANDs", MostBranches)
	}
	return all, nil
}

// merged returns the AND of two branches, and false if they contradict each other.
func merged(b, c []Literal) (both []Literal, ok bool) {
	both = append(both, b...)
	for _, l := range c {
		known := false
		for _, m := range both {
			if m.Atom == l.Atom && m.Not != l.Not {
				return nil, false
			}
			known = known || m == l
		}
		if !known {
			both = append(both, l)
		}
	}
	return both, true
}

// appendBranch appends a branch, unless another one holds wherever it does. It drops those that
// hold only where the branch does.
func appendBranch(all [][]Literal, b []Literal) [][]Literal {
	left := all[:0:0]
	for _, c := range all {
		if includes(b, c) {
			return all
		}
		if !includes(c, b) {
			left = append(left, c)
		}
	}
	return append(left, b)
}

// includes reports whether branch b has all literals of c.
func includes(b, c []Literal) bool {
	for _, l := range c {
		found := false
		for _, m := range b {
			found = found || l == m
		}
		if !found {
			return false
		}
	}
	return true
}

// field returns the path of a field in the notation of a rule.
func field(parts []string) string { return jsonfield.JoinPath(parts) }
