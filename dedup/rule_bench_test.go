package dedup

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/exhaustive"
)

// recordRule finds the copies among the records of writeRecords: of 100,000, 97 % of the pairs, of
// which 99 % are true.
const recordRule = `a.ssn = b.ssn AND JACCARD(chars:3) >= 0.2
OR JACCARD(chars:3) >= 0.45 AND (a.born = b.born OR a.surname = b.surname AND a.postcode = b.postcode)`

// recordFields are the fields of a generated record.
var recordFields = []string{"given", "surname", "number", "street", "suburb", "postcode", "state", "born", "ssn"}

// writeRecords writes n records of persons, like those of the generator of FEBRL: a quarter are
// copies with one to four changes. The field "person" names the person.
func writeRecords(path string, n int, rng *rand.Rand) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	name := func(kind string, of int) string { // number k has about k^-0.7 of the share of the first
		k := int(float64(of) * math.Pow(rng.Float64(), 1/0.3))
		g := rand.New(rand.NewPCG(uint64(k), uint64(len(kind))))
		var b strings.Builder
		for range 2 + g.IntN(3) {
			b.WriteByte("bcdfghklmnprstvw"[g.IntN(16)])
			b.WriteByte("aeiou"[g.IntN(5)])
		}
		return b.String()
	}
	var last [][]string
	for i := range n {
		var r []string
		person := i
		if i%4 == 3 {
			from := last[rng.IntN(len(last))]
			person = int(from[len(from)-1][0]) | int(from[len(from)-1][1])<<8 | int(from[len(from)-1][2])<<16
			r = append(r, from[:len(recordFields)]...)
			for range 1 + rng.IntN(4) {
				at := rng.IntN(len(r))
				r[at] = changed(rng, r[at])
			}
		} else {
			suburb := name("suburb", 5000)
			r = []string{name("given", 2000), name("surnames", 20000), fmt.Sprint(1 + rng.IntN(200)), name("street x", 30000) + " street", suburb,
				fmt.Sprint(2000 + len(suburb)*300 + int(suburb[0])*7 + int(suburb[2])), "nsw", fmt.Sprintf("19%02d%02d%02d", rng.IntN(100), 1+rng.IntN(12), 1+rng.IntN(28)), fmt.Sprint(1000000 + rng.IntN(9000000))}
			if last = append(last, append(r[:len(r):len(r)], string([]byte{byte(i), byte(i >> 8), byte(i >> 16)}))); len(last) > 1000 {
				last = last[500:]
			}
		}
		fmt.Fprintf(w, `{"id":"%d","person":%d,"text":%q`, i, person, strings.Join(r, " "))
		for j, value := range r {
			if value != "" {
				fmt.Fprintf(w, ",%q:%q", recordFields[j], value)
			}
		}
		fmt.Fprintln(w, "}")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// changed returns a value with a typing error, or without any text.
func changed(rng *rand.Rand, value string) string {
	if len(value) == 0 || rng.IntN(6) == 0 {
		return ""
	}
	at := rng.IntN(len(value))
	return value[:at] + string("abcdefgh0123456789"[rng.IntN(18)]) + value[at+rng.IntN(2):]
}

// BenchmarkRuleRecords removes the copies from generated records: 100,000, or 1,000,000 with
// SIMDB_ALL=1.
func BenchmarkRuleRecords(b *testing.B) {
	path := filepath.Join(b.TempDir(), "records.jsonl")
	n := exhaustive.Size(100_000, 1_000_000)
	if err := writeRecords(path, n, rand.New(rand.NewPCG(1, 2))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := Job{Rule: pairRule(b, recordRule), Memory: 1 << 30}.Run(b.Context(), Files(path))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Report.Dropped), "dropped")
		r.Close()
	}
	b.ReportMetric(float64(n), "records")
}
