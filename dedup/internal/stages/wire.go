package stages

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Messages are bytes sent between workers. A number is a varint if it may be small, otherwise 8
// bytes.

var errMessage = errors.New("stages: damaged message")

// A decoder reads a message. Missing fields are 0, and end reports them.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, n = true, len(d.rest)
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) small() uint32 {
	v := d.number()
	d.bad = d.bad || v > math.MaxUint32
	return uint32(v)
}

func (d *decoder) fixed() uint64 {
	if len(d.rest) < 8 {
		d.bad, d.rest = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(d.rest)
	d.rest = d.rest[8:]
	return v
}

// words returns n numbers of 8 bytes, reusing memory; none if n is 0.
func (d *decoder) words(n int, memory []uint64) []uint64 {
	if n == 0 || len(d.rest) < 8*n {
		d.bad = d.bad || n > 0
		return memory[:0]
	}
	words := slices.Grow(memory[:0], n)[:n]
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(d.rest[8*i:])
	}
	d.rest = d.rest[8*n:]
	return words
}

// end returns an error unless exactly the whole message was read.
func (d *decoder) end() error {
	if d.bad || len(d.rest) > 0 {
		return errMessage
	}
	return nil
}

// AppendBinary appends the message to dst. The error is always nil, here and below.
func (x Posting) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(binary.LittleEndian.AppendUint64(dst, x.Key), x.Doc)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(x.Size)), uint64(x.Size-x.Rest))
	return binary.AppendUvarint(dst, x.Doc-x.Root), nil
}

func appendWords(dst []byte, words []uint64) []byte {
	for _, word := range words {
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	return dst
}

// UnmarshalBinary reads the message.
func (x *Posting) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	key, doc, size, before, after := d.fixed(), d.number(), d.number(), d.number(), d.number()
	if size > math.MaxInt32 || before > size {
		return errMessage
	}
	*x = Posting{key, doc, int(size), int(size - before), doc - after}
	return d.end()
}

// AppendBinary appends the message to dst.
func (x Link) AppendBinary(dst []byte) ([]byte, error) {
	return binary.AppendUvarint(binary.AppendUvarint(dst, x.A), x.B), nil
}

// UnmarshalBinary reads the message.
func (x *Link) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	*x = Link{d.number(), d.number()}
	return d.end()
}

// AppendBinary appends the message to dst.
func (x Set) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, x.Doc), uint64(len(x.Fingerprints)))
	return appendWords(appendWords(dst, x.Fingerprints), x.Elements), nil
}

// UnmarshalBinary reads the message into the memory of the Set. It checks that elements ascend.
func (x *Set) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	x.Doc = d.number()
	prints := d.number()
	if prints > uint64(len(d.rest)/8) {
		return errMessage
	}
	x.Fingerprints = d.words(int(prints), x.Fingerprints)
	x.Elements = d.words(len(d.rest)/8, x.Elements)
	for i, e := range x.Elements {
		if i > 0 && e <= x.Elements[i-1] {
			return errMessage
		}
	}
	return d.end()
}

// AppendBinary appends the message to dst.
func (x Member) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(len(x.Asked)))
	before := uint64(0)
	for _, a := range x.Asked {
		dst, before = binary.AppendUvarint(binary.AppendUvarint(dst, a.Group-before), uint64(a.Cell)), a.Group
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(x.Document))), x.Document...)
	return x.Set.AppendBinary(dst)
}

// UnmarshalBinary reads the message.
func (x *Member) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	n := d.number()
	if n > uint64(len(d.rest)) {
		return errMessage
	}
	x.Asked = make([]Asked, n)
	before := uint64(0)
	for i := range x.Asked {
		before += d.number()
		x.Asked[i] = Asked{before, d.small()}
	}
	size := d.number()
	if d.bad || size > uint64(len(d.rest)) {
		return errMessage
	}
	if size > 0 {
		x.Document = slices.Clone(d.rest[:size])
	}
	return x.Set.UnmarshalBinary(d.rest[size:])
}

// AppendBinary appends the message to dst.
func (x Pair) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, x.A), x.B)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x.Score)), nil
}

// UnmarshalBinary reads the message.
func (x *Pair) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	*x = Pair{d.number(), d.number(), math.Float64frombits(d.fixed())}
	return d.end()
}

// AppendBinary appends the message to dst.
func (x Star) AppendBinary(dst []byte) ([]byte, error) {
	return Pair{x.Doc, x.Keeper, x.Score}.AppendBinary(dst)
}

// UnmarshalBinary reads the message.
func (x *Star) UnmarshalBinary(b []byte) error {
	var p Pair
	err := p.UnmarshalBinary(b)
	*x = Star{p.A, p.B, p.Score}
	return err
}

// AppendBinary appends the counters to dst: most are small.
func (c Counts) AppendBinary(dst []byte) ([]byte, error) {
	for _, n := range c.n {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst, nil
}

// UnmarshalBinary reads counters.
func (c *Counts) UnmarshalBinary(b []byte) error {
	c.n = make([]uint32, 0, len(b))
	d := decoder{rest: b}
	for len(d.rest) > 0 {
		c.n = append(c.n, d.small())
	}
	if d.bad || !power(len(c.n)) {
		return errMessage
	}
	return nil
}

// AppendBinary appends the ranks to dst.
func (r Ranks) AppendBinary(dst []byte) ([]byte, error) { return append(dst, r...), nil }

// UnmarshalBinary reads ranks.
func (r *Ranks) UnmarshalBinary(b []byte) error {
	*r = slices.Clone(b)
	if !power(len(b)) {
		return errMessage
	}
	return nil
}

// power reports whether n is a power of two.
func power(n int) bool { return n > 0 && n&(n-1) == 0 }
