package crc

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestCorrect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		data := make([]byte, 1+r.IntN(300))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		sum := Sum(data)
		bad := bytes.Clone(data)
		bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
		if got, ok := Correct(bad, sum); !ok || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes with one changed are not corrected: %t", len(data), ok)
		}
		if got, ok := Correct(data, sum^uint32(1+r.IntN(255))<<(8*r.IntN(4))); !ok || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes with a damaged checksum are not taken as they are: %t", len(data), ok)
		}
		if len(data) > 8 {
			bad = bytes.Clone(data)
			for i := range 6 {
				bad[i] ^= byte(1 + r.IntN(255))
			}
			if got, ok := Correct(bad, sum); ok {
				t.Fatalf("damage of 6 bytes is taken for one of a single byte: %x", got)
			}
		}
	}
}
