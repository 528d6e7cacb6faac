package fuzz

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/query"
)

// A predicate of a statement, with its oracle. The functions of measures that it lacks are nil.
type predicate struct {
	text     string
	holds    func(d *doc) bool
	distance func(d *doc) (int, bool)
	score    func(d *doc) (float64, bool)
	runs     func(d *doc) [][3]int // words, at and query_at of passages
	drives   bool                  // it finds documents
	negated  bool
	always   bool // it finds documents under NOT as well
	jaccard  bool // its score goes before others
}

// A statement chooses a statement, with the values of its parameters in the order of its text.
type statement struct {
	*choices
	m     *model
	args  []any
	exact bool // the statement has no ESTIMATE
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// value writes a value, or a parameter for it.
func (s *statement) value(literal string, arg any) string {
	if s.once(4) || strings.ContainsRune(literal, 0) || !utf8.ValidString(literal) {
		s.args = append(s.args, arg)
		return "?"
	}
	return literal
}

func (s *statement) str(v string) string { return s.value(quote(v), v) }

// target writes what documents are compared with, and returns it as a document: a stored one does
// not match itself.
func (s *statement) target(fingerprint bool) (string, doc) {
	d, stored := s.m.docs[s.id()]
	switch {
	case fingerprint && s.once(3):
		fp := s.print(s.m.o.Bits / 64)
		literal := fmt.Sprintf("0x%016x", fp[0])
		for _, w := range fp[1:] {
			literal += fmt.Sprintf("%016x", w)
		}
		if len(fp) > 1 {
			return literal, doc{fingerprints: [][]uint64{fp}}
		}
		if s.once(3) {
			literal = fmt.Sprintf("%020d", fp[0]) // 16 digits would be hexadecimal
		}
		return s.value(literal, fp[0]), doc{fingerprints: [][]uint64{fp}}
	case stored && s.once(2):
		return s.str(d.id), d
	}
	text := s.text(s.m.texts())
	return s.value("TEXT "+quote(text), query.Text(text)), doc{text: text}
}

// measure makes the predicate of a criterion.
func (s *statement) measure() predicate {
	by := s.m.criterion(s.choices)
	target, q := s.target(by.near())
	p := predicate{drives: true, jaccard: by.by.Kind() == "jaccard"}
	matches := perDoc(func(d *doc) (float64, bool) {
		if p.jaccard {
			by = s.m.jaccard(by.by.T(), s.exact)
		}
		score, ok := by.score(&q, d)
		return score, ok && d.id != q.id
	})
	p.holds = func(d *doc) bool { _, ok := matches(d); return ok }
	if p.score = matches; by.near() {
		p.score = nil
		p.distance = func(d *doc) (int, bool) { score, ok := matches(d); return int(-score), ok }
		p.text = fmt.Sprintf("near( %s, %s)", target, s.value(strconv.Itoa(by.by.K()), by.by.K()))
		return p
	}
	share := fmt.Sprint(by.by.T())
	if slices.Contains(thresholds, by.by.T()) && s.once(2) {
		share = fmt.Sprintf("%g%%", by.by.T()*100)
	}
	p.text = fmt.Sprintf("%s(%s,%s)", strings.ToUpper(string(by.by.Kind())), target, s.value(share, by.by.T()))
	return p
}

// perDoc calls a function once for each document.
func perDoc(f func(d *doc) (float64, bool)) func(d *doc) (float64, bool) {
	known := map[string]found{}
	return func(d *doc) (float64, bool) {
		v, had := known[d.id]
		if !had {
			score, ok := f(d)
			v = found{map[bool]string{true: d.id}[ok], score}
			known[d.id] = v
		}
		return v.score, v.id != ""
	}
}

// nearest makes a NEAREST, by the distance or by the similarity of texts.
func (s *statement) nearest() predicate {
	by, similar := s.m.near(s.m.o.Bits), !s.m.o.NoSketch && s.once(2)
	if similar {
		by = s.m.jaccard(1e-9, false)
	}
	target, q := s.target(!similar)
	n := pick(s.choices, 1, 3, 10, 1000)
	first := sync.OnceValue(func() map[string]float64 {
		if similar && s.exact {
			by = s.m.jaccard(1e-9, true)
		}
		of, all := map[string]float64{}, s.m.matches(&q, by)
		for _, f := range all[:min(n, len(all))] {
			of[f.id] = f.score
		}
		return of
	})
	score := func(d *doc) (float64, bool) { v, ok := first()[d.id]; return v, ok }
	p := predicate{drives: true, jaccard: similar, score: score, holds: func(d *doc) bool { _, ok := score(d); return ok }}
	p.text = fmt.Sprintf("NEAREST(%s, %d)", target, n)
	if similar {
		p.text += " BY JACCARD"
	} else {
		p.score, p.distance = nil, func(d *doc) (int, bool) { v, ok := score(d); return int(-v), ok }
	}
	return p
}

// passages makes a PASSAGES.
func (s *statement) passages() predicate {
	target, q := s.target(false)
	n, inQuery := 1+s.n(4), wordsOf(q.text)
	known := map[string][][3]int{}
	runs := func(d *doc) (runs [][3]int) {
		if runs, had := known[d.id]; had || d.id == q.id {
			return runs
		}
		words, last := wordsOf(d.text), 0
		for from := range words {
			longest, at := 0, 0 // the longest run from here, and where it is in the query
			for i := range inQuery {
				length := 0
				for from+length < len(words) && i+length < len(inQuery) && words[from+length].text == inQuery[i+length].text {
					length++
				}
				if length > longest {
					longest, at = length, inQuery[i].at
				}
			}
			if longest >= n && from+longest > last {
				runs, last = append(runs, [3]int{longest, words[from].at, at}), from+longest
			}
		}
		known[d.id] = runs
		return runs
	}
	return predicate{text: fmt.Sprintf("PASSAGES(%s, %d)", target, n), holds: func(d *doc) bool { return len(runs(d)) > 0 }, runs: runs, drives: true}
}

// compared returns whether a comparison of a number with zero holds.
func compared(op string, c int) bool {
	return map[string]bool{"=": c == 0, "!=": c != 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
}

// byID makes a test of the ID.
func (s *statement) byID() predicate {
	id := s.id()
	if stored := s.m.sorted(); len(stored) > 0 && s.once(2) {
		id = pick(s.choices, stored...).id
	}
	other := pick(s.choices, "", "c", id, id)
	switch s.n(6) {
	case 0:
		in := func(d *doc) bool { return d.id >= other && d.id <= id }
		if s.once(3) {
			return predicate{text: "ID NOT BETWEEN " + s.str(other) + " AND " + s.str(id), holds: func(d *doc) bool { return !in(d) }, negated: true}
		}
		return predicate{text: "ID BETWEEN " + s.str(other) + " AND " + s.str(id), holds: in, drives: true}
	case 1:
		op := pick(s.choices, "<", "<=", ">", ">=")
		return predicate{text: "ID " + op + s.str(other), holds: func(d *doc) bool { return compared(op, strings.Compare(d.id, other)) }, drives: true}
	case 2:
		return predicate{text: "ID IN (" + s.str(id) + ", " + s.str(cmp.Or(other, "a")) + ")",
			holds: func(d *doc) bool { return d.id == id || d.id == cmp.Or(other, "a") }, drives: true}
	case 3:
		return predicate{text: "ID != " + s.str(id), holds: func(d *doc) bool { return d.id != id }, negated: true}
	case 4:
		return s.like("ID", func(d *doc) (string, bool) { return d.id, true })
	}
	return predicate{text: "id = " + s.str(id), holds: func(d *doc) bool { return d.id == id }, drives: true}
}

// like makes a LIKE of an operand.
func (s *statement) like(operand string, of func(d *doc) (string, bool)) predicate {
	start, end := pick(s.choices, "", "a", "c/", "é", "o", "t"), pick(s.choices, "", "", "1", "o", "'")
	pattern, escape := start+"%"+end, ""
	holds := func(v string) bool {
		return len(v) >= len(start)+len(end) && strings.HasPrefix(v, start) && strings.HasSuffix(v, end)
	}
	switch s.n(4) {
	case 0:
		pattern, escape = "%!%"+start+"%", " ESCAPE '!'"
		holds = func(v string) bool { return strings.Contains(v, "%"+start) }
	case 1:
		pattern = "__"
		holds = func(v string) bool { return utf8.RuneCountInString(v) == 2 }
	}
	p := predicate{drives: true, always: operand != "ID"}
	not := s.once(3)
	p.holds = func(d *doc) bool { v, ok := of(d); return ok && holds(v) != not }
	if p.text = operand + " LIKE "; not {
		p.text = operand + " NOT LIKE "
		p.drives, p.negated = p.always, !p.always
	}
	p.text += s.value(quote(pattern), pattern) + escape
	return p
}

func (s *statement) since() predicate {
	at := s.m.now.Add(-s.age())
	return predicate{text: "SINCE " + s.value(quote(at.Format(time.RFC3339Nano)), at), holds: func(d *doc) bool { return !d.time.Before(at) }, drives: true}
}

// content makes a test of the text.
func (s *statement) content() predicate {
	text := func(d *doc) (string, bool) { return d.text, d.text != "" }
	if s.once(2) {
		return s.like("text", text)
	}
	to := pick(s.choices, "o", "one two", "two", "é")
	return predicate{text: "TEXT BETWEEN 'five' AND " + s.str(to), holds: func(d *doc) bool { return d.text >= "five" && d.text <= to }, drives: true, always: true}
}

// A fieldValue is the value of a field: the text of a string, or the JSON of another value.
type fieldValue struct {
	raw, text string
	number    *big.Rat // of a number, and of a string that is one
	there     bool
}

func fieldOf(d *doc, name string) (v fieldValue) {
	raw := json.RawMessage(d.fields)
	for _, key := range strings.Split(name, ".") {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return v
		}
		raw = object[key]
	}
	if raw == nil || string(raw) == "null" {
		return v
	}
	if v = (fieldValue{raw: string(raw), text: string(raw), there: true}); raw[0] == '"' {
		if err := json.Unmarshal(raw, &v.text); err != nil {
			panic(err)
		}
		v.raw = strconv.Quote(v.text)
	}
	v.number, _ = new(big.Rat).SetString(v.text)
	return v
}

// compareFields orders two values as ORDER BY does.
func compareFields(a, b fieldValue, desc bool) int {
	rank := func(v fieldValue) int {
		switch {
		case !v.there:
			return 2
		case v.number != nil:
			return 0
		}
		return 1
	}
	c := cmp.Compare(rank(a), rank(b))
	if !a.there || !b.there {
		return c
	}
	if c == 0 && a.number != nil {
		c = a.number.Cmp(b.number)
	} else if c == 0 {
		c = strings.Compare(a.text, b.text)
	}
	if desc {
		c = -c
	}
	return c
}

var fieldNames = []string{"lang", "meta.stars"}

// field makes a test of a field.
func (s *statement) field() predicate {
	name := pick(s.choices, fieldNames...)
	p := predicate{drives: true, always: true}
	literal := pick(s.choices, "en", "de", "true", "x", "3")
	switch op := pick(s.choices, "=", "!=", "<", ">", "<=", ">=", "<>", "LIKE", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN", "IS NULL", "IS NOT NULL"); op {
	case "LIKE":
		return s.like(name, func(d *doc) (string, bool) { v := fieldOf(d, name); return v.text, v.there })
	case "IS NULL", "IS NOT NULL":
		p.text = name + " " + op
		p.holds = func(d *doc) bool { return fieldOf(d, name).there == (op != "IS NULL") }
	case "BETWEEN", "NOT BETWEEN":
		p.text = name + " " + op + " " + s.str("d") + " AND " + s.str(literal)
		p.holds = func(d *doc) bool {
			v := fieldOf(d, name)
			return v.there && (v.text >= "d" && v.text <= literal) == (op == "BETWEEN")
		}
	case "IN", "NOT IN":
		p.text = name + " " + op + " (" + s.str(literal) + ", 30)"
		p.holds = func(d *doc) bool {
			v := fieldOf(d, name)
			in := v.text == literal || v.number != nil && v.number.Cmp(big.NewRat(30, 1)) == 0
			return v.there && in == (op == "IN")
		}
	default:
		if n := pick(s.choices, 3, -2.5, 3.5); s.once(2) {
			p.text = name + " " + op + " " + s.value(fmt.Sprint(n), n)
			p.holds = func(d *doc) bool {
				v := fieldOf(d, name)
				if v.number == nil {
					return v.there && (op == "!=" || op == "<>")
				}
				return compared(op, v.number.Cmp(new(big.Rat).SetFloat64(n)))
			}
			return p
		}
		p.text = name + " " + op + s.str(literal)
		p.holds = func(d *doc) bool {
			v := fieldOf(d, name)
			return v.there && compared(op, strings.Compare(v.text, literal))
		}
	}
	return p
}

// expression makes an expression, and adds its positive predicates to a list.
func (s *statement) expression(depth int, negated bool, positive *[]predicate) predicate {
	if depth == 0 || s.n(3) == 0 {
		leaves := []func() predicate{s.measure, s.measure, s.nearest, s.byID, s.since}
		if !s.m.o.NoText {
			leaves = append(leaves, s.measure, s.passages, s.content, s.field)
		}
		p := pick(s.choices, leaves...)()
		if negated == p.negated {
			*positive = append(*positive, p)
		}
		if !p.always && (negated || p.negated) {
			p.drives = negated && p.negated
		}
		return p
	}
	if s.once(4) {
		p := s.expression(depth-1, !negated, positive)
		return predicate{text: "NOT (" + p.text + ")", holds: func(d *doc) bool { return !p.holds(d) }, drives: p.drives}
	}
	var terms []predicate
	var texts []string
	for range 2 + s.n(2) {
		p := s.expression(depth-1, negated, positive)
		terms, texts = append(terms, p), append(texts, "("+p.text+")")
	}
	and := s.once(2)
	drives := func(p predicate) bool { return p.drives }
	if and {
		p := predicate{text: strings.Join(texts, " AND "), holds: func(d *doc) bool {
			return !slices.ContainsFunc(terms, func(p predicate) bool { return !p.holds(d) })
		}}
		p.drives = slices.ContainsFunc(terms, drives) && (!negated || allOf(terms, drives)) // under NOT it is an OR
		return p
	}
	p := predicate{text: strings.Join(texts, " OR "), holds: func(d *doc) bool {
		return slices.ContainsFunc(terms, func(p predicate) bool { return p.holds(d) })
	}}
	p.drives = allOf(terms, drives) || negated && slices.ContainsFunc(terms, drives)
	return p
}

func allOf[T any](all []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(all, func(v T) bool { return !holds(v) })
}
