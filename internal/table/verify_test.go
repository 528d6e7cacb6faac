package table

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/format"
)

// TestVerifySideBySide verifies tables with damage that several checks find at the same time: the
// error must always come from the first check. Progress is reported by one goroutine at a time.
func TestVerifySideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	docs := testDocs(rand.New(rand.NewPCG(5, 5)), 30_000)
	data, _ := buildTable(t, testParams, WriterOptions{Hot: hotOf(docs)}, docs)

	r := openTable(t, data)
	last, total, reports := int64(0), 2*r.Info().Size, 0
	err := r.Verify(t.Context(), func(done, all int64) {
		if done < last || done > all || all != total {
			t.Errorf("%d of %d after %d of %d", done, all, last, total)
		}
		last = done
		reports++
	})
	if err != nil || last != total || reports < 3 {
		t.Errorf("%d of %d in %d reports, %v", last, total, reports, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	err = openTable(t, data).Verify(ctx, func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a verification that is canceled ends with %v", err)
	}

	damaged := bytes.Clone(data)
	var first *Section // the first in the file
	for i := range r.Info().Sections {
		if s := &r.Info().Sections[i]; s.Kind == KindRun || s.Kind == KindIDs || s.Kind == KindTimes || s.Kind == format.KindBlocks {
			damaged[s.Offset+s.Length/2] ^= 1
			if first == nil || s.Offset < first.Offset {
				first = s
			}
		}
	}
	for range 40 {
		err := openTable(t, damaged).Verify(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "wrong checksum of the section") || !strings.Contains(err.Error(), first.Name()) {
			t.Fatalf("%v, want the checksum of section %s", err, first.Name())
		}
	}
}
