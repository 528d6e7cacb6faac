package files

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// IgnoreFile is the name of files with patterns. The files that match are left out of the folder
// that has the IgnoreFile.
const IgnoreFile = ".simdbignore"

// rule is a pattern of .gitignore: https://git-scm.com/docs/gitignore.
type rule struct {
	base     string // the folder that the pattern is relative to, "" for the root of a walk
	pattern  string // for doublestar, relative to base
	include  bool   // it began with "!": files that match are included
	dirsOnly bool   // it ended in "/"
}

// parseRule parses a line of a pattern file. The pattern is relative to base. parseRule reports
// false for blank lines and comments.
func parseRule(line, base string) (r rule, ok bool, err error) {
	p := strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(p, " ") && !strings.HasSuffix(p, `\ `) {
		p = p[:len(p)-1]
	}
	if p == "" || p[0] == '#' {
		return rule{}, false, nil
	}
	r.base = base
	if r.include = p[0] == '!'; r.include {
		p = p[1:]
	}
	if r.dirsOnly = strings.HasSuffix(p, "/"); r.dirsOnly {
		p = p[:len(p)-1]
	}
	p = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(p) // .gitignore has no alternatives in braces
	if strings.HasSuffix(p, "/**") {
		p += "/*" // match the contents of the folder, not the folder
	}
	if strings.Contains(p, "/") {
		p = strings.TrimPrefix(p, "/")
	} else {
		p = "**/" + p
	}
	if !doublestar.ValidatePattern(p) {
		return rule{}, false, fmt.Errorf("%q is not a pattern: %w", line, errPattern)
	}
	r.pattern = negations.Replace(p)
	return r, true, nil
}

// parseIgnoreFile parses the lines of an IgnoreFile. An invalid pattern matches nothing, as in git.
func parseIgnoreFile(content, base string) (rules []rule) {
	for line := range strings.SplitSeq(content, "\n") {
		if r, ok, err := parseRule(line, base); ok && err == nil {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignored reports whether the rules leave out a file or folder. rel is its path from the root of
// the walk, with slashes. The last rule that matches decides.
func ignored(rules []rule, rel string, isDir bool) bool {
	for i := len(rules) - 1; i >= 0; i-- {
		r := &rules[i]
		if r.dirsOnly && !isDir {
			continue
		}
		below := rel
		if r.base != "" {
			var in bool
			if below, in = strings.CutPrefix(rel, r.base+"/"); !in {
				continue
			}
		}
		if doublestar.MatchUnvalidated(r.pattern, path.Clean(below)) {
			return !r.include
		}
	}
	return false
}
