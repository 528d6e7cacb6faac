package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func checksum(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// sampleLog returns the bytes of a log with these payloads. Those before index synced were synced
// before the next was appended.
func sampleLog(t testing.TB, payloads []string, synced int, closed bool) []byte {
	t.Helper()
	fs := vfstest.NewMem("")
	w := mustCreate(t, fs, "log")
	for i, payload := range payloads {
		end := mustAppend(t, w, payload)
		if i+1 == synced {
			must.Do(t, w.Sync(end))
		}
	}
	err := w.Flush(w.Size())
	if closed {
		err = w.Close()
	}
	must.Do(t, err)
	return contentOf(t, fs, "log")
}

var words = []string{"one", "", "three is longer", "four", "five: " + fmt.Sprint(rand.New(rand.NewPCG(1, 1)).Perm(200)), "six", "seven"}

// positions returns the positions of the frames in a log with these payloads, and its end.
func positions(payloads []string) []int {
	pos := []int{HeaderSize}
	for i, p := range payloads {
		pos = append(pos, pos[i]+int(frameSize(int64(len(p)))))
	}
	return pos
}

// replayImage replays a damaged log. The result must be a prefix of the payloads or a corruption
// error with its place.
func replayImage(t *testing.T, what string, image []byte, last bool) (frames int, res Result, err error) {
	t.Helper()
	got, res, err := collect(fileOf(t, image), "log", Options{Last: last})
	var damage *base.CorruptionError
	if err != nil && !errors.As(err, &damage) {
		t.Fatalf("%s: %v", what, err)
	}
	if err != nil && (damage.File != "log" || damage.Section != Section || damage.Offset < 0 || damage.Offset > int64(len(image))) {
		t.Fatalf("%s: wrong place in %+v", what, damage)
	}
	if len(got) > len(words) || !slices.Equal(got, words[:len(got)]) {
		t.Fatalf("%s: %q", what, got)
	}
	return len(got), res, err
}

// TestEveryByteFlipped checks that, in a closed log, every flip is noticed, or hits the end frame
// of the last log and changes nothing. In the open log, the sixth frame records the first 5 as
// durable, and only flips in the last frame, which no intact frame follows, shorten the log.
func TestEveryByteFlipped(t *testing.T) {
	const synced = 5
	closed, open := sampleLog(t, words, synced, true), sampleLog(t, words, synced, false)
	pos := positions(words)
	for i := range closed {
		for _, flip := range []byte{0x01, 0x10, 0x80, 0xff} {
			what := fmt.Sprintf("byte %d ^ %x", i, flip)
			closed[i] ^= flip
			if _, _, err := replayImage(t, "not last, "+what, closed, false); err == nil {
				t.Fatalf("not last, %s was not noticed", what)
			}
			if n, _, err := replayImage(t, "closed, "+what, closed, true); err == nil && (n < len(words) || i < pos[len(words)]) {
				t.Fatalf("closed, %s: %d frames without an error", what, n)
			}
			closed[i] ^= flip
			if i >= len(open) {
				continue
			}
			open[i] ^= flip
			n, res, err := replayImage(t, "open, "+what, open, true)
			if inLast := i >= pos[len(words)-1]; inLast != (err == nil) || inLast && (n != len(words)-1 || !res.Torn) {
				t.Fatalf("open, %s: %d frames, %+v, %v", what, n, res, err)
			}
			open[i] ^= flip
		}
	}
}

func TestEveryTruncation(t *testing.T) {
	image := sampleLog(t, words, 5, true)
	pos := positions(words)
	for size := range image {
		what := fmt.Sprintf("first %d bytes", size)
		if _, _, err := replayImage(t, what, image[:size], false); err == nil {
			t.Fatalf("not last, %s: not noticed", what)
		}
		n, res, err := replayImage(t, what, image[:size], true)
		whole := 0
		for whole < len(words) && pos[whole+1] <= size {
			whole++
		}
		end := int64(0)
		if size >= HeaderSize {
			end = int64(pos[whole])
		}
		if err != nil || n != whole || res.End != end || res.TornBytes != int64(size)-end {
			t.Fatalf("%s: %d frames, %+v, %v; want %d", what, n, res, err, whole)
		}
	}
}

// TestMovedFrames replaces frames by frames from other positions, and from other logs.
func TestMovedFrames(t *testing.T) {
	payloads := []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"}
	image := sampleLog(t, payloads, 0, true)
	frame := func(b []byte, i int) []byte { return b[HeaderSize+24*i:][:24] }
	for i := range payloads {
		for j := range payloads {
			damaged := bytes.Clone(image)
			copy(frame(damaged, i), frame(image, j))
			if _, _, err := collect(fileOf(t, damaged), "log", Options{Last: true}); (err == nil) != (i == j) {
				t.Errorf("frame %d in the place of %d: %v", j, i, err)
			}
		}
	}
	fs := vfstest.NewMem("")
	w := must.Get(Create(fs, "log", Header{Database: testHeader.Database, Number: testHeader.Number + 1}))(t)
	for _, p := range payloads {
		mustAppend(t, w, p)
	}
	w.Close()
	other := contentOf(t, fs, "log")
	damaged := bytes.Clone(image)
	copy(frame(damaged, 1), frame(other, 1))
	if _, _, err := collect(fileOf(t, damaged), "log", Options{Last: true}); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("a frame of another log: %v", err)
	}
	if _, _, err := collect(fileOf(t, append(bytes.Clone(image), 0)), "log", Options{Last: true}); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("a byte after the end frame: %v", err)
	}
}

// TestUnwrittenSector distinguishes a sector that a crash left unwritten from a damaged one, if the
// intact frames that follow do not record it as durable.
func TestUnwrittenSector(t *testing.T) {
	payloads := []string{"synced", string(bytes.Repeat([]byte("x"), 2000)), "after"}
	image := sampleLog(t, payloads, 1, false)
	for sector := 1; sector <= 3; sector++ {
		lost := bytes.Clone(image)
		clear(lost[512*sector : 512*(sector+1)])
		got, res, err := collect(fileOf(t, lost), "log", Options{Last: true})
		if err != nil || len(got) != 1 || !res.Torn {
			t.Errorf("sector %d not written: %q, %+v, %v", sector, got, res, err)
		}
		lost[512*sector+100] = 'x'
		if _, _, err := collect(fileOf(t, lost), "log", Options{Last: true}); !errors.Is(err, base.ErrCorruption) {
			t.Errorf("sector %d damaged: %v", sector, err)
		}
	}
	// First the rest of the first sector, from the second frame on; then a larger part, which the
	// third frame records as durable.
	lost := bytes.Clone(image)
	clear(lost[positions(payloads)[1]:512])
	if got, res, err := collect(fileOf(t, lost), "log", Options{Last: true}); err != nil || len(got) != 1 || !res.Torn {
		t.Errorf("first sector not written: %q, %+v, %v", got, res, err)
	}
	clear(lost[positions(payloads)[0]:512])
	if _, _, err := collect(fileOf(t, lost), "log", Options{Last: true}); !errors.Is(err, base.ErrCorruption) {
		t.Errorf("synced part of the first sector: %v", err)
	}
}

// TestVouchedLoss loses a whole sector that a later frame records as durable.
func TestVouchedLoss(t *testing.T) {
	payloads := []string{string(bytes.Repeat([]byte("x"), 2000)), "after"}
	image := sampleLog(t, payloads, 1, false)
	clear(image[512:1024])
	_, _, err := collect(fileOf(t, image), "log", Options{Last: true})
	var damage *base.CorruptionError
	if !errors.As(err, &damage) || damage.Offset != HeaderSize {
		t.Error(err)
	}
}

// TestNestedLog stores logs as payloads: the frames in them have wrong positions and must not be
// accepted as frames.
func TestNestedLog(t *testing.T) {
	inner := sampleLog(t, words, 3, true)
	payloads := []string{string(inner), string(inner[HeaderSize:]), "tail"}
	image := sampleLog(t, payloads, 0, false)
	got, _, err := collect(fileOf(t, image), "log", Options{Last: true})
	if err != nil || !slices.Equal(got, payloads) {
		t.Fatal(err)
	}
	image = image[:len(image)-40] // cuts into the second payload
	got, res, err := collect(fileOf(t, image), "log", Options{Last: true})
	if err != nil || len(got) != 1 || !res.Torn {
		t.Errorf("%d frames, %+v, %v", len(got), res, err)
	}
}

// TestHostileImitations replays a log with a tail in which every other position looks like the
// header of a long frame: this must not need quadratic time, which would be hours.
func TestHostileImitations(t *testing.T) {
	image := sampleLog(t, []string{"one"}, 0, false)
	size := 8 << 20
	for len(image) < size {
		image = binary.LittleEndian.AppendUint64(image, uint64(size/4)<<32) // checksum, length
		image = binary.LittleEndian.AppendUint64(image, typeData<<56)
	}
	_, _, err := collect(fileOf(t, image), "log", Options{Last: true})
	if !errors.Is(err, base.ErrCorruption) {
		t.Error(err)
	}
}

// TestImpossibleSynced replays a frame that records itself, and more, as durable: no Writer has
// written it.
func TestImpossibleSynced(t *testing.T) {
	image, seed := encodeHeader(testHeader)
	image = appendFrame(image, seed, HeaderSize, HeaderSize+8, typeData, []byte("liar"))
	if n, _, err := replayImage(t, "synced past its position", image, false); n != 0 || err == nil {
		t.Errorf("%d frames, %v", n, err)
	}
}
