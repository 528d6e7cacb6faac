package records

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/simdb/simdb/internal/must"
)

// packedWith compresses data with zstd, as a frame with this window, a power of two, or as a single
// segment.
func packedWith(t *testing.T, data []byte, window int, single bool) []byte {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithSingleSegment(single), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	must.Do(t, err)
	if single {
		return w.EncodeAll(data, nil)
	}
	w.Write(data)
	must.Do(t, w.Close())
	return b.Bytes()
}

// TestWindows reads frames whose windows are larger than the memory allows. Frames that are short
// or refer only to recent content are read; for others the error says how to read them.
func TestWindows(t *testing.T) {
	data := make([]byte, 3<<20)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(data[:2<<20])
	copy(data[2<<20:], data) // 2 MiB back
	short := packedWith(t, []byte("a text that is short, a text that is short"), 1<<20, false)
	short[5] = (31 - 10) << 3 // as `zstd --long=31` writes it
	skipped := []byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc")
	for name, c := range map[string]struct {
		packed []byte
		log    byte // of the largest window that the memory allows
		want   string
	}{
		"2 GiB":             {short, 20, ""},
		"several":           {bytes.Join([][]byte{skipped, short, skipped, short}, nil), 20, ""},
		"room":              {packedWith(t, data, 4<<20, false), 22, ""},
		"no room":           {packedWith(t, data, 4<<20, false), 20, "its zstd window of 4 MiB needs Memory of 16 MiB, unless zstd decompresses it first"},
		"one segment":       {packedWith(t, data[:2<<20], 4<<20, true), 20, ""},
		"one, no room":      {packedWith(t, data, 4<<20, true), 20, "its zstd window of 3 MiB needs"},
		"first is one":      {append(packedWith(t, data[:2<<20], 4<<20, true), short...), 20, ""},
		"cut off":           {short[:len(short)-4], 20, "is the file truncated?"},
		"header cut off":    {short[:5], 20, "is the file truncated?"},
		"second is no zstd": {append(short[:len(short):len(short)], "rubbish"...), 20, "magic number mismatch"},
	} {
		f := newFrames(bufio.NewReader(bytes.NewReader(c.packed)), 0)
		f.most = (c.log - 10) << 3
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(f.window()))
		must.Do(t, err)
		got, err := io.ReadAll(explaining{f.explaining(z), "zstd"})
		z.Close()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if whole, _ := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(4<<30)); c.want == "" {
			if want, err := whole.DecodeAll(c.packed, nil); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, want %d, %v", name, len(got), len(want), err)
			}
		}
	}
	for memory, want := range map[int64]uint64{0: 128 << 20, 1 << 30: 256 << 20, 8 << 30: 2 << 30, 9 << 30: 2 << 30} {
		if got := newFrames(nil, memory).window(); got != want {
			t.Errorf("memory of %d: a window of %d, want %d", memory, got, want)
		}
	}
}

// TestBehindGzip reads gzip files with various data after their last member.
func TestBehindGzip(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, "a line\n")
	w.Close()
	member := b.String()
	for behind, want := range map[string]string{
		"":                                "",
		strings.Repeat("\x00", 5000):      "",
		member:                            "a line\n",
		"\x00\x00" + member + "\x00":      "a line\n",
		member[:12]:                       "is the file truncated?",
		"\x1f":                            "other data follows the gzip data",
		strings.Repeat("\x00", 512) + "x": "other data follows the gzip data",
		"second line\n":                   "other data follows the gzip data: decompress the file with gzip first, which ignores it",
	} {
		content, packed, _, err := decompress(strings.NewReader(member+behind), -1, 0)
		must.Do(t, err)
		got, err := io.ReadAll(explaining{content, packed})
		if err == nil && string(got) != "a line\n"+want || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q behind it: %q, %v", behind[:min(len(behind), 20)], got, err)
		}
	}
}
