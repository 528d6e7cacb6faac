package shard

import (
	"bufio"
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/internal/stages"
)

// meet assigns the documents of a group to cells, so that all pairs are found.
func (j *Job) meet(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	plan, postings, err := j.postings(ctx, in)
	if err != nil {
		return err
	}
	return ask(plan.Meet(postings), send)
}

// postings returns the plan of the stages, and the Postings in all messages.
func (j *Job) postings(ctx context.Context, in iter.Seq2[[]byte, error]) (plan stages.Plan, all []stages.Posting, err error) {
	if plan, err = j.planOf(ctx); err != nil {
		return plan, nil, err
	}
	err = eachMessage(in, func(b []byte) (err error) {
		all, err = stages.AppendPostings(all, b)
		return err
	})
	return plan, all, err
}

// planned returns the plan of the stages, and all messages of a step.
func planned[T any, P message[T]](ctx context.Context, j *Job, in iter.Seq2[[]byte, error]) (plan stages.Plan, xs []T, err error) {
	if plan, err = j.planOf(ctx); err == nil {
		xs, err = all[T, P](in)
	}
	return plan, xs, err
}

func ask(asks []stages.Ask, send Send) error {
	to := stages.NewBatches(send)
	for _, a := range asks {
		if err := to.AddAsk(shardOf(a.Doc), a); err != nil {
			return err
		}
	}
	return to.Flush()
}

// sendAll sends each message to its key.
func sendAll[T encoding.BinaryAppender](send Send, xs []T, key func(T) uint64) error {
	to := sender(send)
	for _, x := range xs {
		if err := to(key(x), x); err != nil {
			return err
		}
	}
	return nil
}

// meetFirst is meet for stars. Its Asks, and postings for later, go to working files.
func (j *Job) meetFirst(ctx context.Context, group uint64, in iter.Seq2[[]byte, error], _ Send) error {
	if !j.plan.By.Sets {
		return j.meetPrints(ctx, group, in)
	}
	plan, postings, err := j.postings(ctx, in)
	if err != nil {
		return err
	}
	asks, later, candidates := plan.MeetFirst(postings)
	if len(asks) > 0 {
		err = j.store(ctx, shardName("asks", group), func(w *bufio.Writer) error {
			return ask(asks, func(_ uint64, b []byte) error { return put(w, b) })
		})
	}
	return errors.Join(err, j.storeLinks(ctx, group, candidates), j.storeLater(ctx, group, later))
}

func (j *Job) storeLinks(ctx context.Context, group uint64, links []stages.Link) error {
	if len(links) == 0 {
		return nil
	}
	return storeAll(ctx, j, shardName("links", group), links)
}

func (j *Job) storeLater(ctx context.Context, group uint64, later []stages.Posting) error {
	if len(later) == 0 {
		return nil
	}
	return storeAll(ctx, j, shardName("later", group), later)
}

// meetPrints is meetFirst for fingerprints, which are joined at once.
func (j *Job) meetPrints(ctx context.Context, group uint64, in iter.Seq2[[]byte, error]) error {
	plan, err := j.planOf(ctx)
	if err != nil {
		return err
	}
	all := stages.Prints{Words: plan.Words}
	if err := eachMessage(in, all.Add); err != nil {
		return err
	}
	links, later, err := plan.MeetPrints(ctx, group, &all)
	if err != nil {
		return err
	}
	return errors.Join(j.storeLinks(ctx, group, links), j.storeLater(ctx, group, later))
}

// storeAll writes messages to a working file.
func storeAll[T encoding.BinaryAppender](ctx context.Context, j *Job, name string, xs []T) error {
	return j.store(ctx, name, func(w *bufio.Writer) error {
		var room []byte
		for _, x := range xs {
			room, _ = x.AppendBinary(room[:0])
			if err := put(w, room); err != nil {
				return err
			}
		}
		return nil
	})
}

// loadAll reads the messages of a working file.
func loadAll[T any, P message[T]](ctx context.Context, j *Job, name string) (xs []T, err error) {
	err = j.read(ctx, name, func(r reader) error {
		xs, err = all[T, P](stored(r))
		return err
	})
	return xs, err
}

// candidates merges the links of meetFirst. Documents of a component that is small are joined only
// once, by stars; for the others, the groups ask now.
func (j *Job) candidates(ctx context.Context, _ uint64, _ iter.Seq2[[]byte, error], send Send) error {
	plan, err := j.planOf(ctx)
	if err != nil {
		return err
	}
	var links, large []stages.Link
	for group := range plan.Groups {
		found, err := loadAll[stages.Link](ctx, j, shardName("links", group))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		links = append(links, found...)
	}
	if links = stages.Forest(links); plan.By.Sets {
		links, large = plan.Whole(links)
	}
	err = errors.Join(storeAll(ctx, j, "whole", links), storeAll(ctx, j, "large", large))
	if err != nil || len(large) == 0 {
		return err
	}
	return toAll(send, plan.Groups)
}

// askLarge sends the Asks of a group for documents of large components.
func (j *Job) askLarge(ctx context.Context, group uint64, _ iter.Seq2[[]byte, error], send Send) error {
	large, err := loadAll[stages.Link](ctx, j, "large")
	if err != nil || len(large) == 0 {
		return err
	}
	var asks []stages.Ask
	err = j.read(ctx, shardName("asks", group), func(r reader) (err error) {
		asks, err = allAsks(stored(r))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // it has no cells
		return nil
	}
	return errors.Join(err, ask(stages.Only(asks, large), send))
}

// allAsks returns the Asks in all messages.
func allAsks(in iter.Seq2[[]byte, error]) (asks []stages.Ask, err error) {
	err = eachMessage(in, func(b []byte) (err error) {
		asks, err = stages.AppendAsks(asks, b)
		return err
	})
	return asks, err
}

// loadOne reads a working file that is one message.
func loadOne[T any, P message[T]](ctx context.Context, j *Job, name string) (x T, err error) {
	all, err := loadAll[T, P](ctx, j, name)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%s is damaged", j.workName(name))
	}
	if err != nil {
		return x, err
	}
	return all[0], nil
}

// meetLast is meet for the postings of meetFirst that wait, once the components so far are known.
func (j *Job) meetLast(ctx context.Context, group uint64, _ iter.Seq2[[]byte, error], send Send) error {
	later, err := loadAll[stages.Posting](ctx, j, shardName("later", group))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	plan, failed := j.planOf(ctx)
	links, missing := loadAll[stages.Link](ctx, j, "forest")
	if err = errors.Join(err, failed, missing); err != nil {
		return err
	}
	for i, x := range later {
		if at, ok := slices.BinarySearchFunc(links, x.Doc, func(l stages.Link, doc uint64) int { return cmp.Compare(l.B, doc) }); ok {
			later[i].Root = links[at].A
		}
	}
	return ask(plan.Meet(later), send)
}

// member sends the sets of documents to the groups that request them.
func (j *Job) member(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	return j.members(ctx, shard, in, send, func(*stages.Member, []byte) {})
}

// gather is member for stars. If a rule decides, it sends documents instead of their sets.
func (j *Job) gather(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	return j.members(ctx, shard, in, send, func(m *stages.Member, document []byte) {
		if j.ruled {
			m.Elements, m.Document = nil, document
		}
	})
}

// memberPairs is member for pairs. If a rule decides, it also sends documents.
func (j *Job) memberPairs(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	return j.members(ctx, shard, in, send, func(m *stages.Member, document []byte) { m.Document = document })
}

// eachDocument calls f as eachSet does, with the documents if a rule decides.
func (j *Job) eachDocument(ctx context.Context, shard uint64, f func(s stages.Set, document []byte) error) error {
	if !j.ruled {
		return j.eachSet(ctx, shard, func(s stages.Set) error { return f(s, nil) })
	}
	return j.read(ctx, shardName("documents", shard), func(r reader) error {
		var document []byte
		return j.eachSet(ctx, shard, func(s stages.Set) (err error) {
			if document, err = get(r, document); err != nil {
				return noEOF(err)
			}
			return f(s, document)
		})
	})
}

// members sends the features of documents to the groups that request them, after change.
func (j *Job) members(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send, change func(m *stages.Member, document []byte)) error {
	asks, err := allAsks(in)
	if err != nil || len(asks) == 0 {
		return err
	}
	plan, err := j.planOf(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(asks, func(a, b stages.Ask) int { return cmp.Compare(a.Doc, b.Doc) })
	to := sender(send)
	return j.eachDocument(ctx, shard, func(s stages.Set, document []byte) error {
		n := 0
		for n < len(asks) && asks[n].Doc == s.Doc {
			n++
		}
		if n == 0 {
			return nil
		}
		m := plan.NewMember(s, asks[:n])
		change(&m, document)
		asks = asks[n:]
		for group := range m.Groups() {
			if err := to(group, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// pairs sends the pairs of a group to the shards of their second documents.
func (j *Job) pairs(ctx context.Context, group uint64, in iter.Seq2[[]byte, error], send Send) error {
	plan, members, err := planned[stages.Member](ctx, j, in)
	if err != nil {
		return err
	}
	to, rule := sender(send), func(*stages.Pair) (bool, error) { return true, nil }
	if j.ruled {
		x, at, done, err := j.ruledPart(ctx, members)
		if err != nil {
			return err
		}
		defer done()
		match, err := x.Match(ctx)
		if err != nil {
			return err
		}
		rule = func(p *stages.Pair) (ok bool, err error) {
			p.Score, ok, err = match(at[p.A], at[p.B])
			return ok, err
		}
	}
	if group == 0 { // a shard without pairs has a file of rows, too
		if err := j.toShards(send); err != nil {
			return err
		}
	}
	var failed error
	err = plan.Pairs(ctx, group, members, func(p stages.Pair) bool {
		ok, err := rule(&p)
		if failed = err; ok && err == nil {
			failed = to(shardOf(p.B), p)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}

// ruledPart returns the documents of members for the rule, and by Doc their numbers, which ascend with
// it. done frees them.
func (j *Job) ruledPart(ctx context.Context, members []stages.Member) (x *dedup.RuledPart, at map[uint64]uint32, done func(), err error) {
	slices.SortFunc(members, func(a, b stages.Member) int { return cmp.Compare(a.Doc, b.Doc) })
	dir, remove, err := j.tempDir()
	if err != nil {
		return nil, nil, nil, err
	}
	size := int64(0)
	for i := range members {
		size += int64(len(members[i].Document))
	}
	x, err = j.o.Job.NewRuledPart(ctx, size, dir)
	if err != nil {
		remove()
		return nil, nil, nil, err
	}
	at, done = map[uint64]uint32{}, func() {
		x.Close()
		remove()
	}
	for i := range members {
		if _, twice := at[members[i].Doc]; !twice {
			at[members[i].Doc] = uint32(len(at))
			err = cmp.Or(err, x.Add(members[i].Document))
		}
	}
	if err != nil {
		done()
	}
	return x, at, done, err
}

// ruledStars is stages.Plan.Stars by the rule.
func (j *Job) ruledStars(ctx context.Context, members []stages.Member) ([]stages.Star, error) {
	x, at, done, err := j.ruledPart(ctx, members)
	if err != nil {
		return nil, err
	}
	defer done()
	keeper, scores, err := x.Stars(ctx)
	if err != nil {
		return nil, err
	}
	docs, stars := make([]uint64, len(at)), make([]stages.Star, len(at))
	for doc, n := range at {
		docs[n] = doc
	}
	for n, k := range keeper {
		stars[n] = stages.Star{Doc: docs[n], Keeper: docs[k], Score: scores[n]}
	}
	return stars, nil
}

// link sends the links of a group.
func (j *Job) link(ctx context.Context, group uint64, in iter.Seq2[[]byte, error], send Send) error {
	plan, members, err := planned[stages.Member](ctx, j, in)
	if err != nil {
		return err
	}
	links, err := plan.Links(ctx, group, members)
	if err != nil {
		return err
	}
	return sendAll(send, links, func(stages.Link) uint64 { return 0 })
}

// forest merges all links.
func (j *Job) forest(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	plan, links, err := planned[stages.Link](ctx, j, in)
	if err != nil {
		return err
	}
	whole, err := loadAll[stages.Link](ctx, j, "whole")
	if err != nil {
		return err
	}
	if err := storeAll(ctx, j, "forest", stages.Forest(append(links, whole...))); err != nil {
		return err
	}
	return toAll(send, plan.Groups)
}

// components assigns the documents of each component to one group.
func (j *Job) components(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	plan, links, err := planned[stages.Link](ctx, j, in)
	if err != nil {
		return err
	}
	before, err := loadAll[stages.Link](ctx, j, "forest")
	if err != nil {
		return err
	}
	return ask(plan.Shards(stages.Forest(append(links, before...))), send)
}

// stars sends the keepers of some components to the keepers' shards.
func (j *Job) stars(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	plan, members, err := planned[stages.Member](ctx, j, in)
	if err != nil {
		return err
	}
	stars, err := []stages.Star(nil), error(nil)
	if j.ruled {
		stars, err = j.ruledStars(ctx, members)
	} else {
		stars, err = plan.Stars(ctx, members)
	}
	if err != nil {
		return err
	}
	stars = slices.DeleteFunc(stars, func(s stages.Star) bool { return s.Doc == s.Keeper })
	return sendAll(send, stars, func(s stages.Star) uint64 { return shardOf(s.Keeper) })
}

// keepers sends the cluster size of each keeper of a shard.
func (j *Job) keepers(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	stars, err := all[stages.Star](in)
	if err != nil {
		return err
	}
	slices.SortFunc(stars, func(a, b stages.Star) int {
		return cmp.Or(cmp.Compare(a.Keeper, b.Keeper), cmp.Compare(a.Doc, b.Doc))
	})
	stars = slices.Compact(stars)
	if err := storeAll(ctx, j, shardName("stars", shard), stars); err != nil {
		return err
	}
	to := sender(send)
	for from, n := 0, 0; from < len(stars); from = n {
		for n = from; n < len(stars) && stars[n].Keeper == stars[from].Keeper; n++ {
		}
		if err := to(0, numbers{stars[from].Keeper, uint64(n-from) + 1}); err != nil {
			return err
		}
	}
	return nil
}

// number numbers the clusters by decreasing size, then in the order of their keepers.
func (j *Job) number(_ context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	clusters, err := all[numbers](in)
	if err != nil {
		return err
	}
	slices.SortFunc(clusters, func(a, b numbers) int { return cmp.Or(cmp.Compare(b[1], a[1]), cmp.Compare(a[0], b[0])) })
	clusters = slices.CompactFunc(clusters, func(a, b numbers) bool { return a[0] == b[0] })
	to := sender(send)
	for i, c := range clusters {
		if err := to(shardOf(c[0]), numbers{c[0], uint64(i) + 1}); err != nil {
			return err
		}
	}
	return j.toShards(send)
}
