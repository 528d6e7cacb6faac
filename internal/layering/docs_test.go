package layering

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// pages returns the Markdown pages of the repository by path.
func pages(t *testing.T) map[string]string {
	found := map[string]string{}
	walk(t, func(path string) error {
		if filepath.Ext(path) != ".md" {
			return nil
		}
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	})
	return found
}

// walk calls fn for every file, except in testdata and hidden folders.
func walk(t *testing.T, fn func(path string) error) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		return fn(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)

// functions returns the names of the tests and benchmarks in a folder.
func functions(t *testing.T, dir string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunction.FindAllStringSubmatch(string(data), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

var (
	testCommand = regexp.MustCompile("go test [^`\n]*")
	selection   = regexp.MustCompile(`-(?:run|bench|fuzz) +('[^']*'|\S+)`)
	packagePath = regexp.MustCompile(` \./(\S+)`)
)

// TestCommands checks that `go test` commands in the documentation name existing folders, and that
// their -run, -bench and -fuzz match something there.
func TestCommands(t *testing.T) {
	for page, text := range pages(t) {
		for _, command := range testCommand.FindAllString(text, -1) {
			var names []string
			for _, m := range packagePath.FindAllStringSubmatch(command, -1) {
				dir := strings.TrimRight(m[1], ",.;:)")
				if dir == "PACKAGE" || strings.Contains(m[1], "...") {
					continue
				}
				in := functions(t, filepath.Join(root, dir))
				if len(in) == 0 {
					t.Errorf("%s: %s: there are no tests in %s", page, command, dir)
				}
				names = append(names, in...)
			}
			if len(names) == 0 {
				continue
			}
			for _, m := range selection.FindAllStringSubmatch(command, -1) {
				checkSelection(t, page, command, strings.Trim(m[1], "'"), names)
			}
		}
	}
}

func checkSelection(t *testing.T, page, command, pattern string, names []string) {
	pattern, _, _ = strings.Cut(pattern, "/")
	if pattern == "xxx" || pattern == "-" || pattern == "^$" {
		return // matches nothing on purpose
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Errorf("%s: %s: %v", page, command, err)
		return
	}
	for _, name := range names {
		if re.MatchString(name) {
			return
		}
	}
	t.Errorf("%s: %s: nothing there matches %q", page, command, pattern)
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks checks that links within the repository lead to an existing file and heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, ":") {
				continue
			}
			target := page
			if to != "" {
				target = filepath.Join(filepath.Dir(page), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if anchor != "" && !hasHeading(all[target], anchor) {
				t.Errorf("%s: there is no heading #%s in %s", page, anchor, target)
			}
		}
	}
}

var (
	heading     = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// hasHeading reports whether a page has a heading with this anchor.
func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		title := strings.ToLower(strings.TrimSpace(m[1]))
		if strings.ReplaceAll(notInAnchor.ReplaceAllString(title, ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	goPath   = regexp.MustCompile(`^[a-z][\w/.-]*\.(?:go|md)$`)
	testName = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz)[A-Z]\w*$`)
)

// TestRecipes checks the files and tests that docs/recipes.md and CONTRIBUTING.md name. A path that
// the reader should create is followed by "(new)".
func TestRecipes(t *testing.T) {
	known := map[string]bool{}
	walk(t, func(path string) error {
		rel, err := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		known[rel], known[rel[strings.LastIndexByte(rel, '/')+1:]] = true, true
		return err
	})
	dirs := map[string]bool{}
	for path := range known {
		if strings.HasSuffix(path, "_test.go") && strings.Contains(path, "/") {
			dirs[filepath.Dir(path)] = true
		}
	}
	for dir := range dirs {
		for _, name := range functions(t, filepath.Join(root, dir)) {
			known[name] = true
		}
	}
	for _, page := range []string{"docs/recipes.md", "CONTRIBUTING.md"} {
		data, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, at := range codeSpan.FindAllStringSubmatchIndex(text, -1) {
			word := text[at[2]:at[3]]
			if (goPath.MatchString(word) || testName.MatchString(word)) && !known[word] && !strings.HasPrefix(text[at[1]:], " (new)") {
				t.Errorf("%s names %s, which does not exist", page, word)
			}
		}
	}
}
