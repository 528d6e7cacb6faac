package syntax

import "testing"

// BenchmarkParse parses a statement whose form is cached.
func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := vocabulary.Parse("NEAR(0x9f3c5a0011223344, 3) LIMIT 10"); err != nil {
			b.Fatal(err)
		}
	}
}
