package dedup

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records/inputs"
)

// TestCrowded checks the warning about a slow join, and that the joins of a job give it.
func TestCrowded(t *testing.T) {
	var log bytes.Buffer
	env := &inputs.Env{Log: slog.New(slog.NewTextHandler(&log, nil))}
	d := &job{env: env, c: &Job{}}
	d.setOptions(nil).Crowded(7654)
	(&Documents{env: env}).options().Crowded(7654)
	crowded(env, setjoin.Cosine)(100)
	if !strings.Contains(log.String(), "100 times") || strings.Count(log.String(), "use a higher threshold\"") != 1 {
		t.Errorf("of words it says %s", &log)
	}
	for _, part := range []string{"about 7,654 times", "Shingle", "Mask or StopWords"} {
		if strings.Count(log.String(), part) != 2 {
			t.Errorf("%q is not there twice: %s", part, &log)
		}
	}
}
