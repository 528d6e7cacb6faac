package app

import (
	"github.com/simdb/simdb/internal/quantity"
)

// TooMany reports whether n near-duplicates of one document, among all documents, deserve a
// warning: they are more than 1 % of all, and at least 100.
func TooMany(n, all int64) bool { return n >= 100 && n*100 > all }

// LargeAdvice says what to do about a cluster that has TooMany documents.
const LargeAdvice = "so many are often an error page, an empty form, or one template: look at some of them; --level paragraph removes what many texts share"

// ClusterSizes are the sizes of clusters as they are listed, for a warning about those that have
// TooMany documents.
type ClusterSizes struct {
	large []largeCluster
	now   largeCluster
}

// largeCluster is a cluster, and the ID of its keeper.
type largeCluster struct {
	number int
	n      int64
	id     string
}

// Add takes the next member, in the order of clusters.
func (c *ClusterSizes) Add(cluster int, id string, keep bool) {
	if cluster != c.now.number {
		c.end()
		c.now = largeCluster{number: cluster}
	}
	if c.now.n++; keep {
		c.now.id = id
	}
}

// end ends the cluster that is listed. The largest come first.
func (c *ClusterSizes) end() {
	const most = 3
	if c.now.n > 0 && len(c.large) < most {
		c.large = append(c.large, c.now)
	}
}

// Warn says which clusters have TooMany of all documents.
func (c *ClusterSizes) Warn(a *App, all int64) {
	c.end()
	for _, l := range c.large {
		if TooMany(l.n, all) {
			a.Say("warning: cluster %d has %s, %.1f %% of all, near-duplicates of %s; %s",
				l.number, quantity.Count(l.n, "document"), 100*float64(l.n)/float64(all), l.id, LargeAdvice)
		}
	}
}
