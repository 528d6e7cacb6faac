package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// step is the distance of the keys of documents that are written one after the other, a prime.
const step = 7919

// documents are the data of `kv`: JSON objects under keys in ascending order.
type documents struct {
	keys   []string
	values [][]byte
}

var (
	names  = strings.Fields("Alba Boris Chen Dora Emil Fatma Goran Hana Ivan Jun Karla Liam Mira Nils Olga Pia Quinn Rosa Sven Tara")
	cities = strings.Fields("Aarhus Bergen Cadiz Dakar Erfurt Fukuoka Ghent Hanoi Izmir Jena Kyoto Lima Minsk Nantes Oslo Porto")
)

// newDocuments returns f.n documents of about f.size bytes: {"name":...,"city":...,"visits":...}, with
// words of a note if they are long. The same flags always give the same documents.
func newDocuments(f kvFlags) *documents {
	random := splitmix(f.seed)
	vocabulary := make([]string, 5000)
	for i := range vocabulary {
		vocabulary[i] = names[random.next()%20][:2] + strings.ToLower(cities[random.next()%16])[1:4] + names[random.next()%20][1:3]
	}
	d := &documents{}
	for i := range f.n {
		d.keys = append(d.keys, fmt.Sprintf("user/%08d/profile", i))
		x := random.next()
		b := fmt.Appendf(nil, `{"name":"%s %c.","city":"%s","visits":%d`, names[x%20], 'A'+x>>8%26, cities[x>>16%16], x>>24%1_000_000)
		if f.size > 100 {
			b = append(b, `,"note":"`...)
			for len(b) < f.size-10 {
				x := random.next()
				b = append(append(b, vocabulary[x%uint64(1+x>>32%5000)]...), ' ') // the first words are more frequent
			}
			b = append(b, '"')
		} else if len(b) < f.size-8 {
			b = fmt.Appendf(b, `,"key":"%0*x"`, min(max(f.size-9-len(b), 1), 16), random.next()>>(64-4*min(max(f.size-9-len(b), 1), 16)))
		}
		d.values = append(d.values, append(b, '}'))
	}
	if f.text {
		d.texts()
	}
	return d
}

func (d *documents) key(i int) string   { return d.keys[i] }
func (d *documents) value(i int) []byte { return d.values[i] }

// written returns the document that is written as the i-th.
func (d *documents) written(i int) int { return i * step % len(d.keys) }

// mean returns the mean length of a value.
func (d *documents) mean() float64 {
	sum := 0
	for _, v := range d.values {
		sum += len(v)
	}
	return float64(sum) / float64(len(d.values))
}

// verify compares all answers of a whole scan, and a sample of the others, with the data.
func (d *documents) verify(s store) error {
	if err := d.verifyPage(s, 0, 0); err != nil {
		return err
	}
	random := splitmix(1)
	for range 200 {
		i := int(random.next() % uint64(len(d.keys)))
		if err := d.verifyPage(s, i, pageLength); err != nil {
			return err
		}
		wrong := false
		ok, err := s.Get(d.keys[i], func(v []byte) { wrong = !bytes.Equal(v, d.values[i]) })
		if err != nil {
			return err
		}
		if !ok || wrong {
			return fmt.Errorf("get of %s: found %t, wrong %t", d.keys[i], ok, wrong)
		}
		for _, key := range []string{strings.Replace(d.keys[i], "profile", "missing", 1), d.keys[i] + "x", "a", "z"} {
			if err := found(s, key, false, func([]byte) {}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *documents) verifyPage(s store, from, limit int) error {
	at, end, wrong := from, len(d.keys), -1
	if limit > 0 {
		end = min(end, from+limit)
	}
	err := s.Page(d.keys[from], limit, func(key, value []byte) {
		if wrong < 0 && (at >= end || string(key) != d.keys[at] || !bytes.Equal(value, d.values[at])) {
			wrong = at
		}
		at++
	})
	if err == nil && (wrong >= 0 || at != end) {
		err = fmt.Errorf("page of %d from %s: %d documents, the first wrong one is %d", limit, d.keys[from], at-from, wrong)
	}
	return err
}

// texts turns the values into plain texts: the notes of long documents.
func (d *documents) texts() {
	for i, v := range d.values {
		if _, after, ok := bytes.Cut(v, []byte(`"note":"`)); ok {
			d.values[i] = slices.Clip(bytes.TrimSuffix(after, []byte(`"}`)))
		}
	}
}
