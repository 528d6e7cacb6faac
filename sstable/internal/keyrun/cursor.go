package keyrun

import "github.com/simdb/simdb/internal/kernel"

// EachBlock calls fn with the keys of every block, the first of which is at position pos, until it
// returns an error.
func (r *Run) EachBlock(fn func(pos int, keys []uint64) error) error {
	return r.EachBlockOf(func(int) bool { return true }, fn)
}

// EachBlockOf is EachBlock for the blocks that want accepts.
func (r *Run) EachBlockOf(want func(b int) bool, fn func(pos int, keys []uint64) error) error {
	var space kernel.Keys
	for b := range r.blocks {
		if !want(b) {
			continue
		}
		if err := r.Check(b); err != nil {
			return err
		}
		if err := fn(b<<BlockShift, r.Decode(b, r.Info(b), 0, r.Count(b), &space)); err != nil {
			return err
		}
	}
	return nil
}

// A Cursor goes forward in a run, over blocks that it need not look at.
type Cursor struct {
	run   *Run
	block int      // number of the block
	keys  []uint64 // of the block; none before the first seek
	at    int      // in keys
	space kernel.Keys
}

// Cursor returns a cursor before the first key.
func (r *Run) Cursor() *Cursor { return &Cursor{run: r} }

// Key returns the key that the cursor stands on.
func (c *Cursor) Key() uint64 { return c.keys[c.at] }

// Pos returns its position.
func (c *Cursor) Pos() int { return c.block<<BlockShift + c.at }

// Seek moves to the first key that is not less than key and reports whether there is one. Keys must
// ascend from call to call.
func (c *Cursor) Seek(key uint64) (ok bool, err error) {
	for len(c.keys) == 0 || c.keys[len(c.keys)-1] < key {
		next := 0
		if len(c.keys) > 0 {
			next = c.block + 1
		}
		if next+1 < c.run.blocks && c.run.Base(next+1) < key { // not in the next block
			less, _ := c.run.Blocks(key, key)
			next = less - 1
		}
		if next >= c.run.blocks {
			return false, nil
		}
		if err := c.run.Check(next); err != nil {
			return false, err
		}
		c.block, c.at, c.keys = next, 0, c.run.Decode(next, c.run.Info(next), 0, c.run.Count(next), &c.space)
	}
	const stride = 8
	for c.at+stride < len(c.keys) && c.keys[c.at+stride] < key {
		c.at += stride
	}
	for c.keys[c.at] < key {
		c.at++
	}
	return true, nil
}

// End returns the position after the last key that equals the one the cursor stands on in all but
// its lowest drop bits, 0..63.
func (c *Cursor) End(drop int) (int, error) {
	at, want := c.at+1, c.Key()>>(drop&63)
	for at < len(c.keys) && c.keys[at]>>(drop&63) == want {
		at++
	}
	end := c.block<<BlockShift + at
	if at < len(c.keys) {
		return end, nil
	}
	for ; end < c.run.Len(); end++ {
		if key, err := c.run.Key(end); err != nil || key>>(drop&63) != want {
			return end, err
		}
	}
	return end, nil
}
