// Command release makes the files of a release: for each platform an archive with the static
// program, its manual page and completions; Debian packages; a Homebrew formula; a container file;
// an SBOM in CycloneDX; and the checksums of all files. The same commit gives the same bytes.
//
//	cd tools && go run ./release -version v0.2.0 -o ../dist
//
// It needs only Go. python/build_wheel.py makes the wheels for Python.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A target is a platform that Go compiles for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the file name of the program.
func (t target) program() string {
	if t.os == "windows" {
		return "simdb.exe"
	}
	return "simdb"
}

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// release is a release in the making.
type release struct {
	root    string    // the checkout
	out     string    // the folder of the files
	version string    // with the v
	commit  string    // in hexadecimal
	time    time.Time // time of the commit, which all files get
	extra   []file    // files that every archive contains
	sums    map[string]string
}

// A file of an archive.
type file struct {
	name string // with slashes
	data []byte
	mode int64
}

const (
	plain      = 0o644
	executable = 0o755
)

func main() {
	version := flag.String("version", "", "the version, such as v0.2.0 (default: the tag of the commit)")
	out := flag.String("o", "dist", "the folder of the files, which must not exist")
	targets := flag.String("targets", "", "platforms with commas between them, such as linux/amd64 (default: all)")
	flag.Parse()
	err := unchanged(".")
	if err == nil {
		err = run(*version, *out, *targets)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// unchanged returns an error if the checkout of a folder has anything that its commit lacks.
func unchanged(dir string) error {
	changes, err := gitOutput(dir, "status", "--porcelain")
	if err == nil && changes != "" {
		err = fmt.Errorf("a release is made from a commit, which lacks these changes:\n%s", changes)
	}
	return err
}

func run(version, out, targets string) (err error) {
	r := &release{sums: map[string]string{}}
	if r.root, err = gitOutput(".", "rev-parse", "--show-toplevel"); err != nil {
		return err
	}
	if r.version, err = versionOf(r.root, version); err != nil {
		return err
	}
	if r.commit, err = gitOutput(r.root, "rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds, err := gitOutput(r.root, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	var n int64
	if _, err := fmt.Sscan(cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), seconds), &n); err != nil {
		return err
	}
	r.time = time.Unix(n, 0).UTC()
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := os.Mkdir(r.out, 0o777); err != nil {
		return err
	}
	of := allTargets
	if targets != "" {
		of = nil
		for text := range strings.SplitSeq(targets, ",") {
			os, arch, ok := strings.Cut(text, "/")
			if !ok {
				return fmt.Errorf("%q is not a platform such as linux/amd64", text)
			}
			of = append(of, target{os, arch})
		}
	}
	return r.make(of)
}

var versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// versionOf returns the given version, or else the tag of the commit.
func versionOf(root, given string) (string, error) {
	if given == "" {
		tag, err := gitOutput(root, "describe", "--tags", "--exact-match", "--match", "v*")
		if err != nil {
			return "", fmt.Errorf("the commit has no version tag, and -version is not given: %w", err)
		}
		given = tag
	}
	if !versions.MatchString(given) {
		return "", fmt.Errorf("%q is not a version such as v0.2.0", given)
	}
	return given, nil
}

func gitOutput(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir, c.Stderr = dir, os.Stderr
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// number returns the version without the v.
func (r *release) number() string { return r.version[1:] }

// make makes all files.
func (r *release) make(targets []target) error {
	temp, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	host := target{runtime.GOOS, runtime.GOARCH}
	if !slices.Contains(targets, host) {
		return fmt.Errorf("%v is this machine, whose program writes the manual page and completions: it must be among the targets", host)
	}
	programs := map[target]string{}
	for _, t := range targets {
		programs[t] = filepath.Join(temp, t.os, t.arch, t.program())
		if err := r.compile(t, programs[t]); err != nil {
			return err
		}
	}
	if err := r.readExtra(programs[host]); err != nil {
		return err
	}
	for _, t := range targets {
		if err := r.archive(t, programs[t]); err != nil {
			return fmt.Errorf("%v: %w", t, err)
		}
	}
	err = errors.Join(r.sbom(programs[host]), r.formula(targets), r.container(targets, programs))
	if err != nil {
		return err
	}
	return r.checksums()
}

// compile compiles the program for a platform.
func (r *release) compile(t target, path string) error {
	fmt.Println("compile", t)
	const of = "github.com/simdb/simdb/internal/version."
	flags := "-s -w -buildid= -X " + of + "release=" + r.version + " -X " + of + "commit=" + r.commit
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, "./cmd/simdb")
	c.Dir, c.Stderr = r.root, os.Stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off")
	return c.Run()
}

// readExtra reads the files that archives contain beside the program, which writes some of these
// files.
func (r *release) readExtra(program string) error {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return err
		}
		r.extra = append(r.extra, file{name, data, plain})
	}
	version, err := exec.Command(program, "--version").Output()
	if want := "simdb " + r.version + "\ncommit    " + r.commit + "\n"; err == nil && !strings.HasPrefix(string(version), want) {
		err = fmt.Errorf("the program says %q, not %q", version, want)
	}
	if err != nil {
		return err
	}
	for name, args := range map[string][]string{
		"man/simdb.1": {"--man"}, "completions/simdb.bash": {"completion", "bash"},
		"completions/_simdb": {"completion", "zsh"}, "completions/simdb.fish": {"completion", "fish"},
		"completions/simdb.ps1": {"completion", "powershell"},
	} {
		data, err := exec.Command(program, args...).Output()
		if err != nil || len(data) == 0 {
			return fmt.Errorf("simdb %s: %w", strings.Join(args, " "), cmp.Or(err, errors.New("it wrote nothing")))
		}
		r.extra = append(r.extra, file{name, data, plain})
	}
	slices.SortFunc(r.extra, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return nil
}

// archiveName returns the name of the archive for a platform.
func (r *release) archiveName(t target) string {
	ending := ".tar.gz"
	if t.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("simdb_%s_%s_%s%s", r.number(), t.os, t.arch, ending)
}

// archive makes the archive for a platform and, for Linux, the Debian package.
func (r *release) archive(t target, program string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	fmt.Printf("%v: the program has %d bytes\n", t, len(data))
	files := append([]file{{t.program(), data, executable}}, r.extra...)
	folder := strings.TrimSuffix(strings.TrimSuffix(r.archiveName(t), ".zip"), ".tar.gz") + "/"
	for i := range files {
		files[i].name = folder + files[i].name
	}
	var packed []byte
	if t.os == "windows" {
		packed, err = zipOf(files, r.time)
	} else {
		packed, err = tarOf(files, r.time)
	}
	if err == nil {
		err = r.write(r.archiveName(t), packed)
	}
	if err != nil || t.os != "linux" {
		return err
	}
	packed, err = r.debian(t, data)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("simdb_%s_%s.deb", r.number(), t.arch), packed)
}

// write writes a file of the release.
func (r *release) write(name string, data []byte) error {
	sum := sha256.Sum256(data)
	r.sums[name] = hex.EncodeToString(sum[:])
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o666)
}

// checksums writes the checksums of all files, as sha256sum -c reads them.
func (r *release) checksums() error {
	var names []string
	for name := range r.sums {
		names = append(names, name)
	}
	slices.Sort(names)
	var b bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&b, "%s  %s\n", r.sums[name], name)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), b.Bytes(), 0o666)
}
