package shard

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"slices"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/internal/stages"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/vfs"
)

// A named document is a document of a cluster, sent to its shard. Elements are its keeper's, if
// the similarity with the keeper is needed.
type named struct {
	Doc      uint64
	Member   dedup.PartMember
	Elements []uint64
}

// AppendBinary appends the message to dst.
func (x named) AppendBinary(dst []byte) ([]byte, error) {
	kept := uint64(0)
	if x.Member.Kept {
		kept = 1
	}
	dst, _ = numbers{x.Doc, uint64(x.Member.Cluster), uint64(x.Member.Size), kept}.AppendBinary(dst)
	dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(x.Member.Score))
	dst = appendPlace(dst, x.Member.Keeper)
	for _, e := range x.Elements {
		dst = binary.LittleEndian.AppendUint64(dst, e)
	}
	return dst, nil
}

// UnmarshalBinary reads the message.
func (x *named) UnmarshalBinary(b []byte) error {
	var head [4]uint64
	for i := range head {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return errMessage
		}
		head[i], b = n, b[size:]
	}
	if len(b) < 8 {
		return errMessage
	}
	score := math.Float64frombits(binary.LittleEndian.Uint64(b))
	keeper, rest, err := readPlace(b[8:])
	if err != nil || len(rest)%8 != 0 {
		return errMessage
	}
	x.Doc, x.Member = head[0], dedup.PartMember{Cluster: uint32(head[1]), Size: uint32(head[2]), Kept: head[3] == 1, Score: score, Keeper: keeper}
	for ; len(rest) > 0; rest = rest[8:] {
		x.Elements = append(x.Elements, binary.LittleEndian.Uint64(rest))
	}
	return nil
}

// compares reports whether outputs contain the similarity of texts beside the distance of
// fingerprints.
func (j *Job) compares(t dedup.Tally) bool {
	return j.o.Command == "dedup" && !j.plan.By.Sets && t.Textual > 0
}

// name sends the places of a shard's keepers to the shards of their documents.
func (j *Job) name(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	var t totals
	clusters, err := all[numbers](in)
	if err != nil {
		return err
	}
	stars, err := loadAll[stages.Star](ctx, j, shardName("stars", shard))
	if errors.Is(err, fs.ErrNotExist) { // no message was sent to it
		err = nil
	}
	if err = errors.Join(err, j.loadJSON(ctx, "total", &t)); err != nil {
		return err
	}
	slices.SortFunc(clusters, func(a, b numbers) int { return cmp.Compare(a[0], b[0]) })
	clusters = slices.CompactFunc(clusters, func(a, b numbers) bool { return a[0] == b[0] })
	sets := map[uint64][]uint64{} // of keepers
	if j.compares(t.Tally) && len(clusters) > 0 {
		rest := clusters
		err := j.eachSet(ctx, shard, func(s stages.Set) error {
			if len(rest) > 0 && s.Doc == rest[0][0] {
				sets[s.Doc], rest = slices.Clone(s.Elements), rest[1:]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	to := sender(send)
	err = j.eachPlace(ctx, shard, func(doc uint64, at func() (dedup.Place, error)) error {
		if len(clusters) == 0 || clusters[0][0] != doc {
			return nil
		}
		place, err := at()
		if err != nil {
			return err
		}
		own := 0
		for own < len(stars) && stars[own].Keeper == doc {
			own++
		}
		m := dedup.PartMember{Cluster: uint32(clusters[0][1]), Size: uint32(own) + 1, Keeper: place}
		for _, s := range stars[:own] {
			m.Score = s.Score
			if err := to(shardOf(s.Doc), named{s.Doc, m, sets[doc]}); err != nil {
				return err
			}
		}
		stars, clusters = stars[own:], clusters[1:]
		m.Kept, m.Score = true, 1
		if !j.plan.By.Sets {
			m.Score = 0
		}
		return to(shard, named{doc, m, nil})
	})
	return errors.Join(err, send(shard, nil))
}

// namedMembers returns the documents of a shard that are in clusters, in order.
func (j *Job) namedMembers(in iter.Seq2[[]byte, error]) ([]named, error) {
	members, err := all[named](in)
	slices.SortFunc(members, func(a, b named) int { return cmp.Compare(a.Doc, b.Doc) })
	return slices.CompactFunc(members, func(a, b named) bool { return a.Doc == b.Doc }), err
}

// write reads a shard of the inputs for the second time.
func (j *Job) write(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	var total totals
	members, err := j.namedMembers(in)
	err = errors.Join(err, j.loadJSON(ctx, "total", &total))
	if err == nil {
		err = j.similarities(ctx, shard, total.Tally, members)
	}
	if err != nil {
		return err
	}
	all := make([]dedup.PartMember, len(members))
	for i, m := range members {
		all[i] = m.Member
		all[i].Doc = uint32(m.Doc)
	}
	return j.writePart(ctx, shard, send, func(p *dedup.Part, t dedup.Tally, w *bufio.Writer) (dedup.Tally, error) { return p.Write(t, all, w) })
}

// writePart writes the outputs of a shard, and its part of the audit.
func (j *Job) writePart(ctx context.Context, shard uint64, send Send, write func(p *dedup.Part, t dedup.Tally, audit *bufio.Writer) (dedup.Tally, error)) error {
	var t, written dedup.Tally
	if err := j.loadJSON(ctx, shardName("tally", shard), &t); err != nil {
		return err
	}
	outputs, err := j.onPart(ctx, shard, func(p *dedup.Part, _ string) error {
		return j.store(ctx, shardName("audit", shard), func(w *bufio.Writer) (err error) {
			written, err = write(p, t, w)
			return err
		})
	})
	if err != nil {
		return err
	}
	written.Outputs = outputs
	return errors.Join(j.storeJSON(ctx, shardName("written", shard), written), send(0, nil))
}

// similarities computes the similarity of documents' texts with their keepers'.
func (j *Job) similarities(ctx context.Context, shard uint64, total dedup.Tally, members []named) error {
	for i := range members {
		members[i].Member.Similarity = -1
	}
	if !j.compares(total) {
		return nil
	}
	spill := func() (setjoin.File, error) { return vfs.Temp(j.o.Job.TempDir, "sets-*") }
	sets, rest := setjoin.NewSets(setjoin.SetsOptions{NoJoin: true, Memory: j.o.Job.Memory / 4, Create: spill}), members
	defer sets.Close()
	err := j.eachSet(ctx, shard, func(s stages.Set) error {
		if len(rest) == 0 || rest[0].Doc != s.Doc {
			return nil
		}
		err := errors.Join(sets.Add(s.Elements), sets.Add(rest[0].Elements))
		rest = rest[1:]
		return err
	})
	if err != nil {
		return err
	}
	partner := make([]uint32, 2*len(members))
	for i := range partner {
		partner[i] = uint32(i) | 1
	}
	scores, err := sets.Scores(ctx, partner)
	if err != nil {
		return err
	}
	for i := range members {
		if !members[i].Member.Kept {
			members[i].Member.Similarity = scores[2*i]
		}
	}
	return nil
}

// A row is a row of pairs or clusters, in the format of simdb pairs and simdb clusters.
type row struct {
	A        *string  `json:"a,omitempty"`
	B        *string  `json:"b,omitempty"`
	Cluster  uint32   `json:"cluster,omitempty"`
	ID       *string  `json:"id,omitempty"`
	Keep     *bool    `json:"keep,omitempty"`
	Distance *int     `json:"distance,omitempty"`
	Score    *float64 `json:"score,omitempty"`
	Error    *float64 `json:"error,omitempty"`
	Exact    *bool    `json:"exact,omitempty"`
}

// score sets the fields of a row that describe the match.
func (j *Job) score(r *row, score float64) {
	if j.plan.By.Sets {
		r.Score, r.Error, r.Exact = &score, new(float64), new(true)
	} else {
		r.Distance = new(int(score))
	}
}

func (j *Job) rows(ctx context.Context, shard uint64, write func(e *json.Encoder) error) error {
	name := fmt.Sprintf("%s-%05d.jsonl", j.o.Command, shard)
	err := j.store(ctx, "out/"+name, func(w *bufio.Writer) error { return write(dedup.AuditEncoder(w)) })
	return errors.Join(err, j.storeJSON(ctx, shardName("written", shard), dedup.Tally{Outputs: []string{name}}))
}

// clusterRows writes the documents of a shard that are in clusters.
func (j *Job) clusterRows(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	members, err := j.namedMembers(in)
	if err != nil {
		return err
	}
	err = j.rows(ctx, shard, func(e *json.Encoder) error {
		return j.eachPlace(ctx, shard, func(doc uint64, at func() (dedup.Place, error)) error {
			if len(members) == 0 || members[0].Doc != doc {
				return nil
			}
			place, err := at()
			if err != nil {
				return err
			}
			m := members[0].Member
			members = members[1:]
			r := row{Cluster: m.Cluster, ID: &place.ID, Keep: &m.Kept}
			j.score(&r, m.Score)
			return e.Encode(r)
		})
	})
	return errors.Join(err, send(0, nil))
}

// A namedPair is a pair with the id of its second document.
type namedPair struct {
	Pair stages.Pair
	B    string
}

// AppendBinary appends the message to dst.
func (x namedPair) AppendBinary(dst []byte) ([]byte, error) {
	b, err := json.Marshal(x)
	return append(dst, b...), err
}

// UnmarshalBinary reads the message.
func (x *namedPair) UnmarshalBinary(b []byte) error { return json.Unmarshal(b, x) }

// nameSecond sends the ids of the pairs' second documents to the shards of the first documents.
func (j *Job) nameSecond(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	to := sender(send)
	err := namePairs(ctx, j, shard, in, func(p stages.Pair) [2]uint64 { return [2]uint64{p.B, p.A} }, func(p stages.Pair, id string) error {
		return to(shardOf(p.A), namedPair{p, id})
	})
	return errors.Join(err, send(shard, nil))
}

// pairRows writes the pairs whose first documents are in a shard.
func (j *Job) pairRows(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	err := j.rows(ctx, shard, func(e *json.Encoder) error {
		return namePairs(ctx, j, shard, in, func(p namedPair) [2]uint64 { return [2]uint64{p.Pair.A, p.Pair.B} }, func(p namedPair, id string) error {
			a, b := min(id, p.B), max(id, p.B)
			r := row{A: &a, B: &b}
			j.score(&r, p.Pair.Score)
			return e.Encode(r)
		})
	})
	return errors.Join(err, send(0, nil))
}

// namePairs calls f once for each pair, in order, with the id of the first document that of
// returns.
func namePairs[T comparable, P message[T]](ctx context.Context, j *Job, shard uint64, in iter.Seq2[[]byte, error], of func(T) [2]uint64, f func(T, string) error) error {
	pairs, err := all[T, P](in)
	if err != nil || len(pairs) == 0 {
		return err
	}
	slices.SortFunc(pairs, func(a, b T) int {
		x, y := of(a), of(b)
		return slices.Compare(x[:], y[:])
	})
	pairs = slices.Compact(pairs)
	return j.eachPlace(ctx, shard, func(doc uint64, at func() (dedup.Place, error)) error {
		if len(pairs) == 0 || of(pairs[0])[0] != doc {
			return nil
		}
		place, err := at()
		for ; err == nil && len(pairs) > 0 && of(pairs[0])[0] == doc; pairs = pairs[1:] {
			err = f(pairs[0], place.ID)
		}
		return err
	})
}

// end adds up the counts of the outputs, and writes the whole audit.
func (j *Job) end(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], _ Send) error {
	if _, err := all[numbers](in); err != nil {
		return err
	}
	var done, read dedup.Tally
	for shard := range uint64(j.Shards()) {
		var t, w dedup.Tally
		var err error
		if shard != j.known() {
			err = j.loadJSON(ctx, shardName("written", shard), &w)
		}
		if t = w; j.o.Command != "build" { // build reads its inputs once
			t = dedup.Tally{}
			err = errors.Join(err, j.loadJSON(ctx, shardName("tally", shard), &t))
		}
		if err = errors.Join(err, read.Add(t), done.Add(w)); err != nil {
			return err
		}
	}
	done.Documents, done.Rejected, done.Inputs, done.Against = read.Documents, read.Rejected, read.Inputs, read.Against
	if j.o.Command != "build" {
		done.Outputs = append(done.Outputs, read.Outputs...)
	}
	if j.o.Command == "dedup" && !j.o.Job.NoAudit {
		if err := j.audit(ctx, done); err != nil {
			return err
		}
		done.Outputs = append(done.Outputs, auditName)
	}
	return j.storeJSON(ctx, "done", done)
}

const auditName = "audit.jsonl"

func (j *Job) audit(ctx context.Context, t dedup.Tally) error {
	head, err := j.o.Job.AuditHead(t)
	if err != nil {
		return err
	}
	return j.store(ctx, "out/"+auditName, func(w *bufio.Writer) error {
		err := dedup.AuditEncoder(w).Encode(head)
		for shard := range uint64(j.o.Shards) {
			err = errors.Join(err, j.read(ctx, shardName("audit", shard), func(r reader) error {
				_, err := io.Copy(w, r)
				return err
			}))
		}
		return err
	})
}
