package sstable

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/simdb/simdb/sstable/internal/crc"
)

// withVersion2 adds a version 2 of the format for the time of a test: its directory is that of
// version 1 with 16 more bytes in front, and it has a kind of section that version 1 does not know.
func withVersion2(t *testing.T) {
	const front = 16
	mark := []byte("version 2 begins")
	versions[2] = &version{
		least: versions[1].least + front, unknown: kindUnknown + 1,
		appendDirectory: func(b []byte, p Params, info *Info) []byte {
			return appendDirectory1(append(b, mark...), p, info)
		},
		parseDirectory: func(dir []byte) (Params, Info, int, error) {
			if !bytes.Equal(dir[:front], mark) {
				return Params{}, Info{}, 0, errors.New("no mark")
			}
			p, info, at, err := parseDirectory1(dir[front:])
			return p, info, at + front, err
		},
		entryAt: func(i int) int { return entryAt1(i) + front },
	}
	idHashes[2] = idHashes[1]
	t.Cleanup(func() { delete(versions, 2); delete(idHashes, 2) })
}

// TestVersion2 writes a table in version 2. It is read, searched, verified and described beside one
// of version 1, and refused by a program that does not know it.
func TestVersion2(t *testing.T) {
	withVersion2(t)
	docs := testDocs(rand.New(rand.NewPCG(81, 82)), 700)
	two, _ := buildTable(t, testParams, WriterOptions{version: 2}, docs)
	one, _ := buildTable(t, testParams, WriterOptions{}, docs)
	golden, err := os.ReadFile("testdata/v1.sst")
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[uint32][]byte{1: one, 2: two} {
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
	for _, data := range [][]byte{golden, one, two} {
		if err := openTable(t, data).Verify(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	// A section of a kind that version 2 has: as good there as it is unknown in version 1.
	more := func(data []byte) error {
		_, err := OpenBytes(withSections(t, data, func(s []Section, extra int64) []Section {
			return append(s, Section{Kind: kindUnknown, Offset: extra, Length: 10})
		}), "test.sst")
		return err
	}
	if err := more(two); err != nil {
		t.Errorf("a section of version 2: %v", err)
	}
	if err := more(one); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a section of version 2 in a table of version 1: %v", err)
	}
	damaged := bytes.Clone(two)
	damaged[20] = 1
	if err := openTable(t, damaged).Verify(t.Context(), nil); err == nil {
		t.Error("a reserved byte of the header that is not zero is not noticed")
	}
	refused(t, withFormat(two, 7), "table format version 7; this program reads 1 and 2")
	delete(versions, 2)
	refused(t, two, "table format version 2; this program reads 1")
}

// withFormat returns a table with another number for its version.
func withFormat(data []byte, version uint32) []byte {
	data = bytes.Clone(data)
	binary.LittleEndian.PutUint32(data[8:], version)
	tail := data[len(data)-tailSize:]
	binary.LittleEndian.PutUint32(tail[16:], version)
	binary.LittleEndian.PutUint32(tail[20:], crc.Sum(tail[:20]))
	return data
}

// refused makes sure that a table is refused with ErrUnsupported and some words.
func refused(t *testing.T, data []byte, words string) {
	t.Helper()
	if _, err := OpenBytes(data, "test.sst"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), words+":") {
		t.Errorf("opened with %v, want %s", err, words)
	}
}
