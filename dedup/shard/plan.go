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

// chains holds the steps of each command. A key is a shard of the inputs, a group of documents
// that are compared, or 0 if one worker does the step.
var chains = func() map[string][]link {
	start := []link{
		{"fingerprint", (*Job).fingerprint}, // shard: reads the inputs
		{"count", (*Job).count},             // one: adds up counters
		{"route", (*Job).route},             // shard: postings to groups
	}
	// Linking documents in two rounds avoids the pairs of crowds.
	stars := slices.Concat(start, []link{
		{"meet", (*Job).meetFirst},        // group: finds documents that may match; joins fingerprints
		{"candidates", (*Job).candidates}, // one: their components
		{"ask", (*Job).askLarge},          // group: assigns documents of large components to groups
		{"member", (*Job).member},         // shard: sends their sets
		{"link", (*Job).link},             // group: links
		{"forest", (*Job).forest},         // one
		{"meet-again", (*Job).meetLast},   // group: only documents that are not linked yet
		{"member-again", (*Job).member},
		{"link-again", (*Job).link},
		{"components", (*Job).components}, // one: assigns each component to a group
		{"gather", (*Job).gather},
		{"stars", (*Job).stars},     // group: chooses keepers
		{"keepers", (*Job).keepers}, // shard: sizes of the keepers' clusters
		{"number", (*Job).number},   // one: numbers the clusters
		{"name", (*Job).name},       // shard: places of keepers
	})
	end := link{"end", (*Job).end} // one
	return map[string][]link{
		seen: {
			{"grams", (*Job).grams},     // shard or known: reads the inputs
			{"before", (*Job).before},   // one: for each shard, what all shards before it have
			{"suspect", (*Job).suspect}, // shard: units that may be removed
			{"want", (*Job).want},       // one: their n-grams
			{"sight", (*Job).sight},     // shard or known: who has these n-grams
			{"meet", (*Job).meetSeen},   // group: what suspects share with others
			{"decide", (*Job).decide},   // one
			{"write", (*Job).writeSeen}, // shard
			end,
		},
		"dedup":    append(slices.Clip(stars), link{"write", (*Job).write}, end),
		"clusters": append(slices.Clip(stars), link{"rows", (*Job).clusterRows}, end),
		"build":    {{"build", (*Job).build}, end}, // shard: a table
		"pairs": append(slices.Clip(start), []link{
			{"meet", (*Job).meet},
			{"member", (*Job).memberPairs},
			{"pairs", (*Job).pairs},     // group
			{"name", (*Job).nameSecond}, // shard of the second document
			{"rows", (*Job).pairRows},   // shard of the first document
			end,
		}...),
	}
}()

// seen names the chain of dedup with Seen.
const seen = "seen"

// chain returns the steps of a job.
func (j *Job) chain() []link {
	if j.seen() {
		return chains[seen]
	}
	return chains[j.o.Command]
}

// Commands returns the names of the commands that a job may have.
func Commands() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(chains)), func(name string) bool { return name == seen })
}
