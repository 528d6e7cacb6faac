package imagehash

import (
	"bytes"
	"image/jpeg"
	"testing"
)

// BenchmarkHash hashes a picture of 512 x 512, and BenchmarkHash/.../decode only decodes it.
func BenchmarkHash(b *testing.B) {
	img := scene(512, 512, 1)
	var jpg bytes.Buffer
	if err := jpeg.Encode(&jpg, img, &jpeg.Options{Quality: 85}); err != nil {
		b.Fatal(err)
	}
	files := []struct {
		name string
		data []byte
	}{{"jpeg", jpg.Bytes()}, {"png", sample{"", img}.png(b)}}
	for _, f := range files {
		b.Run(f.name+"/decode", func(b *testing.B) {
			for b.Loop() {
				if _, err := decode(bytes.NewReader(f.data), "", DefaultMemory); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, kind := range Kinds() {
			for _, all := range []bool{false, true} {
				name := f.name + "/" + kind.String()
				if all {
					name += "/orientations"
				}
				b.Run(name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := Hash(bytes.NewReader(f.data), kind, Options{Orientations: all}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
