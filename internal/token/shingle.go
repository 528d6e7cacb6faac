package token

import (
	"io"
	"unsafe"
)

// Sink takes the shingle hashes of a text, in the order of the text and with repetitions, in pieces of any length. It
// must not keep the slice.
type Sink interface {
	Shingles(hashes []uint64)
}

// Stats counts what a walk over a text has seen.
type Stats struct {
	Bytes   int64 // bytes of text
	Words   int64 // words, with repetitions
	Invalid int64 // bytes that are not UTF-8; each counts as U+FFFD, which is not a word
}

// Shingler walks over texts and gives the hashes of their shingles to a sink. It holds buffers of a fixed size, so it
// allocates nothing after it was made, but it serves one goroutine at a time.
type Shingler struct {
	scan   Scanner
	k      int
	words  []uint64 // the last k-1 words of the segments before, then the words of this one
	carry  int      // how many of words are from before
	total  int64    // words so far
	hashes []uint64
	window []byte // for Read: text that was read and not yet scanned
}

// NewShingler returns a Shingler for shingles of k words under the hash function of a seed. k must be positive.
func NewShingler(k int, seed uint64) *Shingler {
	return &Shingler{
		scan:   Scanner{h: NewHasher(seed)},
		k:      k,
		words:  make([]uint64, k-1+segmentWords),
		hashes: make([]uint64, segmentWords),
	}
}

// Text gives the hashes of the shingles of text to sink.
func (s *Shingler) Text(text string, sink Sink) Stats {
	// The bytes are only read.
	return s.Bytes(unsafe.Slice(unsafe.StringData(text), len(text)), sink)
}

// Bytes gives the hashes of the shingles of text to sink.
func (s *Shingler) Bytes(text []byte, sink Sink) Stats {
	s.reset()
	n := s.run(text, true, sink)
	return s.close(int64(n), sink)
}

// windowBytes is how much of a reader's text is held at a time.
const windowBytes = 64 << 10

// Read gives the hashes of the shingles of the text that r holds to sink, in memory that does not depend on its length.
func (s *Shingler) Read(r io.Reader, sink Sink) (Stats, error) {
	if s.window == nil {
		s.window = make([]byte, windowBytes)
	}
	s.reset()
	total, held := int64(0), 0
	for {
		n, err := r.Read(s.window[held:])
		held += n
		if err != nil && err != io.EOF {
			return Stats{}, err
		}
		if held < windowBytes/2 && err == nil {
			continue
		}
		read := s.run(s.window[:held], err == io.EOF, sink)
		held = copy(s.window, s.window[read:held])
		total += int64(read)
		if err == io.EOF {
			return s.close(total, sink), nil
		}
	}
}

func (s *Shingler) reset() {
	s.scan.reset()
	s.carry, s.total = 0, 0
}

// run scans as much of text as it can, all of it if it is final, and returns how much that is.
func (s *Shingler) run(text []byte, final bool, sink Sink) int {
	read := 0
	for {
		words, n := s.scan.next((*[segmentWords]uint64)(s.words[s.carry:]), text[read:], final)
		s.emit(words, sink)
		read += n
		if n == 0 {
			return read
		}
	}
}

// close ends the text.
func (s *Shingler) close(bytes int64, sink Sink) Stats {
	s.emit(s.scan.finish((*[segmentWords]uint64)(s.words[s.carry:])), sink)
	if s.total > 0 && s.total < int64(s.k) { // fewer words than a shingle has: one shingle of all of them
		n := shingles(s.hashes, s.words[:s.carry], s.carry)
		sink.Shingles(s.hashes[:n])
	}
	return Stats{Bytes: bytes, Words: s.total, Invalid: int64(s.scan.invalid)}
}

// emit makes shingles of the n words that follow the carried ones, and carries the last k-1.
func (s *Shingler) emit(n int, sink Sink) {
	if n == 0 {
		return
	}
	s.total += int64(n)
	words := s.words[:s.carry+n]
	if n := shingles(s.hashes, words, s.k); n > 0 {
		sink.Shingles(s.hashes[:n])
	}
	s.carry = copy(s.words, words[max(0, len(words)-(s.k-1)):])
}
