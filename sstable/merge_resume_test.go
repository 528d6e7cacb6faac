package sstable

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// checkpointed merges, and returns the bytes with the checkpoints.
func (m *merging) checkpointed() (data []byte, all []Checkpoint, r *Renumbering) {
	m.t.Helper()
	o, buf := m.o, bytes.Buffer{}
	o.Checkpoint = func(c Checkpoint) { all = append(all, c) }
	_, r, err := Merge(m.t.Context(), &buf, mergeParams, m.inputs, o)
	if err != nil {
		m.t.Fatal(err)
	}
	return buf.Bytes(), all, r
}

// TestMergeResumes goes on with merges from each of their checkpoints: the result is the same to
// the byte, and so are the numbers of the documents.
func TestMergeResumes(t *testing.T) {
	for si := range mergeShapes {
		for _, drop := range []string{"none", "few", "most", "in runs"} {
			m := merging{t: t, r: rand.New(rand.NewPCG(7, uint64(si))), drop: drops[drop], o: MergeOptions{Workers: 2, WriterOptions: WriterOptions{
				BlockSize: 500, segmentDocs: 100, dividedDocs: 50, stretchDocs: 70, Note: []byte("note"), Hot: []HotHash{{Hash: 5, Documents: 9}},
			}}}
			for i := range 3 {
				m.add(mergeParams, mergeShapes[si].docs(m.r, i, 300), 0)
			}
			want, all, numbers := m.checkpointed()
			if len(all) != len(mergeSteps)+mergeParams.Layout.Tables()-1 {
				t.Fatalf("%d checkpoints", len(all))
			}
			for n := range len(all) + 1 {
				t.Run(fmt.Sprintf("%s/%s/%d", mergeShapes[si].name, drop, n), func(t *testing.T) { m.resumes(t, want, all, n, numbers) })
			}
		}
	}
}

// resumes goes on from the n-th checkpoint.
func (m *merging) resumes(t *testing.T, want []byte, all []Checkpoint, n int, numbers *Renumbering) {
	o, out := m.o, &bytes.Buffer{}
	o.Resume = all[:n:n]
	o.Checkpoint = func(c Checkpoint) { o.Resume = append(o.Resume, c) }
	if n > 0 {
		out.Write(want[:all[n-1].Offset])
		if err := VerifyCheckpoints(bytes.NewReader(want), o.Resume); err != nil {
			t.Fatal(err)
		}
	}
	_, r, err := Merge(t.Context(), out, mergeParams, m.inputs, o)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), want) {
		t.Fatalf("%d bytes are not the %d of a merge that was not interrupted", out.Len(), len(want))
	}
	for i, c := range o.Resume {
		if !bytes.Equal(c.Data, all[i].Data) || c.Offset != all[i].Offset {
			t.Errorf("checkpoint %d is another after going on from %d", i, n)
		}
	}
	for i, in := range m.inputs {
		for doc := range in.NumDocs() {
			a, aOK := r.New(i, doc)
			if b, bOK := numbers.New(i, doc); a != b || aOK != bOK {
				t.Fatalf("document %d of input %d: %d %t, not %d %t", doc, i, a, aOK, b, bOK)
			}
		}
	}
}

// TestMergeResumesNothingElse goes on from checkpoints of other merges and from damaged bytes.
func TestMergeResumesNothingElse(t *testing.T) {
	m := merging{t: t, r: rand.New(rand.NewPCG(8, 1)), o: MergeOptions{Workers: 1}}
	for i := range 2 {
		m.add(mergeParams, mergeShapes[1].docs(m.r, i, 100), 0)
	}
	data, all, _ := m.checkpointed()
	refused := func(what string, inputs []MergeInput, o MergeOptions) {
		t.Helper()
		var out bytes.Buffer
		if _, _, err := Merge(t.Context(), &out, mergeParams, inputs, o); !errors.Is(err, ErrNotResumable) || out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", what, err, out.Len())
		}
	}
	o := m.o
	o.Resume = all[:4]
	left := m.inputs[0]
	left.Keep = func(doc uint32) (bool, error) { return doc != 17, nil }
	fewer := []MergeInput{left, m.inputs[1]}
	out := bytes.NewBuffer(bytes.Clone(data[:all[3].Offset]))
	if _, r, err := Merge(t.Context(), out, mergeParams, fewer, o); err != nil || !bytes.Equal(out.Bytes(), data) {
		t.Errorf("a document less: %d bytes, %v", out.Len(), err)
	} else if _, kept := r.New(0, 17); !kept {
		t.Error("a document less: it is not in the result")
	}
	o.Resume, o.Erase = nil, true
	o.Checkpoint = func(c Checkpoint) { o.Resume = append(o.Resume, c) }
	if _, _, err := Merge(t.Context(), &bytes.Buffer{}, mergeParams, fewer, o); err != nil {
		t.Fatal(err)
	}
	o.Checkpoint, o.Erase = nil, true
	lessLeft := left
	lessLeft.Keep = func(doc uint32) (bool, error) { return doc != 17 && doc != 3, nil }
	refused("more to erase", []MergeInput{lessLeft, m.inputs[1]}, o)
	refused("a document more", m.inputs, o)
	o.Resume, o.Erase = all[:4], false
	refused("another order", []MergeInput{m.inputs[1], m.inputs[0]}, o)
	refused("an input less", m.inputs[:1], o)
	o.Resume = []Checkpoint{{Offset: all[0].Offset, Data: all[0].Data[:9]}}
	refused("a damaged checkpoint", m.inputs, o)
	o.Resume, o.Erase = all[:4], true
	refused("erasing", m.inputs, o)
	o.Erase, o.Identity.Number = false, 9
	refused("another identity", m.inputs, o)
	for at := 0; at < int(all[5].Offset); at += 1 + m.r.IntN(200) {
		damaged := bytes.Clone(data)
		damaged[at] ^= 1 << m.r.IntN(8)
		if err := VerifyCheckpoints(bytes.NewReader(damaged), all[:6]); !errors.Is(err, ErrNotResumable) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	if err := VerifyCheckpoints(bytes.NewReader(data[:all[5].Offset-1]), all[:6]); err == nil {
		t.Error("a byte less: no error")
	}
	if err := VerifyCheckpoints(bytes.NewReader(data), all[1:3]); !errors.Is(err, ErrNotResumable) {
		t.Errorf("without the first: %v", err)
	}
}
