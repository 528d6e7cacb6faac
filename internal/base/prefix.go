package base

// PrefixEnd returns the first string, bytewise, after all strings with a prefix, or "" if there is
// none.
func PrefixEnd(prefix string) string {
	for n := len(prefix); n > 0; n-- {
		if last := prefix[n-1]; last < 0xff {
			return prefix[:n-1] + string([]byte{last + 1})
		}
	}
	return ""
}
