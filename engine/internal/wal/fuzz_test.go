package wal

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
)

// FuzzWAL replays arbitrary bytes as a log. With repair it first corrects the header and the
// checksums of the frames, so that the code behind these checks is reached too.
func FuzzWAL(f *testing.F) {
	closed, open := sampleLog(f, words, 5, true), sampleLog(f, words, 2, false)
	for _, image := range [][]byte{closed, open, open[:len(open)-3], closed[:HeaderSize], closed[:20], {}} {
		f.Add(image, false, true)
		f.Add(image, true, false)
	}
	torn := slices.Clone(open)
	clear(torn[512:])
	f.Add(torn, false, true)
	f.Fuzz(func(t *testing.T, image []byte, repair, last bool) {
		if repair {
			image = repaired(image)
		}
		fs := fileOf(t, image)
		got, res, err := collect(fs, "log", Options{Last: last})
		if err != nil {
			if !errors.Is(err, base.ErrCorruption) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		if res.End+res.TornBytes != int64(len(image)) || res.Frames != len(got) || !last && !res.Clean {
			t.Fatalf("%+v of %d bytes", res, len(image))
		}
		must.Get(Cut(fs, "log", res))(t)
		if res.End == 0 {
			return
		}
		again, res, err := collect(fs, "log", Options{})
		if err != nil || !res.Clean || !slices.Equal(got, again) {
			t.Fatalf("after Cut: %+v, %v", res, err)
		}
	})
}

// repaired returns the log with a right header and right checksums, as far as the lengths of its
// frames are valid.
func repaired(image []byte) []byte {
	head, seed := encodeHeader(testHeader)
	out := append(head, image[min(HeaderSize, len(image)):]...)
	for pos := HeaderSize; len(out)-pos >= frameHeader; {
		h, ok := decodeHead(out[pos:], int64(pos), int64(len(out)))
		if !ok {
			break
		}
		end := pos + int(frameSize(h.payload))
		binary.LittleEndian.PutUint32(out[pos:], frameCRC(seed, int64(pos), out[pos:end]))
		pos = end
	}
	return out
}
