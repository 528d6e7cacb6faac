package kernel

import (
	"fmt"
	"hash/crc32"
	"testing"
)

// BenchmarkCRC32C compares CRC32C with the standard library.
func BenchmarkCRC32C(b *testing.B) {
	for _, n := range []int{256, 1 << 10, 2752, 1 << 16} {
		data := make([]byte, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				CRC32C(0, data)
			}
		})
		b.Run(fmt.Sprint(n, "/standard"), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				crc32.Checksum(data, castagnoli)
			}
		})
	}
}
