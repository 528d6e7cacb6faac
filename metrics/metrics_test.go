package metrics_test

import (
	"encoding/json"
	"expvar"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/metrics"
)

func ExampleWritePrometheus() {
	m := engine.Metrics{Path: `corpus "1".simdb`, Puts: 12, CacheBytes: 4096, StallTime: 1500 * time.Millisecond}
	var b strings.Builder
	metrics.WritePrometheus(&b, m)
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "puts") || strings.Contains(line, "cache_bytes") || strings.Contains(line, "stall_time") {
			os.Stdout.WriteString(line)
		}
	}
	// Output:
	// # TYPE simdb_cache_bytes gauge
	// simdb_cache_bytes{db="corpus \"1\".simdb"} 4096
	// # TYPE simdb_puts_total counter
	// simdb_puts_total{db="corpus \"1\".simdb"} 12
	// # TYPE simdb_stall_time_seconds_total counter
	// simdb_stall_time_seconds_total{db="corpus \"1\".simdb"} 1.5
}

// Every number is there once, with its type, in the format's characters.
func TestAllNumbers(t *testing.T) {
	var b strings.Builder
	if err := metrics.WritePrometheus(&b, engine.Metrics{Path: "x"}); err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, v := range reflect.ValueOf(engine.Metrics{}).Fields() {
		if v.CanInt() || v.CanFloat() {
			want++
		}
	}
	names := map[string]bool{}
	form := regexp.MustCompile(`^# TYPE (simdb_[a-z_]+) (counter|gauge)\n(simdb_[a-z_]+)\{db="x"\} 0\n`)
	for rest := b.String(); rest != ""; {
		m := form.FindStringSubmatch(rest)
		if m == nil || m[1] != m[3] || names[m[1]] || strings.HasSuffix(m[1], "_total") != (m[2] == "counter") {
			t.Fatalf("not in the format: %q", rest)
		}
		names[m[1]], rest = true, rest[len(m[0]):]
	}
	if len(names) != want {
		t.Errorf("%d numbers, want %d: %v", len(names), want, names)
	}
}

func TestPublish(t *testing.T) {
	db, err := engine.Open(filepath.Join(t.TempDir(), "x.simdb"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	metrics.Publish("corpus", db)
	if err := db.Put(t.Context(), engine.Doc{ID: "a", Text: "some words"}); err != nil {
		t.Fatal(err)
	}
	var got engine.Metrics
	if err := json.Unmarshal([]byte(expvar.Get("corpus").String()), &got); err != nil || got.Puts != 1 || got.Path != db.Metrics().Path {
		t.Errorf("got %+v, %v", got, err)
	}
}
