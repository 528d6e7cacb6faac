package token

import (
	"errors"
	"fmt"
	"io"
	"unsafe"
)

// Sink receives the shingle hashes of a text, in the order of the text and with repetitions, in
// pieces of any length. It must not retain the slice.
type Sink interface {
	Shingles(hashes []uint64)
}

// Stats has the counts of a walk over a text.
type Stats struct {
	Bytes   int64 // bytes of text
	Words   int64 // words, with repetitions
	Invalid int64 // bytes that are not UTF-8; each counts as U+FFFD, which is not a word
}

// Config defines the shingles of a text.
type Config struct {
	Shingle   int      // words per shingle, or characters per n-gram; at least 1
	Seed      uint64   // seed of the hash function
	CharGrams bool     // use n-grams of characters instead of shingles of words
	Symbols   bool     // each run of other characters except white space is a word, too
	Require   []string // if not nil, only shingles with one of these words count; not with CharGrams
	Version   int      // of the tokenizer, as in Rules
}

// MaxShingle is the largest Config.Shingle.
const MaxShingle = 1 << 16

// Validate returns an error if c is invalid.
func (c Config) Validate() error {
	if c.Shingle < 1 || c.Shingle > MaxShingle {
		return fmt.Errorf("shingles of %d words: want 1 to %d", c.Shingle, MaxShingle)
	}
	if c.CharGrams && c.Require != nil {
		return errors.New("required words need shingles of words, not n-grams of characters")
	}
	return nil
}

// flushWords is the minimum number of new words from which shingles are made. Where the paths of
// the scanner alternate, it finds only a few words at a time. There must also be k new words,
// because k-1 words are carried over each time.
const flushWords = 256

// source computes the hashes of the words, or characters, of a text. The usual source is scanner.
type source interface {
	reset()
	next(dst *[segmentWords]uint64, text []byte, final bool) (words, read int)
	finish(dst *[segmentWords]uint64) int
	invalidBytes() int
}

// Shingler walks over texts and passes the hashes of their shingles to a sink. Its buffers have a
// fixed size, so it does not allocate after it was made. Only one goroutine may use it at a time.
type Shingler struct {
	source  source
	h       Hasher
	k       int
	symbols bool
	require map[uint64]bool // hashes of required words; nil if all shingles count
	bare    bare            // makes a word of a text without letters and numbers
	words   []uint64        // the last k-1 words of previous segments, then the words of this one
	carry   int             // number of words from previous segments
	fresh   int             // number of words after these
	total   int64           // number of words so far
	hashes  []uint64
	window  []byte // for Read: text that was read but not yet scanned
}

// NewShingler returns a Shingler for shingles of k words with the hash function of a seed. k must
// be positive.
func NewShingler(k int, seed uint64) *Shingler { return New(Config{Shingle: k, Seed: seed}) }

// New returns a Shingler. c must be valid.
func New(c Config) *Shingler {
	h, rules := NewHasher(c.Seed), Rules{c.Symbols, c.Version}
	s := &Shingler{
		source:  &scanner{h: h, props: rules.props(), symbols: c.Symbols},
		bare:    bare{props: rules.props()},
		h:       h,
		k:       c.Shingle,
		symbols: c.Symbols,
		words:   make([]uint64, flushWords+segmentWords),
		hashes:  make([]uint64, flushWords+segmentWords),
	}
	if c.CharGrams {
		s.source = newGramScanner(h, rules.props(), c.Symbols)
	}
	if c.Require != nil {
		s.require = map[uint64]bool{}
		for _, text := range c.Require {
			for w := range rules.Split(text) {
				s.require[h.Of(w)] = true
			}
		}
	}
	return s
}

// Text passes the hashes of the shingles of text to sink.
func (s *Shingler) Text(text string, sink Sink) Stats {
	// The bytes are only read.
	return s.Bytes(unsafe.Slice(unsafe.StringData(text), len(text)), sink)
}

// Bytes passes the hashes of the shingles of text to sink.
func (s *Shingler) Bytes(text []byte, sink Sink) Stats {
	s.reset()
	s.bare.take(s.h, text, true)
	n := s.run(text, true, sink)
	return s.close(int64(n), sink)
}

const (
	windowBytes = 64 << 10 // bytes of a reader's text in memory at a time
	maxIdle     = 100      // largest number of consecutive reads that return nothing
)

// Read passes the hashes of the shingles of the text in r to sink. Its memory does not depend on
// the length of the text.
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
	s.bare = bare{props: s.bare.props, wordy: s.symbols} // with symbols, bare is not needed
	s.carry, s.fresh, s.total = 0, 0, 0
}

// run scans as much of text as possible, or the whole text if it is final. It returns the number of
// bytes scanned.
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

// nextWords returns the space for the next words. It grows the buffer for long shingles, but for
// any k only in proportion to the words of the text.
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
	if !s.bare.wordy { // nothing was emitted: words of only marks do not count
		if s.fresh = 0; s.bare.hasWord() {
			s.words[0], s.fresh = s.bare.hash(s.h), 1
		}
	}
	s.emit(sink)
	if s.total > 0 && s.total < int64(s.k) { // fewer words than a shingle needs: one shingle of all words
		s.give(s.words[:s.carry], s.carry, sink)
	}
	return Stats{Bytes: bytes, Words: s.total, Invalid: int64(s.source.invalidBytes())}
}

// emit makes shingles of the new words, and carries the last k-1 words over.
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

// withRequired filters hashes in place: it returns those whose shingle of k words contains a
// required word.
func (s *Shingler) withRequired(hashes, words []uint64, k int) []uint64 {
	kept, last := hashes[:0], -1 // last is the index of the last required word
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
