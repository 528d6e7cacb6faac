package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/minhash"
)

// The oracle compares random statements on a random database with a brute-force evaluation of the
// same statements.

type world struct {
	rng    *rand.Rand
	db     *engine.DB
	docs   map[string]engine.Doc
	verify bool // the statement under construction has VERIFY

	session Session
	doc     func() engine.Doc // returns a new document, maybe with the id of another
}

var worldEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newWorld makes a world. Worlds of odd seeds have sketches of 4 entries: scores are estimates, and
// VERIFY, which may miss documents, is not used. The sketches of the other worlds hold all
// shingles, so that nothing is missed. Every other pair of worlds has few different fingerprints,
// so that most rows are ties.
func newWorld(t *testing.T, seed uint64) *world {
	o := &engine.Options{MinJaccard: 0.5}
	if seed%2 == 1 {
		o.Sketch = 4
	}
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), db: openTest(t, o), docs: map[string]engine.Doc{}}
	centres := []uint64{0, 0xff, ^uint64(0), w.rng.Uint64(), w.rng.Uint64()}
	w.doc = func() engine.Doc {
		fp := centres[w.rng.IntN(len(centres))]
		for range w.rng.IntN([]int{8, 8, 2, 2}[seed%4]) {
			fp ^= 1 << w.rng.IntN(64)
		}
		d := engine.Doc{ID: w.id(), Fingerprints: []engine.Fingerprint{{fp}}, Text: w.text(), Fields: w.fields(), Time: worldEpoch.Add(time.Duration(w.rng.IntN(50)) * time.Hour)}
		switch w.rng.IntN(12) {
		case 0:
			d.Fingerprints, d.Text = nil, "" // without a fingerprint
		case 1:
			d.Fingerprints = nil
		}
		return d
	}
	for i := range 160 {
		w.put(t, w.doc())
		if w.rng.IntN(10) == 0 {
			id := w.someID()
			if err := w.db.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			delete(w.docs, id)
		}
		if i%50 == 49 && w.rng.IntN(2) == 0 {
			if err := w.db.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

func (w *world) put(t *testing.T, d engine.Doc) {
	if err := w.db.Put(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.docs[d.ID] = w.stored(d)
}

func (w *world) stored(d engine.Doc) engine.Doc {
	if d.Fingerprints == nil {
		if fp, _ := w.db.Hash(d.Text); fp != nil {
			d.Fingerprints = []engine.Fingerprint{fp}
		}
	}
	return d
}

// id returns a new or used id: ids share prefixes, and contain characters that must be escaped.
func (w *world) id() string {
	return []string{"a", "b/", "it's ", "%", "é_"}[w.rng.IntN(5)] + strconv.Itoa(w.rng.IntN(60))
}

func (w *world) text() string {
	words := []string{"one", "two", "three", "four", "five"}
	out := make([]string, 1+w.rng.IntN(8))
	for i := range out {
		out[i] = words[w.rng.IntN(len(words))]
	}
	return strings.Join(out, " ")
}

func (w *world) someID() string {
	ids := make([]string, 0, len(w.docs))
	for id := range w.docs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids[w.rng.IntN(len(ids))]
}

// oracle evaluates a predicate on a document. The functions of measures that the predicate lacks
// are nil.
type oracle struct {
	holds    func(d engine.Doc) bool
	distance func(d engine.Doc) int
	score    func(d engine.Doc) float64
	runs     func(d engine.Doc) [][3]int // words, at and query_at of passages
	drives   bool
	negated  bool
	always   bool // can be a driver under NOT as well
	rank     int  // rank of its score: rows show the score of the greatest rank
}

// target writes a target of NEAR or NEAREST. It also returns its fingerprint, and the id of the
// target, which does not match itself.
func (w *world) target() (text string, fp uint64, ok bool, self string) {
	switch w.rng.IntN(4) {
	case 0:
		words := w.text()
		if all, _ := w.db.Hash(words); all != nil {
			fp, ok = all[0], true
		}
		return "TEXT " + quote(words), fp, ok, ""
	case 1:
		d := w.docs[w.someID()]
		if d.Fingerprints != nil {
			fp := d.Fingerprints[0][0] ^ 1<<w.rng.IntN(64)
			decimal := strconv.FormatUint(fp, 10)
			if len(decimal) == 16 { // a number of 16 digits would be read as hexadecimal
				decimal = "0" + decimal
			}
			return []string{fmt.Sprintf("%#x", fp), fmt.Sprintf("%016x", fp), decimal}[w.rng.IntN(3)], fp, true, ""
		}
	}
	id := w.someID()
	if d := w.docs[id]; d.Fingerprints != nil {
		return quote(id), d.Fingerprints[0][0], true, id
	}
	return quote(id), 0, false, id
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (w *world) near() (string, *oracle) {
	text, fp, ok, self := w.target()
	k := []int{0, 1, 3, 6, 10, 30, 64}[w.rng.IntN(7)]
	distance := func(d engine.Doc) int {
		if !ok || d.Fingerprints == nil || d.ID == self {
			return 1000
		}
		return bits.OnesCount64(d.Fingerprints[0][0] ^ fp)
	}
	return fmt.Sprintf("NEAR(%s, %d)", text, k), &oracle{holds: func(d engine.Doc) bool { return distance(d) <= k }, distance: distance, drives: true}
}

func (w *world) nearest() (string, *oracle) {
	text, fp, ok, self := w.target()
	n := 1 + w.rng.IntN(20)
	var ids []string
	for id, d := range w.docs {
		if ok && d.Fingerprints != nil && id != self {
			ids = append(ids, id)
		}
	}
	distance := func(d engine.Doc) int { return bits.OnesCount64(d.Fingerprints[0][0] ^ fp) }
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(distance(w.docs[a])-distance(w.docs[b]), strings.Compare(a, b))
	})
	ids = ids[:min(n, len(ids))]
	return fmt.Sprintf("nearest ( %s,%d )", text, n), &oracle{holds: func(d engine.Doc) bool { return slices.Contains(ids, d.ID) }, distance: distance, drives: true}
}

func (w *world) byID() (string, *oracle) {
	id := w.id()
	switch w.rng.IntN(5) {
	case 3:
		from, to := []string{"", "a", id}[w.rng.IntN(3)], []string{w.id(), w.someID()}[w.rng.IntN(2)]
		in := func(d engine.Doc) bool { return d.ID >= from && d.ID <= to }
		if w.rng.IntN(4) == 0 {
			return "ID NOT BETWEEN " + quote(from) + " AND " + quote(to), &oracle{holds: func(d engine.Doc) bool { return !in(d) }, negated: true}
		}
		return "ID BETWEEN " + quote(from) + " AND " + quote(to), &oracle{holds: in, drives: true}
	case 4:
		if w.rng.IntN(2) == 0 {
			id = []string{"", "b", w.someID()}[w.rng.IntN(3)]
		}
		op := []string{"<", "<=", ">", ">="}[w.rng.IntN(4)]
		return "ID " + op + " " + quote(id), &oracle{holds: func(d engine.Doc) bool {
			c := strings.Compare(d.ID, id)
			return map[string]bool{"<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op]
		}, drives: true}
	case 0:
		other := w.someID()
		return "ID IN (" + quote(id) + ", " + quote(other) + ")", &oracle{holds: func(d engine.Doc) bool { return d.ID == id || d.ID == other }, drives: true}
	case 1:
		return "ID != " + quote(id), &oracle{holds: func(d engine.Doc) bool { return d.ID != id }, negated: true}
	}
	return "id = " + quote(id), &oracle{holds: func(d engine.Doc) bool { return d.ID == id }, drives: true}
}

func (w *world) like() (string, *oracle) {
	start, end := []string{"", "a", "b/", "it's", "é", "z"}[w.rng.IntN(6)], []string{"", "", "1", "7"}[w.rng.IntN(4)]
	holds := func(d engine.Doc) bool {
		return len(d.ID) >= len(start)+len(end) && strings.HasPrefix(d.ID, start) && strings.HasSuffix(d.ID, end)
	}
	switch w.rng.IntN(4) {
	case 0:
		return "ID NOT LIKE " + quote(start+"%"+end), &oracle{holds: func(d engine.Doc) bool { return !holds(d) }, negated: true}
	case 1:
		return `ID LIKE '!%%_' ESCAPE '!'`, &oracle{holds: func(d engine.Doc) bool { return len(d.ID) > 1 && d.ID[0] == '%' }, drives: true}
	case 2:
		return "ID LIKE '__'", &oracle{holds: func(d engine.Doc) bool { return utf8.RuneCountInString(d.ID) == 2 }, drives: true}
	}
	return "ID LIKE " + quote(start+"%"+end), &oracle{holds: holds, drives: true}
}

func (w *world) since() (string, *oracle) {
	t := worldEpoch.Add(time.Duration(w.rng.IntN(50)) * time.Hour)
	text := "SINCE " + quote(t.Format(time.RFC3339))
	if w.rng.IntN(3) == 0 {
		t, text = time.Now().Add(-24*time.Hour*100000), "SINCE 100000d"
	}
	return text, &oracle{holds: func(d engine.Doc) bool { return !d.Time.Before(t) }, drives: true}
}

// jaccard makes a JACCARD. Scores are exact for short texts, and estimates for long ones: for these
// the oracle compares the sketches.
func (w *world) jaccard() (string, *oracle) {
	text, self := w.text(), ""
	name := "TEXT " + quote(text)
	if w.rng.IntN(2) == 0 {
		self = w.someID()
		name, text = quote(self), w.docs[self].Text
	}
	t := []float64{0.05, 0.2, 0.3, 0.5, 0.65, 0.8, 0.9, 1}[w.rng.IntN(8)]
	_, sketch := w.db.Hash(text)
	size, k := w.db.Options().Sketch, w.db.Options().Shingle
	score := func(d engine.Doc) float64 {
		if d.ID == self {
			return -1
		}
		if w.verify {
			j := exactJaccard(text, d.Text, k)
			return j
		}
		_, other := w.db.Hash(d.Text)
		return minhash.Jaccard(sketch, other, size).Score
	}
	return fmt.Sprintf("JACCARD(%s, %g%%)", name, t*100), &oracle{holds: func(d engine.Doc) bool { return score(d) >= t }, score: score, drives: true, rank: 1}
}

// mostSimilar makes a NEAREST BY JACCARD.
func (w *world) mostSimilar() (string, *oracle) {
	text, o := w.jaccard()
	n := []int{1, 3, 20, 1000}[w.rng.IntN(4)]
	var ids []string
	for id, d := range w.docs {
		if o.score(d) > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(o.score(w.docs[b]), o.score(w.docs[a])), strings.Compare(a, b))
	})
	ids = ids[:min(n, len(ids))]
	o.holds = func(d engine.Doc) bool { return slices.Contains(ids, d.ID) }
	text = "NEAREST" + text[len("JACCARD"):strings.LastIndexByte(text, ',')]
	return fmt.Sprintf("%s, %d) BY JACCARD", text, n), o
}

// measure makes a CONTAINS, a WITHIN or a COSINE.
func (w *world) measure() (string, *oracle) {
	text, self := w.text(), ""
	name := "TEXT " + quote(text)
	if w.rng.IntN(2) == 0 {
		self = w.someID()
		name, text = quote(self), w.docs[self].Text
	}
	word := []string{"CONTAINS", "WITHIN", "COSINE"}[w.rng.IntN(3)]
	t := []float64{0.07, 0.3, 0.53, 0.77, 1}[w.rng.IntN(5)]
	counts := func(text string) map[string]float64 {
		all, words, k := map[string]float64{}, strings.Fields(text), 1
		if word != "COSINE" {
			k = min(w.db.Options().Shingle, len(words))
		}
		for i := range max(len(words)-k+1, 0) {
			s := strings.Join(words[i:i+k], " ")
			if all[s]++; word != "COSINE" {
				all[s] = 1
			}
		}
		delete(all, "")
		return all
	}
	mine := counts(text)
	score := func(d engine.Doc) float64 {
		dot, a, b, other := 0.0, 0.0, 0.0, counts(d.Text)
		for s, n := range mine {
			dot, a = dot+n*other[s], a+n*n
		}
		for _, n := range other {
			b += n * n
		}
		switch {
		case d.ID == self || a == 0 || b == 0:
			return -1
		case word == "CONTAINS":
			return dot / a
		case word == "WITHIN":
			return dot / b
		}
		return dot / math.Sqrt(a*b)
	}
	return fmt.Sprintf("%s(%s, %g)", word, name, t), &oracle{holds: func(d engine.Doc) bool { return score(d) >= t-1e-9 }, score: score, drives: true}
}

// content makes a test of the text.
func (w *world) content() (string, *oracle) {
	text := w.text()
	if w.rng.IntN(2) == 0 {
		text = text[:1+w.rng.IntN(len(text))]
		not := w.rng.IntN(3) == 0
		return "text " + map[bool]string{true: "NOT "}[not] + "LIKE " + quote("%"+text+"%"), &oracle{holds: func(d engine.Doc) bool {
			return d.Text != "" && strings.Contains(d.Text, text) != not
		}, drives: true, always: true}
	}
	return "TEXT BETWEEN 'four' AND " + quote(text), &oracle{holds: func(d engine.Doc) bool {
		return d.Text >= "four" && d.Text <= text
	}, drives: true, always: true}
}

// fields makes fields with few values; some values are missing, null, or of another type.
func (w *world) fields() json.RawMessage {
	lang := []string{`"lang":"en"`, `"lang":"de"`, `"lang":null`, `"lang":"\\u0065n"`, `"other":1`, `"lang":["en"]`}[w.rng.IntN(6)]
	stars := []string{`3`, `-2.5`, `"3"`, `30`, `true`, `3e0`, `"x"`}[w.rng.IntN(7)]
	return json.RawMessage([]string{`{` + lang + `, "meta" : {"stars":` + stars + `}}`, `{` + lang + `}`, ``}[w.rng.IntN(3)])
}

// field makes a test of a field, whose oracle decodes the fields with encoding/json.
func (w *world) field() (string, *oracle) {
	name, path := "lang", []string{"lang"}
	if w.rng.IntN(2) == 0 {
		name, path = "meta.stars", []string{"meta", "stars"}
	}
	value := func(d engine.Doc) (s string, number, ok bool) {
		var v any
		if len(d.Fields) > 0 {
			if err := json.Unmarshal(d.Fields, &v); err != nil {
				panic(err)
			}
		}
		for _, key := range path {
			m, _ := v.(map[string]any)
			v = m[key]
		}
		switch v := v.(type) {
		case nil:
			return "", false, false
		case string:
			_, err := strconv.ParseFloat(v, 64)
			return v, err == nil, true
		case float64:
			return map[float64]string{3: "3", -2.5: "-2.5", 30: "30"}[v], true, true
		}
		raw, _ := json.Marshal(v)
		return string(raw), false, true
	}
	if w.rng.IntN(6) == 0 {
		null := w.rng.IntN(2) == 0
		return name + map[bool]string{true: " is null", false: " IS NOT NULL"}[null], &oracle{holds: func(d engine.Doc) bool {
			_, _, ok := value(d)
			return ok != null
		}, drives: true, always: true}
	}
	op := []string{"=", "!=", "<", ">", "<=", ">=", "LIKE", "NOT LIKE", "IN", "NOT IN", "BETWEEN", "NOT BETWEEN"}[w.rng.IntN(12)]
	literal := []string{"en", "de", "true", "x"}[w.rng.IntN(4)]
	text := name + " " + op + " " + quote(literal)
	switch op {
	case "LIKE", "NOT LIKE":
		text = name + " " + op + " " + quote("%"+literal+"%")
	case "BETWEEN", "NOT BETWEEN":
		text = name + " " + op + " 'd' AND " + quote(literal)
	case "IN", "NOT IN":
		text = name + " " + op + " (" + quote(literal) + ", 30)"
	default:
		if path[0] == "meta" {
			return w.numbers(name, op, value)
		}
	}
	return text, &oracle{holds: func(d engine.Doc) bool {
		s, number, ok := value(d)
		c := strings.Compare(s, literal)
		in, between := c == 0 || number && s == "30", s >= "d" && c <= 0
		return ok && map[string]bool{"=": c == 0, "!=": c != 0, "<": c < 0, ">": c > 0, "<=": c <= 0, ">=": c >= 0,
			"LIKE": strings.Contains(s, literal), "NOT LIKE": !strings.Contains(s, literal), "IN": in, "NOT IN": !in, "BETWEEN": between, "NOT BETWEEN": !between}[op]
	}, drives: true, always: true}
}

// numbers makes a comparison with a number.
func (w *world) numbers(name, op string, value func(engine.Doc) (string, bool, bool)) (string, *oracle) {
	n := []float64{3, -2.5, 3.5}[w.rng.IntN(3)]
	return fmt.Sprintf("%s %s %g", name, op, n), &oracle{holds: func(d engine.Doc) bool {
		s, number, ok := value(d)
		v, _ := strconv.ParseFloat(s, 64)
		return ok && (number && map[string]bool{"=": v == n, "!=": v != n, "<": v < n, ">": v > n, "<=": v <= n, ">=": v >= n}[op] || !number && op == "!=")
	}, drives: true, always: true}
}

func (w *world) levenshtein() (string, *oracle) {
	text, t, self := w.text(), float64(1+w.rng.IntN(10))/10, ""
	name := "TEXT " + quote(text)
	if w.rng.IntN(2) == 0 {
		self = w.someID()
		name, text = quote(self), w.docs[self].Text
	}
	score := func(d engine.Doc) float64 {
		longer := max(len(text), len(d.Text))
		if longer == 0 || d.ID == self {
			return -1
		}
		return 1 - float64(slowDistance([]rune(text), []rune(d.Text)))/float64(longer)
	}
	return fmt.Sprintf("LEVENSHTEIN(%s, %g%%)", name, t*100), &oracle{holds: func(d engine.Doc) bool { return score(d) >= t-1e-9 }, score: score, drives: true}
}

// passages makes a PASSAGES. Texts are words with a space between.
func (w *world) passages() (string, *oracle) {
	text, n, self := w.text(), 1+w.rng.IntN(4), ""
	name := "TEXT " + quote(text)
	if w.rng.IntN(2) == 0 {
		self = w.someID()
		name, text = quote(self), w.docs[self].Text
	}
	query := strings.Fields(text)
	runs := func(d engine.Doc) (runs [][3]int) {
		if d.ID == self {
			return nil
		}
		words, last := strings.Fields(d.Text), 0
		for s := range words {
			for e := len(words); e > s && e-s >= n && e > last; e-- {
				at := strings.Index(" "+text+" ", " "+strings.Join(words[s:e], " ")+" ")
				if at < 0 || len(query) < n {
					continue
				}
				runs = append(runs, [3]int{e - s, len(strings.Join(append(words[:s:s], ""), " ")), at})
				last = e
			}
		}
		return runs
	}
	return fmt.Sprintf("PASSAGES(%s, %d)", name, n), &oracle{holds: func(d engine.Doc) bool { return len(runs(d)) > 0 }, runs: runs, drives: true}
}

// expression makes an expression and its oracle, and adds the oracles of its positive leaves.
func (w *world) expression(depth int, negated bool, positive *[]*oracle) (string, *oracle) {
	if depth == 0 || w.rng.IntN(3) == 0 {
		leaves := []func() (string, *oracle){w.near, w.near, w.jaccard, w.jaccard, w.nearest, w.byID, w.like, w.since, w.levenshtein, w.field, w.passages,
			w.mostSimilar, w.measure, w.content}
		text, o := leaves[w.rng.IntN(len(leaves))]()
		if negated == o.negated {
			*positive = append(*positive, o)
		}
		if !o.always && (negated || o.negated) {
			o.drives = negated && o.negated
		}
		return text, o
	}
	if w.rng.IntN(4) == 0 {
		text, o := w.expression(depth-1, !negated, positive)
		inner := o.holds
		return "NOT (" + text + ")", &oracle{holds: func(d engine.Doc) bool { return !inner(d) }, drives: o.drives}
	}
	and := w.rng.IntN(2) == 0
	var texts []string
	var terms []*oracle
	for range 2 + w.rng.IntN(2) {
		text, o := w.expression(depth-1, negated, positive)
		texts, terms = append(texts, "("+text+")"), append(terms, o)
	}
	// Under a negation, AND needs drivers like OR.
	result := &oracle{drives: and == negated}
	for _, o := range terms {
		if and != negated {
			result.drives = result.drives || o.drives
		} else {
			result.drives = result.drives && o.drives
		}
	}
	if and {
		result.holds = func(d engine.Doc) bool {
			return !slices.ContainsFunc(terms, func(o *oracle) bool { return !o.holds(d) })
		}
		return strings.Join(texts, " AND "), result
	}
	result.holds = func(d engine.Doc) bool {
		return slices.ContainsFunc(terms, func(o *oracle) bool { return o.holds(d) })
	}
	return strings.Join(texts, " OR "), result
}

// want is a row of the brute-force answer.
type want struct {
	id       string
	distance int
	score    float64
	rank     int // of the score
	time     time.Time
	run      [3]int // words, at and query_at
}

// answer evaluates a statement by brute force.
func (w *world) answer(o *oracle, positive []*oracle, keys []orderKey, limit, offset int) []want {
	var rows []want
	for _, d := range w.docs {
		if !o.holds(d) {
			continue
		}
		r := want{id: d.ID, distance: 1000, score: -1, time: d.Time}
		for _, p := range positive {
			if p.distance != nil && p.holds(d) {
				r.distance = min(r.distance, p.distance(d))
			}
			if p.score != nil && p.holds(d) && p.rank >= r.rank {
				if p.rank > r.rank {
					r.score, r.rank = -1, p.rank
				}
				r.score = max(r.score, p.score(d))
			}
		}
		runs := map[[3]int]bool{}
		for _, p := range positive {
			if p.runs != nil && p.holds(d) {
				for _, run := range p.runs(d) {
					runs[run] = true
				}
			}
		}
		for run := range runs {
			r.run = run
			rows = append(rows, r)
		}
		if len(runs) == 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b want) int {
		for _, k := range keys {
			c := 0
			switch k.by {
			case "id":
				c = strings.Compare(a.id, b.id)
			case "distance":
				c = a.distance - b.distance
				if a.distance == 1000 || b.distance == 1000 { // last, in either order
					if c != 0 {
						return c
					}
				}
			case "score":
				c = cmp.Compare(a.score, b.score)
				if a.score < 0 || b.score < 0 {
					if c != 0 {
						return -c
					}
				}
			case "words":
				c = a.run[0] - b.run[0]
				if a.run[0] == 0 || b.run[0] == 0 {
					if c != 0 {
						return -c
					}
				}
			case "time":
				c = a.time.Compare(b.time)
			}
			if k.desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Or(strings.Compare(a.id, b.id), a.run[1]-b.run[1], b.run[0]-a.run[0], a.run[2]-b.run[2])
	})
	rows = rows[min(offset, len(rows)):]
	if limit >= 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return rows
}

func (w *world) clauses(distance, score, words bool) (text string, keys []orderKey, limit, offset int) {
	limit = -1
	if distance {
		keys = append(keys, orderKey{by: "distance"})
	}
	if score {
		keys = append(keys, orderKey{by: "score", desc: true})
	}
	if words {
		keys = append(keys, orderKey{by: "words", desc: true})
	}
	if w.rng.IntN(3) == 0 {
		names := []string{"id", "time"}
		if distance {
			names = append(names, "distance")
		}
		if score {
			names = append(names, "score")
		}
		if words {
			names = append(names, "words")
		}
		w.rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		keys = nil
		for i, by := range names[:1+w.rng.IntN(2)] {
			k := orderKey{by: by, desc: w.rng.IntN(2) == 0}
			keys = append(keys, k)
			text += []string{" ORDER BY ", ", "}[min(i, 1)] + by + map[bool]string{true: " desc", false: ""}[k.desc]
		}
	}
	if w.rng.IntN(2) == 0 {
		limit = []int{w.rng.IntN(12), w.rng.IntN(12), w.rng.IntN(300), math.MaxInt}[w.rng.IntN(4)]
		text += fmt.Sprintf(" LIMIT %d", limit)
	}
	if w.rng.IntN(3) == 0 {
		offset = []int{w.rng.IntN(12), w.rng.IntN(12), w.rng.IntN(300), math.MaxInt}[w.rng.IntN(4)]
		text += fmt.Sprintf(" OFFSET %d", offset)
	}
	return text, keys, limit, offset
}

func TestAgainstBruteForce(t *testing.T) {
	const each = 1000
	worlds, found, refused := 0, 0, 0
	for seed := range exhaustive.Every(t, 100).Of(100) {
		worlds++
		w := newWorld(t, uint64(seed))
		for i := range each {
			if i%40 == 0 {
				w.transaction(t)
			}
			n, r := w.compare(t)
			found += n
			refused += r
		}
	}
	// The comparison would be worthless if statements found nothing or were rejected.
	if total := worlds * each; found < total || refused > total/2 {
		t.Errorf("of %d statements %d were refused; they found %d rows", total, refused, found)
	}
}

// transaction runs a transaction of random writes. Queries within it must find the state before the
// transaction, while other writes happen outside.
func (w *world) transaction(t *testing.T) {
	t.Helper()
	run := func(want, text string, args ...any) {
		t.Helper()
		rows, err := w.session.Run(t.Context(), w.db, text, args...)
		if err != nil || rows.Message() != want {
			t.Fatalf("%s: %v, %v, want %q", text, rows, err, want)
		}
	}
	run("begun", "BEGIN")
	own, outside := map[string]*engine.Doc{}, map[string]engine.Doc{} // nil for a delete
	found := map[string]bool{}                                        // documents found by a query and then deleted
	writes := 0
	for range w.rng.IntN(8) {
		switch d := w.doc(); w.rng.IntN(6) {
		case 0, 1:
			run("stored", "PUT ?", d)
			d = w.stored(d)
			own[d.ID] = &d
			delete(found, d.ID)
			writes++
		case 2:
			_, there := w.docs[d.ID]
			if put, ours := own[d.ID]; ours {
				there = put != nil
			}
			if !there {
				if _, err := w.session.Run(t.Context(), w.db, "DELETE ?", d.ID); !errors.Is(err, engine.ErrNotFound) {
					t.Fatal(err)
				}
				continue
			}
			run("deleted", "DELETE ?", d.ID)
			own[d.ID] = nil
			writes++
		case 3:
			from, n := w.someID(), 0
			for id := range w.docs {
				if _, ours := own[id]; id >= from && id < from+"4" && !ours {
					own[id], found[id] = nil, true
					n++
				}
			}
			run("deleted "+quantity.Plain(n, "document", "documents"), "DELETE WHERE ID >= ? AND ID < ?", from, from+"4")
			writes += n
		case 4:
			if err := w.db.Put(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			outside[d.ID] = w.stored(d)
		default:
			w.compare(t)
		}
	}
	commit := w.rng.IntN(3) > 0
	maps.Copy(w.docs, outside)
	if !commit {
		run("rolled back "+quantity.Plain(writes, "write", "writes"), "ROLLBACK")
		return
	}
	stored := 0
	for id, d := range own {
		if _, newer := outside[id]; d != nil {
			w.docs[id] = *d
			stored++
		} else if !found[id] || !newer {
			delete(w.docs, id)
		}
	}
	rows, err := w.session.Run(t.Context(), w.db, "COMMIT")
	if err != nil || !strings.HasPrefix(rows.Message(), "committed: stored "+quantity.Plain(stored, "document", "documents")+", deleted ") {
		t.Fatal(rows, err, stored)
	}
}

// compare runs one random statement on the database and on the oracle.
func (w *world) compare(t *testing.T) (found, refused int) {
	t.Helper()
	var positive []*oracle
	w.verify = w.rng.IntN(3) == 0 && w.db.Options().Sketch > 100
	text, o := w.expression(w.rng.IntN(4), false, &positive)
	distance := slices.ContainsFunc(positive, func(o *oracle) bool { return o.distance != nil })
	score := slices.ContainsFunc(positive, func(o *oracle) bool { return o.score != nil })
	words := slices.ContainsFunc(positive, func(o *oracle) bool { return o.runs != nil })
	tail, keys, limit, offset := w.clauses(distance, score, words)
	if w.verify = w.verify && strings.Contains(text, "JACCARD"); w.verify {
		tail += " VERIFY"
	}
	text += tail
	rows, err := w.session.Run(context.Background(), w.db, text)
	if !o.drives {
		if err == nil {
			t.Fatalf("%s\nfound %d rows where no predicate finds documents", text, len(read(t, rows)))
		}
		return 0, 1
	}
	if err != nil {
		t.Fatalf("%s\n%s", text, detail(err))
	}
	got, want := read(t, rows), w.answer(o, positive, keys, limit, offset)
	if len(got) != len(want) {
		t.Fatalf("%s\n%d rows, want %d:\n%v\n%v", text, len(got), len(want), got, want)
	}
	for i, r := range got {
		if problem := differs(r, want[i], distance, score, words); problem != "" {
			t.Fatalf("%s\nrow %d: %s:\n%v\n%v", text, i, problem, got, want)
		}
	}
	if count, err := w.session.Run(context.Background(), w.db, "COUNT "+text); err != nil {
		t.Fatalf("COUNT %s\n%s", text, detail(err))
	} else if c := read(t, count); c[0][0] != int64(len(want)) {
		t.Fatalf("COUNT %s\n%v, want %d", text, c[0][0], len(want))
	}
	return len(got), 0
}

// differs says how a row differs from the expected row.
func differs(r Row, w want, distance, score, words bool) string {
	if r[0] != w.id {
		return fmt.Sprintf("id %v, want %s", r[0], w.id)
	}
	at := 1
	if distance {
		if w.distance == 1000 && r[at] != nil || w.distance < 1000 && r[at] != w.distance {
			return fmt.Sprintf("distance %v, want %d", r[at], w.distance)
		}
		at++
	}
	if score {
		s, ok := r[at].(float64)
		if ok != (w.score >= 0) || ok && math.Abs(s-w.score) > 1e-12 {
			return fmt.Sprintf("score %v, want %g", r[at], w.score)
		}
		at += 3
	}
	if words {
		if w.run[0] == 0 && r[at] != nil || w.run[0] > 0 && (r[at] != w.run[0] || r[at+1] != w.run[1] || r[at+2] != w.run[2]) {
			return fmt.Sprintf("passage %v, want %v", r[at:], w.run)
		}
		at += 3
	}
	if len(r) != at {
		return fmt.Sprintf("%d cells", len(r))
	}
	return ""
}

func read(t *testing.T, rows *Rows) (all []Row) {
	t.Helper()
	for row, err := range rows.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// slowDistance is the textbook algorithm for the edit distance.
func slowDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := range a {
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j]+cost, d[i][j+1]+1, d[i+1][j]+1)
		}
	}
	return d[len(a)][len(b)]
}
