package parquet

import (
	"encoding/binary"
	"errors"
)

// Types of values in the compact protocol of thrift.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI16    = 4
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
	typeUUID   = 13
)

// maxNesting is the largest nesting depth of structs and lists in thrift; Parquet needs about ten.
const maxNesting = 32

var (
	errThrift    = errors.New("its metadata is damaged")
	errThriftEnd = errors.New("its metadata ends too early")
)

// scanner walks encoded thrift without allocating, so that the sizes in a damaged file can be
// checked before a decoder trusts them.
type scanner struct {
	b       []byte
	structs int // structs that are elements of lists
	err     error
}

// fail records the first error.
func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.b = nil
}

// take returns the next n bytes, or nil at the end.
func (s *scanner) take(n uint64) []byte {
	if uint64(len(s.b)) < n {
		s.fail(errThriftEnd)
		return nil
	}
	p := s.b[:n]
	s.b = s.b[n:]
	return p
}

// byte returns the next byte, or 0 at the end.
func (s *scanner) byte() byte {
	if p := s.take(1); p != nil {
		return p[0]
	}
	return 0
}

// uvarint returns the next variable-length number.
func (s *scanner) uvarint() uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 {
		s.fail(errThriftEnd)
		return 0
	}
	s.b = s.b[n:]
	return v
}

// varint returns the next signed number.
func (s *scanner) varint() int64 {
	u := s.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// fields calls f for every field of a struct. f either consumes the value, or returns false to have
// it skipped.
func (s *scanner) fields(depth int, f func(id int16, typ byte) bool) {
	if depth > maxNesting {
		s.fail(errThrift)
	}
	id := int16(0)
	for s.err == nil {
		b := s.byte()
		typ := b & 0x0f
		switch {
		case typ == 0:
			return
		case b>>4 == 0:
			id = int16(s.varint())
		default:
			id += int16(b >> 4)
		}
		if f == nil || !f(id, typ) {
			s.skip(typ, depth)
		}
	}
}

// skip walks over a value. A boolean field of a struct has no bytes of its own.
func (s *scanner) skip(typ byte, depth int) {
	switch typ {
	case typeTrue, typeFalse:
	case typeByte:
		s.byte()
	case typeI16, typeI32, typeI64:
		s.uvarint()
	case typeDouble:
		s.take(8)
	case typeUUID:
		s.take(16)
	case typeBinary:
		s.take(s.uvarint())
	case typeList, typeSet:
		s.list(depth)
	case typeMap:
		s.mapping(depth)
	case typeStruct:
		s.fields(depth+1, nil)
	default:
		s.fail(errThrift)
	}
}

// list walks over a list. Each element has at least one byte, so the length cannot exceed the
// number of remaining bytes.
func (s *scanner) list(depth int) {
	if depth > maxNesting {
		s.fail(errThrift)
	}
	b := s.byte()
	n, typ := uint64(b>>4), b&0x0f
	if n == 15 {
		n = s.uvarint()
	}
	if n > uint64(len(s.b)) {
		s.fail(errThriftEnd)
	}
	for ; n > 0 && s.err == nil; n-- {
		s.element(typ, depth)
	}
}

// element walks over an element of a list or map, where a boolean has one byte.
func (s *scanner) element(typ byte, depth int) {
	switch typ {
	case typeTrue, typeFalse:
		s.byte()
	case typeStruct:
		s.structs++
		s.skip(typ, depth+1)
	default:
		s.skip(typ, depth+1)
	}
}

// mapping walks over a map.
func (s *scanner) mapping(depth int) {
	n := s.uvarint()
	if n == 0 {
		return
	}
	types := s.byte()
	if n > uint64(len(s.b)) {
		s.fail(errThriftEnd)
	}
	for ; n > 0 && s.err == nil; n-- {
		s.element(types>>4, depth)
		s.element(types&0x0f, depth)
	}
}
