package shard

import (
	"encoding/binary"
	"errors"
	"iter"
)

// Drivers move messages in blocks; each block has the messages of one key. Engines have a cost
// per element, and limit its length. A longer message is a block of its own.
const (
	blockSize = 64 << 10
	// heldSize is the number of bytes that a Packer buffers to fill blocks.
	heldSize = 16 << 20
	// heldKey is the overhead of a buffered block.
	heldKey = 64
)

// A Packer packs messages into blocks by key. The zero Packer is empty.
type Packer struct {
	blocks map[uint64][]byte
	held   int
}

// Add adds a message to the block of a key. It emits a block that is full, and all blocks if the
// buffer is full.
func (p *Packer) Add(key uint64, message []byte, emit func(key uint64, block []byte)) {
	block, known := p.blocks[key]
	before := len(block)
	if !known {
		before = -heldKey
	}
	if len(block) > 0 && len(block)+binary.MaxVarintLen32+len(message) > blockSize {
		emit(key, block)
		block = nil
	}
	block = AppendMessage(block, message)
	if p.blocks == nil {
		p.blocks = make(map[uint64][]byte)
	}
	p.blocks[key] = block
	if p.held += len(block) - before; p.held > heldSize {
		p.Flush(emit)
	}
}

// Flush emits all buffered blocks.
func (p *Packer) Flush(emit func(key uint64, block []byte)) {
	for key, block := range p.blocks {
		emit(key, block)
	}
	p.blocks, p.held = nil, 0
}

// AppendMessage appends a message to a block.
func AppendMessage(block, message []byte) []byte {
	return append(binary.AppendUvarint(block, uint64(len(message))), message...)
}

// Unpack yields the messages in blocks, in the form that Step.Run accepts.
func Unpack(blocks iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for block := range blocks {
			for len(block) > 0 {
				n, w := binary.Uvarint(block)
				if w <= 0 || n > uint64(len(block)-w) {
					yield(nil, errors.New("a block of messages is damaged"))
					return
				}
				end := w + int(n)
				if !yield(block[w:end:end], nil) {
					return
				}
				block = block[end:]
			}
		}
	}
}
