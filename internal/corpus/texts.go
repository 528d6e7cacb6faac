package corpus

import (
	"slices"
	"sort"

	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/vfs"
)

// texts stores the texts of documents, by number, where they are compared themselves. Texts that
// do not fit into memory go to a file. Once all are added, texts are safe for concurrent reads.
type texts struct {
	memory int64 // bytes in memory before texts go to the file
	create func() (setjoin.File, error)
	starts []uint64 // by document: offset of its text
	n      uint64   // bytes

	blocks [][]byte // of whole texts that are not in the file
	begins []uint64 // offsets of blocks
	inFile uint64   // bytes
	file   setjoin.File
}

// textBlock is the size of a block, unless it holds one longer text.
const textBlock = 256 << 10

func (x *texts) add(text string) error {
	last := len(x.blocks) - 1
	if last < 0 || len(x.blocks[last])+len(text) > cap(x.blocks[last]) {
		if err := x.spillIfFull(len(text)); err != nil {
			return err
		}
		x.blocks, x.begins = append(x.blocks, make([]byte, 0, max(len(text), textBlock))), append(x.begins, x.n)
		last = len(x.blocks) - 1
	}
	x.starts = append(x.starts, x.n)
	x.blocks[last] = append(x.blocks[last], text...)
	x.n += uint64(len(text))
	return nil
}

// spillIfFull writes all blocks to the file if another block does not fit into memory.
func (x *texts) spillIfFull(size int) (err error) {
	if int64(x.n-x.inFile)+max(int64(size), textBlock) <= x.memory {
		return nil
	}
	if x.file == nil {
		if x.file, err = x.create(); err != nil {
			return err
		}
	}
	for _, b := range x.blocks {
		if _, err := x.file.Write(b); err != nil {
			return err
		}
	}
	x.inFile, x.blocks, x.begins = x.n, x.blocks[:0], x.begins[:0]
	return nil
}

// text returns the text of document i; it uses scratch if it has to read the file.
func (x *texts) text(scratch *[]byte, i int) ([]byte, error) {
	from, to := x.starts[i], x.n
	if i+1 < len(x.starts) {
		to = x.starts[i+1]
	}
	if from == to {
		return nil, nil
	}
	if from < x.inFile {
		*scratch = slices.Grow((*scratch)[:0], int(to-from))[:to-from]
		_, err := x.file.ReadAt(*scratch, int64(from))
		return *scratch, err
	}
	b := sort.Search(len(x.begins), func(b int) bool { return x.begins[b] > from }) - 1
	return x.blocks[b][from-x.begins[b] : to-x.begins[b]], nil
}

func (x *texts) close() error {
	if x == nil || x.file == nil {
		return nil
	}
	return x.file.Close()
}

// A TextStore stores texts by number, from 0: in memory, or in a file if they are many.
type TextStore struct {
	texts   texts
	scratch []byte
}

// NewTextStore returns an empty TextStore that uses an eighth of the memory of a run, and a file in dir.
func NewTextStore(memory int64, dir string) *TextStore {
	return &TextStore{texts: texts{memory: memory / 8, create: func() (setjoin.File, error) { return vfs.Temp(dir, "texts-*") }}}
}

// Add adds a text, and returns its number.
func (s *TextStore) Add(text string) (n uint32, err error) {
	n = uint32(len(s.texts.starts))
	return n, s.texts.add(text)
}

// Text returns a text.
func (s *TextStore) Text(n uint32) (string, error) {
	text, err := s.texts.text(&s.scratch, int(n))
	return string(text), err
}

// Close frees the file. A nil TextStore has none.
func (s *TextStore) Close() error {
	if s == nil {
		return nil
	}
	return s.texts.close()
}
