package token

import (
	"errors"
	"fmt"
	"io"
	"unsafe"
)

// Sink takes the shingle hashes of a text, in the order of the text and with repetitions, in pieces
// of any length. It must not keep the slice.
type Sink interface {
	Shingles(hashes []uint64)
}

// Stats counts what a walk over a text has seen.
type Stats struct {
	Bytes   int64 // bytes of text
	Words   int64 // words, with repetitions
	Invalid int64 // bytes that are not UTF-8; each counts as U+FFFD, which is not a word
}

// Config says what the shingles of a text are.
type Config struct {
	Shingle   int      // words of a shingle, or characters of an n-gram; at least 1
	Seed      uint64   // seed of the hash function
	CharGrams bool     // n-grams of characters take the place of shingles of words
	Symbols   bool     // each run of other characters than white space is a word, too
	Require   []string // if not nil, only shingles that hold one of these words count; not with CharGrams
}

// MaxShingle is the largest Config.Shingle.
const MaxShingle = 1 << 16

// Validate returns an error if c makes no sense.
func (c Config) Validate() error {
	if c.Shingle < 1 || c.Shingle > MaxShingle {
		return fmt.Errorf("shingles of %d words: want 1 to %d", c.Shingle, MaxShingle)
	}
	if c.CharGrams && c.Require != nil {
		return errors.New("required words choose among shingles of words, not n-grams of characters")
	}
	return nil
}

// flushWords is how many new words are enough to make shingles of: where the paths of the scanner
// alternate, it finds only a few at a time. There must also be k of them, since k-1 words are
// carried on each time.
const flushWords = 256

// source turns text into the hashes of words, or characters; see scanner, which is the usual one.
type source interface {
	reset()
	next(dst *[segmentWords]uint64, text []byte, final bool) (words, read int)
	finish(dst *[segmentWords]uint64) int
	invalidBytes() int
}

// Shingler walks over texts and gives the hashes of their shingles to a sink. It holds buffers of a
// fixed size, so it allocates nothing after it was made, but it serves one goroutine at a time.
type Shingler struct {
	source  source
	h       Hasher
	k       int
	symbols bool
	require map[uint64]bool // hashes of words; nil: all shingles count
	bare    bare            // makes a word of a text without letters and numbers
	words   []uint64        // the last k-1 words of the segments before, then the words of this one
	carry   int             // how many of words are from before
	fresh   int             // how many of words follow them
	total   int64           // words so far
	hashes  []uint64
	window  []byte // for Read: text that was read and not yet scanned
}

// NewShingler returns a Shingler for shingles of k words under the hash function of a seed. k must
// be positive.
func NewShingler(k int, seed uint64) *Shingler { return New(Config{Shingle: k, Seed: seed}) }

// New returns a Shingler. c must be valid.
func New(c Config) *Shingler {
	h := NewHasher(c.Seed)
	s := &Shingler{
		source:  &scanner{h: h, symbols: c.Symbols},
		h:       h,
		k:       c.Shingle,
		symbols: c.Symbols,
		words:   make([]uint64, flushWords+segmentWords),
		hashes:  make([]uint64, flushWords+segmentWords),
	}
	if c.CharGrams {
		s.source = newGramScanner(h, c.Symbols)
	}
	if c.Require != nil {
		s.require = map[uint64]bool{}
		for _, text := range c.Require {
			for w := range Split(text, c.Symbols) {
				s.require[h.Of(w)] = true
			}
		}
	}
	return s
}

// Text gives the hashes of the shingles of text to sink.
func (s *Shingler) Text(text string, sink Sink) Stats {
	// The bytes are only read.
	return s.Bytes(unsafe.Slice(unsafe.StringData(text), len(text)), sink)
}

// Bytes gives the hashes of the shingles of text to sink.
func (s *Shingler) Bytes(text []byte, sink Sink) Stats {
	s.reset()
	s.bare.take(s.h, text, true)
	n := s.run(text, true, sink)
	return s.close(int64(n), sink)
}

const (
	windowBytes = 64 << 10 // how much of a reader's text is held at a time
	maxIdle     = 100      // how often in a row a reader may give nothing
)

// Read gives the hashes of the shingles of the text that r holds to sink, in memory that does not
// depend on its length.
func (s *Shingler) Read(r io.Reader, sink Sink) (Stats, error) {
	if s.window == nil {
		s.window = make([]byte, windowBytes)
	}
	s.reset()
	total, held, idle, taken := int64(0), 0, 0, 0
	for {
		n, err := r.Read(s.window[held:])
		if held += n; err != nil && err != io.EOF {
			return Stats{}, err
		}
		if n > 0 {
			idle = 0
		} else if idle++; err == nil && idle > maxIdle {
			return Stats{}, io.ErrNoProgress
		}
		if held < windowBytes/2 && err == nil {
			continue
		}
		taken += s.bare.take(s.h, s.window[taken:held], err == io.EOF)
		read := s.run(s.window[:held], err == io.EOF, sink)
		taken = max(taken-read, 0)
		held = copy(s.window, s.window[read:held])
		total += int64(read)
		if err == io.EOF {
			return s.close(total, sink), nil
		}
	}
}

func (s *Shingler) reset() {
	s.source.reset()
	s.bare = bare{wordy: s.symbols} // then there is nothing to look for
	s.carry, s.fresh, s.total = 0, 0, 0
}

// run scans as much of text as it can, all of it if it is final, and returns how much that is.
func (s *Shingler) run(text []byte, final bool, sink Sink) int {
	read := 0
	for {
		words, n := s.source.next(s.nextWords(), text[read:], final)
		if s.fresh += words; s.fresh >= max(flushWords, s.k) && s.bare.wordy {
			s.emit(sink)
		}
		read += n
		if n == 0 {
			return read
		}
	}
}

// nextWords returns where the next words go. It grows the buffer for long shingles, but not beyond
// what the text has words for, for any k.
func (s *Shingler) nextWords() *[segmentWords]uint64 {
	used := s.carry + s.fresh
	if len(s.words)-used < segmentWords {
		s.words = append(s.words, make([]uint64, len(s.words))...)
	}
	return (*[segmentWords]uint64)(s.words[used:])
}

// close ends the text.
func (s *Shingler) close(bytes int64, sink Sink) Stats {
	s.fresh += s.source.finish(s.nextWords())
	if !s.bare.wordy { // nothing was emitted: what words there are, of marks, are not taken for any
		if s.fresh = 0; s.bare.hasWord() {
			s.words[0], s.fresh = s.bare.hash(s.h), 1
		}
	}
	s.emit(sink)
	if s.total > 0 && s.total < int64(s.k) { // fewer words than a shingle has: one shingle of all of them
		s.give(s.words[:s.carry], s.carry, sink)
	}
	return Stats{Bytes: bytes, Words: s.total, Invalid: int64(s.source.invalidBytes())}
}

// emit makes shingles of the new words, and carries the last k-1 words.
func (s *Shingler) emit(sink Sink) {
	s.total += int64(s.fresh)
	words := s.words[:s.carry+s.fresh]
	s.give(words, s.k, sink)
	s.carry, s.fresh = len(words), 0
	if gone := len(words) - (s.k - 1); gone > 0 {
		s.carry = copy(s.words, words[gone:])
	}
}

func (s *Shingler) give(words []uint64, k int, sink Sink) {
	if len(s.hashes) < len(words) {
		s.hashes = append(s.hashes, make([]uint64, len(words)-len(s.hashes))...)
	}
	hashes := s.hashes[:poly.Shingles(s.hashes, words, k)]
	if s.require != nil {
		hashes = s.withRequired(hashes, words, k)
	}
	if len(hashes) > 0 {
		sink.Shingles(hashes)
	}
}

// withRequired keeps those hashes, in place, whose shingle of k words holds a required word.
func (s *Shingler) withRequired(hashes, words []uint64, k int) []uint64 {
	kept, last := hashes[:0], -1 // where the last required word is
	for i, w := range words {
		if s.require[w] {
			last = i
		}
		if first := i - (k - 1); first >= 0 && last >= first {
			kept = append(kept, hashes[first])
		}
	}
	return kept
}
