package simhash_test

import (
	"fmt"
	"strings"

	"github.com/simdb/simdb/simhash"
)

func ExampleText() {
	const text = `It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of
		foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light`
	a, _ := simhash.Text(text, 3)
	b, _ := simhash.Text(text+", it was the season of Darkness", 3)
	c, _ := simhash.Text("Call me Ishmael. Some years ago, never mind how long precisely", 3)
	fmt.Println(simhash.Distance(a, b), simhash.Distance(a, c))
	// Output: 5 34
}

// The caller computes the hashes of features: bits that most hashes have in common win.
func ExampleSum64() {
	features := []uint64{0b0111, 0b0110, 0b1100}
	fmt.Printf("%04b\n", simhash.Sum64(features)&0b1111)
	// Output: 0110
}

func ExampleDistance() {
	fmt.Println(simhash.Distance(0b1100, 0b1010))
	// Output: 2
}

// A Hasher is for many texts: it allocates nothing once it has processed a text of each size.
func ExampleHasher() {
	h, err := simhash.New(simhash.Options{Shingle: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ := h.Text("the quick brown fox jumps over the lazy dog")
	b, _ := h.Text("The QUICK brown fox, jumps over the lazy dog!")
	_, ok := h.Text(" ")
	fmt.Println(simhash.Distance(a, b), ok)
	// Output: 0 false
}

func ExampleOptions_features() {
	h, err := simhash.New(simhash.Options{
		Features: func(text string, add func(feature []byte, weight int32)) {
			for field := range strings.SplitSeq(text, ";") {
				name, value, _ := strings.Cut(field, "=")
				weight := int32(1)
				if name == "title" {
					weight = 5
				}
				add([]byte(name+"="+value), weight)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, _ := h.Text("title=Moby-Dick;year=1851;place=New York")
	b, _ := h.Text("title=Moby-Dick;year=1851;place=London")
	c, _ := h.Text("title=Bleak House;year=1853;place=London")
	fmt.Println(simhash.Distance(a, b), simhash.Distance(a, c) > 20)
	// Output: 0 true
}

func ExampleCosine() {
	cosine, stderr := simhash.Cosine(8, 64)
	fmt.Printf("%.2f +- %.2f\n", cosine, stderr)
	// Output: 0.92 +- 0.05
}
