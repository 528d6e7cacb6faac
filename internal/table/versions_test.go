package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
)

// withVersion3 adds a version 3 of the format for the duration of a test. Its directory is that of
// version 2 with 16 more bytes in front, and it has a kind of section that version 2 does not know.
func withVersion3(t *testing.T) {
	const front = 16
	mark := []byte("version 3 begins")
	format.Versions[3] = &format.Version{
		Least: format.Versions[2].Least + front, Unknown: format.KindUnknown + 1,
		AppendDirectory: func(b []byte, p Params, info *Info) []byte {
			return format.AppendDirectory2(append(b, mark...), p, info)
		},
		ParseDirectory: func(dir []byte) (Params, Info, int, error) {
			if !bytes.Equal(dir[:front], mark) {
				return Params{}, Info{}, 0, errors.New("no mark")
			}
			p, info, at, err := format.ParseDirectory2(dir[front:])
			return p, info, at + front, err
		},
		EntryAt: func(i int) int { return format.EntryAt2(i) + front },
	}
	t.Cleanup(func() { delete(format.Versions, 3) })
}

// TestVersion3 writes a table in version 3. It must be read, searched, verified and described along
// with a table of version 2, and refused by a program that does not know version 3.
func TestVersion3(t *testing.T) {
	withVersion3(t)
	docs := testDocs(rand.New(rand.NewPCG(81, 82)), 700)
	three, _ := buildTable(t, testParams, WriterOptions{Version: 3}, docs)
	two, _ := buildTable(t, testParams, WriterOptions{}, docs)
	golden, err := os.ReadFile("testdata/v2.sst")
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[uint32][]byte{2: two, 3: three} {
		r := openTable(t, data)
		if r.Info().Version != want {
			t.Errorf("version %d, want %d", r.Info().Version, want)
		}
		checkReader(t, r, testParams, docs)
		var s strings.Builder
		if err := r.Describe(&s); err != nil || !strings.Contains(s.String(), ".sst format version "+string(rune('0'+want))) {
			t.Errorf("version %d is described as %q, %v", want, s.String(), err)
		}
	}
	for _, data := range [][]byte{golden, two, three} {
		if err := openTable(t, data).Verify(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	// A section of a kind that only version 3 has: valid in version 3, unknown in version 2.
	more := func(data []byte) error {
		_, err := OpenBytes(withSections(t, data, func(s []Section, extra int64) []Section {
			return append(s, Section{Kind: format.KindUnknown, Offset: extra, Length: 10})
		}), "test.sst")
		return err
	}
	if err := more(three); err != nil {
		t.Errorf("a section of version 3: %v", err)
	}
	if err := more(two); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a section of version 3 in a table of version 2: %v", err)
	}
	damaged := bytes.Clone(three)
	damaged[20] = 1
	if err := openTable(t, damaged).Verify(t.Context(), nil); err == nil {
		t.Error("a reserved byte of the header that is not zero is not noticed")
	}
	refused(t, withFormat(three, 7), "table format version 7; this program reads 2 and 3")
	delete(format.Versions, 3)
	refused(t, three, "table format version 3; this program reads 2")
}

// TestVersion1 opens a table of version 1, which no release wrote: the error must name the version
// and say what to do. Damaged ones are reported as damaged.
func TestVersion1(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.sst")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, data, "table format version 1, from before the first release: export the documents with the program that wrote it, "+
		"and load them again")
	for _, at := range []int{0, 8, len(data) - 1, len(data) - 10, len(data) - 14} {
		damaged := bytes.Clone(data)
		damaged[at] ^= 2
		if _, err := OpenBytes(damaged, "test.sst"); !errors.Is(err, base.ErrCorruption) || errors.Is(err, ErrUnsupported) {
			t.Errorf("byte %d flipped: %v", at, err)
		}
	}
}

// withFormat returns a table with another version number.
func withFormat(data []byte, version uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[8:], version)
	tail := data[len(data)-format.TailSize:]
	binary.LittleEndian.PutUint32(tail[16:], version)
	binary.LittleEndian.PutUint32(tail[20:], kernel.CRC32C(0, tail[:20]))
	return data
}

// refused checks that a table is refused with ErrUnsupported and some words.
func refused(t *testing.T, data []byte, words string) {
	t.Helper()
	if _, err := OpenBytes(data, "test.sst"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), words+":") {
		t.Errorf("opened with %v, want %s", err, words)
	}
}

// TestParametersToCome has widths of fingerprints, encodings of sketches and words that this
// program does not know. The error must name them: such a table is not damaged.
func TestParametersToCome(t *testing.T) {
	data, _ := buildTable(t, testParams, WriterOptions{}, testDocs(rand.New(rand.NewPCG(1, 2)), 3))
	for at, words := range map[int]string{
		format.WidthAt: "fingerprints of another width, code 200", format.EncodingAt: "sketches in another encoding, code 200",
		0: "words of tokenizer version 200 with hash version 1, later than 3 and 1",
	} {
		other := bytes.Clone(data)
		tail := other[len(other)-format.TailSize:]
		dir := other[binary.LittleEndian.Uint64(tail):][:binary.LittleEndian.Uint32(tail[8:])]
		dir[at] = 200
		binary.LittleEndian.PutUint32(tail[12:], kernel.CRC32C(0, dir))
		binary.LittleEndian.PutUint32(tail[20:], kernel.CRC32C(0, tail[:20]))
		refused(t, other, words)
		if _, err := OpenBytes(other, "test.sst"); errors.Is(err, ErrCorruption) {
			t.Errorf("%s is called damage: %v", words, err)
		}
	}
}
