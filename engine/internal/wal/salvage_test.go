package wal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// salvageImage salvages the bytes of a log and returns its payloads.
func salvageImage(t *testing.T, image []byte, expected *Header) (got []string, res Salvaged) {
	t.Helper()
	fs := vfstest.NewMem("")
	must.Do(t, vfstest.WriteFile(fs, "log", string(image)))
	res, err := Salvage(fs, "log", expected, func(_ int64, payload []byte) error {
		got = append(got, string(payload))
		return nil
	})
	must.Do(t, err)
	return got, res
}

// TestSalvage damages every byte of a log, and every run of sixteen bytes: all undamaged frames
// must come back, in order, and the rest must be a gap.
func TestSalvage(t *testing.T) {
	image := sampleLog(t, words, 3, true)
	pos, longest := positions(words), 0
	for i := range words {
		longest = max(longest, pos[i+1]-pos[i], HeaderSize)
	}
	all, whole := salvageImage(t, image, nil)
	if len(whole.Gaps) > 0 || !whole.Clean || !slices.Equal(all, words) || whole.End != int64(len(image)) {
		t.Fatalf("an intact log: %+v", whole)
	}
	header, ok := ParseHeader(image)
	if !ok {
		t.Fatal("no header")
	}
	other := header
	other.Number++
	if got, res := salvageImage(t, image, &other); len(got) > 0 || len(res.Gaps) != 1 {
		t.Errorf("of another log %q, gaps %v", got, res.Gaps)
	}
	for at := range image {
		for _, n := range []int{1, 16} {
			bad := bytes.Clone(image)
			for i := at; i < min(at+n, len(bad)); i++ {
				bad[i] ^= 0x41
			}
			what := fmt.Sprintf("%d bytes at %d", n, at)
			got, res := salvageImage(t, bad, &header)
			var want []string
			for i, word := range words {
				if at+n <= pos[i] || at >= pos[i+1] {
					want = append(want, word)
				}
			}
			if !slices.Equal(got, want) || len(res.Gaps) == 0 {
				t.Fatalf("%s: %q, not %q; gaps %v", what, got, want, res.Gaps)
			}
			if g, ok := errors.AsType[*base.CorruptionError](res.Gaps[0]); !ok || int(g.Offset) > at || at-int(g.Offset) >= longest {
				t.Fatalf("%s: the gap is %v", what, res.Gaps[0])
			}
		}
	}
	for n := range image {
		got, res := salvageImage(t, image[:n], &header)
		if want := max(0, len(slices.DeleteFunc(slices.Clone(pos), func(p int) bool { return p > n }))-1); len(got) != want {
			t.Fatalf("cut to %d bytes: %d frames, not %d", n, len(got), want)
		}
		if res.Clean {
			t.Fatalf("cut to %d bytes: an end frame", n)
		}
	}
	bad := append(make([]byte, HeaderSize), image[HeaderSize:]...)
	if got, res := salvageImage(t, bad, nil); len(got) > 0 || len(res.Gaps) != 1 {
		t.Errorf("without a header %q, gaps %v", got, res.Gaps)
	}
}

// TestSalvageImitations salvages a log full of data that looks like frames: reading it must end
// soon.
func TestSalvageImitations(t *testing.T) {
	head := make([]byte, 8)
	head[4], head[5], head[6] = 0, 0, 8 // a length of half a megabyte
	payload := bytes.Repeat(append(head, 0, 0, 0, 0, 0, 0, 0, typeData), 200_000)
	image := sampleLog(t, []string{string(payload), "last"}, 0, true)
	image[HeaderSize] ^= 1
	got, res := salvageImage(t, image, nil)
	if len(got) > 1 || len(res.Gaps) == 0 {
		t.Errorf("%d frames, gaps %v", len(got), res.Gaps)
	}
}
