package record

// mostRows is how many rows share their memory, at most.
const mostRows = 256

// Cells makes room for rows, which share memory: more of them as there are more of them.
type Cells struct {
	free []any
	rows int // that room was made for, the last time
}

// Row returns an empty row with room for n cells.
func (c *Cells) Row(n int) []any {
	if len(c.free) < n {
		c.rows = min(max(2*c.rows, 1), mostRows)
		c.free = make([]any, n*c.rows)
	}
	row := c.free[:0:n]
	c.free = c.free[n:]
	return row
}
