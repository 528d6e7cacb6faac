package minhash_test

import (
	"fmt"

	"github.com/simdb/simdb/minhash"
)

func ExampleHasher_Text() {
	h, err := minhash.New(minhash.Options{Size: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := h.Text("to be or not to be that is the question")
	fmt.Println(len(s), "of 8 shingles")
	// Output: 4 of 8 shingles
}

func ExampleJaccardAtLeast() {
	h, err := minhash.New(minhash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := h.Text("to be or not to be that is the question").Clone()
	b := h.Text("to be or not to be is the question").Clone()
	_, high := minhash.JaccardAtLeast(a, b, 128, 0.9)
	score, low := minhash.JaccardAtLeast(a, b, 128, 0.4)
	fmt.Println(high, low, score.Score)
	// Output: false true 0.5
}

func ExampleMerge() {
	h, err := minhash.New(minhash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, b := h.Text("to be or not to be").Clone(), h.Text("that is the question").Clone()
	fmt.Println(len(a), len(b), len(minhash.Merge(nil, a, b, 128)))
	// Output: 4 2 6
}

func ExampleJaccard() {
	h, err := minhash.New(minhash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := h.Text("to be or not to be that is the question").Clone()
	b := h.Text("to be or not to be is not the question").Clone()
	fmt.Printf("%+v\n", minhash.Jaccard(a, b, 128))
	// Output: {Score:0.3333333333333333 Error:0 Exact:true}
}

func ExampleContainment() {
	h, err := minhash.New(minhash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	quotation := h.Text("to be or not to be").Clone()
	source := h.Text("to be or not to be that is the question").Clone()
	aInB, bInA := minhash.Containment(quotation, source, 128)
	fmt.Println(aInB.Score, bInA.Score)
	// Output: 1 0.5
}

func ExampleBitmap_Filter() {
	h, err := minhash.New(minhash.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	texts := []string{"to be or not to be that is the question", "all the world is a stage", "to be or not to be is the question"}
	var sketches []minhash.Sketch
	var bitmaps []minhash.Bitmap
	for _, text := range texts {
		s := h.Text(text).Clone()
		sketches, bitmaps = append(sketches, s), append(bitmaps, s.Bitmap())
	}
	query := sketches[0]
	bits := query.Bitmap()
	for _, i := range bits.Filter(nil, bitmaps, minhash.MaxMissing(len(query), 0.5)) {
		if score, ok := minhash.JaccardAtLeast(query, sketches[i], 128, 0.5); ok {
			fmt.Printf("%.2f %s\n", score.Score, texts[i])
		}
	}
	// Output:
	// 1.00 to be or not to be that is the question
	// 0.50 to be or not to be is the question
}
