// Package metrics gives the metrics of databases to monitoring systems: as a variable of package
// expvar, and in the text format of Prometheus.
package metrics

import (
	"bytes"
	"expvar"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/simdb/simdb/engine"
)

// gauges are the names, in JSON, of numbers that can fall. The others count from the opening of the
// database.
var gauges = map[string]bool{
	"memory": true, "index_memory": true, "cache_size": true, "cache_bytes": true, "merging": true, "write_amplification": true,
}

// Publish makes engine.Metrics of db the variable name of package expvar, which /debug/vars shows.
// Like expvar.Publish, it ends the process if the name is in use.
func Publish(name string, db *engine.DB) {
	expvar.Publish(name, expvar.Func(func() any { return db.Metrics() }))
}

// WritePrometheus writes the numbers of m in Prometheus' text format 0.0.4. Their names begin with
// simdb_. Counters end with _total, and durations are in seconds. All have the label db, with the
// path of the database.
func WritePrometheus(w io.Writer, m engine.Metrics) error {
	var out bytes.Buffer
	path := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(m.Path)
	for field, v := range reflect.ValueOf(m).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !v.CanInt() && !v.CanFloat() {
			continue
		}
		kind, number := "counter", v.Interface()
		if d, ok := number.(time.Duration); ok {
			name, number = strings.TrimSuffix(name, "_ns")+"_seconds", d.Seconds()
		}
		if gauges[name] {
			kind = "gauge"
		} else {
			name += "_total"
		}
		fmt.Fprintf(&out, "# TYPE simdb_%s %s\nsimdb_%s{db=\"%s\"} %v\n", name, kind, name, path, number)
	}
	_, err := w.Write(out.Bytes())
	return err
}
