package minhash

import (
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHasher(t *testing.T) {
	long := strings.Repeat("Whenever I find myself growing grim about the mouth; whenever it is a damp, drizzly November in my soul. ", 300)
	texts := []string{"", "one", "one two three four", long, long + "and so on"}
	for _, o := range []Options{{}, {Size: 8, Shingle: 1, Seed: 3}, {CharGrams: true, Shingle: 5}, {RequireWords: []string{"I", "the"}}} {
		h, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			s := h.Text(text).Clone()
			r, err := h.Read(iotest.OneByteReader(strings.NewReader(text)))
			if err != nil || !slices.Equal(s, r) {
				t.Errorf("%+v: Text %v, Read %v, %v", o, s, r, err)
			}
			if o.RequireWords == nil && (len(s) == 0) != (text == "") {
				t.Errorf("%+v: sketch of %d bytes of text is %v", o, len(text), s)
			}
		}
	}
	for _, o := range []Options{{Size: -1}, {Size: MaxEncoded + 1}, {Shingle: -1}, {CharGrams: true, RequireWords: []string{"a"}}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%+v) succeeds", o)
		}
	}
	h, _ := New(Options{})
	if _, err := h.Read(iotest.ErrReader(iotest.ErrTimeout)); err != iotest.ErrTimeout {
		t.Errorf("Read returns %v", err)
	}
}

func TestNoAllocation(t *testing.T) {
	h, _ := New(Options{})
	text := strings.Repeat("a rose is a rose is a rose ", 1000)
	if n := testing.AllocsPerRun(10, func() { h.Text(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
