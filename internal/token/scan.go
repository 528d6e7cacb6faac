package token

import "github.com/simdb/simdb/internal/kernel"

// next reads from the start of text, and stores in dst the hashes of the words that end in the part
// it reads. final says that no text follows. It returns the number of words stored and the number
// of bytes read. Zero bytes mean that it needs more text or, if final, that text is empty.
func (s *scanner) next(dst *[segmentWords]uint64, text []byte, final bool) (words, read int) {
	if !s.uni {
		words, read = s.nextASCII(dst, text, final)
		if read > 0 || !s.uni {
			return words, read
		}
	}
	limit := segment
	if s.symbols {
		limit = segment / 2 // a word may be one byte
	}
	words, read = s.slow(dst[:], text, limit, final)
	s.uni = s.symbols || s.open.kind != openNone || read < len(text) && !isASCII(text[read:])
	return words, read
}

// nextASCII is next on the ASCII path. It may switch to the Unicode path without reading anything.
func (s *scanner) nextASCII(dst *[segmentWords]uint64, text []byte, final bool) (words, read int) {
	if len(text) >= len(window{}) {
		return s.fast(dst, (*window)(text), segment)
	}
	if !final {
		return 0, 0
	}
	n := copy(s.tail[:], text)
	clear(s.tail[n:])
	words, read = s.fast(dst, &s.tail, min(maxSegment, (n+blockBytes)&^(blockBytes-1)))
	return words, min(read, n)
}

// finish ends the word that is open at the end of the text, and stores its hash in dst. It returns
// the number of words stored.
func (s *scanner) finish(dst *[segmentWords]uint64) int {
	if s.open.kind == openNone {
		return 0
	}
	dst[0] = s.endWord()
	return 1
}

// fast is the ASCII path over text[:size]; size must be a multiple of 64. It stops, and switches to
// the Unicode path, before the first word that contains or precedes a byte that is not ASCII, and
// before a word as long as a segment. Otherwise it stops at the end of the last complete word, or
// at the start of a word that is cut off.
func (s *scanner) fast(dst *[segmentWords]uint64, text *window, size int) (words, read int) {
	blocks := size / blockBytes
	full := kernel.Masks(s.masks[:blocks], text[:])
	read = full * blockBytes
	if full < blocks {
		prefix, n := asciiPrefix((*[blockBytes]byte)(text[read:]))
		s.masks[full] = prefix
		full++
		read += n
		s.uni = true
	}
	words, open := s.hashWords(dst, text, s.masks[:full], read)
	if open >= 0 {
		read = open
		s.uni = s.uni || read == 0
	}
	return words, read
}

// hashWords stores in dst the hashes of the words that masks describe and that end before the
// offset end; a word that ends exactly there may continue. It returns their number, and the start
// of a word that does not end before it, or -1.
func (s *scanner) hashWords(dst *[segmentWords]uint64, text *window, masks []uint64, end int) (words, open int) {
	if !kernel.HasHashWords() {
		return s.h.hashMasks(dst, text, masks, end)
	}
	n := kernel.Edges(s.edges[:], masks)
	if n > 0 && int(s.edges[n-1]) == end {
		n--
	}
	open = -1
	if n%2 == 1 { // the last word has a start, but no end
		open = int(s.edges[n-1])
	}
	s.h.hashEdges(dst[:n/2], text, s.edges[:n&^1])
	return n / 2, open
}
