package query

import (
	"context"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// A Query holds a statement and the values of its parameters. It is built from predicates, which
// And, Or and Not combine, and from clauses, such as Limit:
//
//	query.Near(fp, 3).And(query.Field("lang").Eq("en")).Limit(10)
//
// or from text, by Parse. Both go through the same parser, which parses each form once. The methods
// of a Query do not change it, and many goroutines may use it. Mistakes become errors when it runs.
type Query struct {
	where   string // predicates, with ? for values
	joined  string // their operator: " AND " or " OR "; "?" for parsed text, "" for a single predicate
	args    []any
	clauses string
	tail    []any // values of the clauses
}

// What is an argument that a predicate compares documents with: a fingerprint (as several words if
// it has more than 64 bits), the ID of a document, or a text.
type What interface {
	uint64 | []uint64 | engine.Fingerprint | string | Text
}

// Parse returns the query that text describes, with args as for Run. It checks only the form of the
// text; the error is a *ParseError.
func Parse(text string, args ...any) (Query, error) {
	p, err := parse(text)
	if err != nil {
		return Query{}, err
	}
	s := p.Statement.Select
	if p.def.word != "" || p.Statement.Explain != nil || s.Expr == nil {
		return Query{}, placed(text, syntax.Errorf(0, "", "this is not a query"))
	}
	last := p.End()
	for text[p.Offset(last-1)] == ';' {
		last--
	}
	end := text[:p.Offset(last)]
	if strings.Contains(end, "--") {
		end += "\n" // the newline ends the comment
	}
	if len(s.Clauses) == 0 {
		return Query{where: end, joined: "?", args: args}, nil
	}
	clauses := s.Clauses[0].Pos.Offset
	at := p.Offset(clauses)
	where := strings.TrimRight(text[:at], " ") // so that String parses to the same Query; a newline may end a comment
	q := Query{where: where, joined: "?", clauses: " " + end[at:]}
	first := 0 // number of positional parameters before the clauses
	for n := range p.Params {
		if n < clauses {
			first++
		}
	}
	for _, a := range args {
		if _, named := a.(Named); named || first > 0 {
			q.args = append(q.args, a)
			if !named {
				first--
			}
			continue
		}
		q.tail = append(q.tail, a)
	}
	return q, nil
}

// Near is NEAR(what, k): the documents whose fingerprint differs from the one of what in at most k
// bits.
func Near[W What](what W, k int) Query { return predicateOf("NEAR", what, k) }

// Nearest is NEAREST(what, n): the n documents nearest to what.
func Nearest[W What](what W, n int) Query { return predicateOf("NEAREST", what, n) }

// MostSimilar is NEAREST(what, n) BY JACCARD: the n documents most similar to what, among those
// that share any shingle or member with it. With Estimate, the sketches decide.
func MostSimilar[W What](what W, n int) Query {
	q := Nearest(what, n)
	q.where += " BY JACCARD"
	return q
}

// Jaccard is JACCARD(what, t). With Estimate, the sketches decide.
func Jaccard[W What](what W, t float64) Query { return predicateOf("JACCARD", what, t) }

// Levenshtein is LEVENSHTEIN(what, t).
func Levenshtein[W What](what W, t float64) Query { return predicateOf("LEVENSHTEIN", what, t) }

// Cosine is COSINE(what, t).
func Cosine[W What](what W, t float64) Query { return predicateOf("COSINE", what, t) }

// Contains is CONTAINS(what, t).
func Contains[W What](what W, t float64) Query { return predicateOf("CONTAINS", what, t) }

// Within is WITHIN(what, t).
func Within[W What](what W, t float64) Query { return predicateOf("WITHIN", what, t) }

// Passages is PASSAGES(what, n).
func Passages[W What](what W, n int) Query { return predicateOf("PASSAGES", what, n) }

// Since is SINCE: the documents stored at t or later.
func Since(t time.Time) Query { return Query{where: "SINCE ?", args: []any{t}} }

func predicateOf(word string, what, number any) Query {
	return Query{where: word + "(?, ?)", args: []any{what, number}}
}

// Pairs is PAIRS: the pairs of documents that match by a criterion, such as "JACCARD 0.8", or for which
// a rule holds, such as "JACCARD >= ? AND a.lang != b.lang", with args for its parameters. Its rows have
// two documents, so that it cannot be combined with predicates.
func Pairs(by string, args ...any) Query { return Query{where: "PAIRS " + by + "\n", args: args} }

// Clusters is CLUSTERS: the groups of documents that match. Its arguments are those of Pairs.
func Clusters(by string, args ...any) Query { return Query{where: "CLUSTERS " + by + "\n", args: args} }

// An Operand is the part of a document that a predicate tests: its ID, its text, or a field.
type Operand struct{ name string }

// ID and DocText are the ID and the text of a document.
var (
	ID      = Operand{"ID"}
	DocText = Operand{"TEXT"}
)

// Field returns the field with a key or, within objects, with a path of keys: Field("meta", "lang")
// is lang in the object meta.
func Field(keys ...string) Operand {
	return Operand{fieldName(keys)}
}

// Eq is o = value; a value is a string, a number or a bool.
func (o Operand) Eq(value any) Query { return o.test("= ?", value) }

// Ne is o != value.
func (o Operand) Ne(value any) Query { return o.test("!= ?", value) }

// Lt is o < value.
func (o Operand) Lt(value any) Query { return o.test("< ?", value) }

// Le is o <= value.
func (o Operand) Le(value any) Query { return o.test("<= ?", value) }

// Gt is o > value.
func (o Operand) Gt(value any) Query { return o.test("> ?", value) }

// Ge is o >= value.
func (o Operand) Ge(value any) Query { return o.test(">= ?", value) }

// Between is o BETWEEN from AND to; both bounds are included.
func (o Operand) Between(from, to any) Query { return o.test("BETWEEN ? AND ?", from, to) }

// In is o IN (values).
func (o Operand) In(values ...any) Query { return o.test("IN (?)", values) }

// Like is o LIKE pattern.
func (o Operand) Like(pattern string) Query { return o.test("LIKE ?", pattern) }

// IsNull is o IS NULL. It finds the documents without the field.
func (o Operand) IsNull() Query { return o.test("IS NULL") }

func (o Operand) test(operator string, values ...any) Query {
	return Query{where: o.name + " " + operator, args: values}
}

// And returns the query for the documents that q and all others find. It has the clauses of q and
// of all others.
func (q Query) And(others ...Query) Query { return q.join(" AND ", others) }

// Or returns the query for the documents that q or any of others finds.
func (q Query) Or(others ...Query) Query { return q.join(" OR ", others) }

// Not returns the query for the documents that q does not find.
func (q Query) Not() Query {
	q.where, q.joined = "NOT ("+q.where+")", ""
	return q
}

func (q Query) join(with string, others []Query) Query {
	all := q
	all.where, all.joined, all.args = q.within(with), with, q.args[:len(q.args):len(q.args)]
	for _, o := range others {
		all.where += with + o.within(with)
		all.args = append(all.args, o.args...)
		all = all.clause(o.clauses, o.tail...)
	}
	return all
}

// within returns the predicates as a term of an operator. It adds parentheses unless the same
// operator joins the predicates, so that And called in a loop does not nest.
func (q Query) within(with string) string {
	if q.joined == "" || q.joined == with {
		return q.where
	}
	return "(" + q.where + ")"
}

func (q Query) clause(text string, values ...any) Query {
	q.clauses, q.tail = q.clauses+text, append(q.tail[:len(q.tail):len(q.tail)], values...)
	return q
}

// Limit makes the query return at most n rows.
func (q Query) Limit(n int) Query { return q.clause(" LIMIT ?", n) }

// Offset makes the query skip the first n rows.
func (q Query) Offset(n int) Query { return q.clause(" OFFSET ?", n) }

// Estimate makes sketches decide Jaccard.
func (q Query) Estimate() Query { return q.clause(" ESTIMATE") }

// A Key is a key of OrderBy: one of the constants below, or a field as statements write it, such as
// "meta.lang".
type Key string

// The keys of OrderBy.
const (
	ByID       Key = "id"
	ByDistance Key = "distance"
	ByScore    Key = "score"
	ByWords    Key = "words"
	ByTime     Key = "time"
)

// Desc returns the key in descending order.
func (k Key) Desc() Key { return k + " DESC" }

// OrderBy orders the rows by keys, then by id.
func (q Query) OrderBy(keys ...Key) Query {
	for i, k := range keys {
		q.clauses += []string{" ORDER BY ", ", "}[min(i, 1)] + string(k)
	}
	return q
}

// Show sets the columns of the rows, as SHOW does: columns of the result, parts of documents,
// or fields.
func (q Query) Show(columns ...string) Query {
	return q.clause(" SHOW " + strings.Join(columns, ", "))
}

// String returns the text of the query, with a ? for each value. It can be part of another
// statement: Run(ctx, db, "DELETE WHERE "+q.String(), q.Args()...).
func (q Query) String() string { return q.where + q.clauses }

// Args returns the values of each ? of String.
func (q Query) Args() []any { return append(q.args[:len(q.args):len(q.args)], q.tail...) }

// Run runs the query on db, as the function [Run] does.
func (q Query) Run(ctx context.Context, db *engine.DB) (*Rows, error) {
	return Run(ctx, db, q.String(), q.Args()...)
}

// Count counts the rows of the query.
func (q Query) Count(ctx context.Context, db *engine.DB) (n int64, err error) {
	rows, err := Run(ctx, db, "COUNT "+q.String(), q.Args()...)
	if err != nil {
		return 0, err
	}
	for row, err := range rows.All() {
		if err != nil {
			return 0, err
		}
		n = row[0].(int64)
	}
	return n, nil
}
