package shard

import (
	"context"
	"iter"
	"maps"
	"slices"
)

// link is a step of a chain.
type link struct {
	name string
	run  func(j *Job, ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send Send) error
}

// chains are the steps of each command. Keys are shards of the inputs, groups in which documents
// meet, or 0 for what one worker does.
var chains = func() map[string][]link {
	start := []link{
		{"fingerprint", (*Job).fingerprint}, // shard: reads the inputs
		{"count", (*Job).count},             // one: adds up counters
		{"route", (*Job).route},             // shard: postings to groups
	}
	// To find what is connected in two rounds leaves the pairs of crowds out.
	stars := slices.Concat(start, []link{
		{"meet", (*Job).meetFirst},      // group: asks documents to groups
		{"member", (*Job).member},       // shard: sends their sets
		{"link", (*Job).link},           // group: what is connected
		{"forest", (*Job).forest},       // one
		{"meet-again", (*Job).meetLast}, // group: only what is not connected yet
		{"member-again", (*Job).member},
		{"link-again", (*Job).link},
		{"components", (*Job).components}, // one: each to a group
		{"gather", (*Job).member},
		{"stars", (*Job).stars},     // group: who is kept
		{"keepers", (*Job).keepers}, // shard: how many each keeper has
		{"number", (*Job).number},   // one: numbers of clusters
		{"name", (*Job).name},       // shard: where keepers stand
	})
	end := link{"end", (*Job).end} // one
	return map[string][]link{
		"dedup":    append(slices.Clip(stars), link{"write", (*Job).write}, end),
		"clusters": append(slices.Clip(stars), link{"rows", (*Job).clusterRows}, end),
		"build":    {{"build", (*Job).build}, end}, // shard: a table
		"pairs": append(slices.Clip(start), []link{
			{"meet", (*Job).meet},
			{"member", (*Job).member},
			{"pairs", (*Job).pairs},     // group
			{"name", (*Job).nameSecond}, // shard of the second document
			{"rows", (*Job).pairRows},   // shard of the first one
			end,
		}...),
	}
}()

// Commands returns the names of the commands that a job may have.
func Commands() []string { return slices.Sorted(maps.Keys(chains)) }
