package main

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const three = `{"id":"a","text":"one two three four five six seven"}
{"id":"b","text":"eight nine ten eleven twelve"}
{"id":"c","text":"one two three four five six seven"}
`

// use runs a program that was just installed as somebody would who has nothing else: in an empty
// folder, with no environment. It finds the near-duplicate of three documents. what is a line of its
// version.
func use(t *testing.T, program, version, what string) {
	t.Helper()
	folder := t.TempDir()
	run := func(args ...string) string {
		c := exec.Command(program, args...)
		c.Dir, c.Env = folder, []string{} // not nil, which stands for this process's own
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s %v: %v\n%s", program, args, err, out)
		}
		return string(out)
	}
	if said := run("version"); !strings.HasPrefix(said, "simdb "+version+"\n") || !strings.Contains(said, "\n"+what+"\n") {
		t.Errorf("%s: it lacks simdb %s or %s:\n%s", program, version, what, said)
	}
	if err := os.WriteFile(filepath.Join(folder, "three.jsonl"), []byte(three), 0o666); err != nil {
		t.Fatal(err)
	}
	run("dedup", "three.jsonl", "-o", "kept.jsonl")
	if kept := string(read(t, filepath.Join(folder, "kept.jsonl"))); kept != three[:strings.Index(three, `{"id":"c"`)] {
		t.Errorf("%s: kept %q", program, kept)
	}
	run("load", "x.simdb", "three.jsonl")
	if found := run("x.simdb", "JACCARD('a', 0.8)"); !strings.HasPrefix(found, "c\t1\t") {
		t.Errorf("%s: found %q", program, found)
	}
}

// do runs a command in a folder, with settings that replace those of the environment.
func do(t *testing.T, folder string, env []string, command ...string) {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = folder, append(os.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}

// installed installs the files of a release in each of the ways that README.md names, and uses what was
// installed.
func installed(t *testing.T, release, version string) {
	commit, err := gitOutput(".", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	commit = "commit    " + commit
	base := "simdb_" + version[1:] + "_linux_" + runtime.GOARCH
	t.Run("archive", func(t *testing.T) {
		folder := t.TempDir()
		do(t, folder, nil, "tar", "-xzf", filepath.Join(release, base+".tar.gz"))
		program := filepath.Join(folder, base, "simdb")
		use(t, program, version, commit)
		f, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
			t.Error("the program is not static")
		}
	})
	t.Run("debian", func(t *testing.T) { debianInstalled(t, release, version, commit) })
	t.Run("module", func(t *testing.T) {
		if os.Getenv("SIMDB_ALL") == "" {
			t.Skip("it compiles the program in another folder; SIMDB_ALL=1 has it")
		}
		moduleInstalled(t, version)
	})
}

// debianInstalled unpacks the Debian package, and lets dpkg install and remove it in a folder that
// stands for a system.
func debianInstalled(t *testing.T, release, version, commit string) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("there is no dpkg")
	}
	of := filepath.Join(release, "simdb_"+version[1:]+"_"+runtime.GOARCH+".deb")
	folder := t.TempDir()
	do(t, folder, nil, "dpkg-deb", "-x", of, folder)
	use(t, filepath.Join(folder, "usr/bin/simdb"), version, commit)
	if os.Geteuid() != 0 {
		return // dpkg installs only for root
	}
	root := t.TempDir()
	for _, name := range []string{"updates", "info"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "usr/bin/simdb")
	do(t, root, nil, "dpkg", "--root="+root, "-i", of)
	use(t, program, version, commit)
	for _, name := range []string{"usr/share/man/man1/simdb.1.gz", "usr/share/bash-completion/completions/simdb", "usr/share/doc/simdb/copyright"} {
		read(t, filepath.Join(root, name))
	}
	do(t, root, nil, "dpkg", "--root="+root, "-r", "simdb")
	if _, err := os.Stat(program); !os.IsNotExist(err) {
		t.Errorf("the program is still there when its package is removed: %v", err)
	}
}

// moduleInstalled serves the module as a proxy does once it is published. It installs the program, and
// builds an example as a module of its own. The other modules come from the module cache.
func moduleInstalled(t *testing.T, version string) {
	root, err := gitOutput(".", "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	m := module.Version{Path: "github.com/simdb/simdb", Version: version}
	serve(t, filepath.Join(folder, "proxy", filepath.FromSlash(m.Path), "@v"), m, root)
	settings, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, proxy, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	urls := "file://" + filepath.Join(folder, "proxy") + ",file://" + filepath.Join(cache, "cache/download") + "," + proxy
	env := []string{"GOPROXY=" + urls, "GOMODCACHE=" + filepath.Join(folder, "modules"), "GOBIN=" + filepath.Join(folder, "bin"),
		"GOSUMDB=off", "GOPRIVATE=", "GONOPROXY=", "GOENV=off", "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0", "GOAMD64=v1"}
	do(t, folder, env, "go", "install", m.Path+"/cmd/simdb@"+version)
	use(t, filepath.Join(folder, "bin/simdb"), version, "commit    that of "+version)

	own := filepath.Join(folder, "own")
	if err := os.Mkdir(own, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "main.go"), read(t, filepath.Join(root, "examples/near/main.go")), 0o666); err != nil {
		t.Fatal(err)
	}
	do(t, own, env, "go", "mod", "init", "example.org/own")
	do(t, own, env, "go", "get", m.Path+"/engine@"+version, m.Path+"/query@"+version)
	do(t, own, env, "go", "run", ".")
}

// serve writes the files of a module proxy for a module at HEAD.
func serve(t *testing.T, folder string, m module.Version, root string) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(folder, m.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := zip.CreateFromVCS(f, m, root, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	info := `{"Version":"` + m.Version + `","Time":"2026-01-01T00:00:00Z"}`
	for name, text := range map[string]string{
		m.Version + ".info": info, m.Version + ".mod": string(read(t, filepath.Join(root, "go.mod"))), "list": m.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlatforms makes the release for all platforms, and looks at programs that this machine cannot
// run: their format, their processor, and that they need no library but those of their system.
func TestPlatforms(t *testing.T) {
	if os.Getenv("SIMDB_ALL") == "" {
		t.Skip("it compiles the program six times; SIMDB_ALL=1 has it")
	}
	const version = "v1.2.3"
	out := filepath.Join(t.TempDir(), "all")
	if err := run(version, out, ""); err != nil {
		t.Fatal(err)
	}
	for _, target := range allTargets {
		t.Run(target.String(), func(t *testing.T) {
			folder := t.TempDir()
			base := "simdb_" + version[1:] + "_" + target.os + "_" + target.arch
			if archive := filepath.Join(out, base); target.os == "windows" {
				do(t, folder, nil, "python3", "-m", "zipfile", "-e", archive+".zip", folder)
			} else {
				do(t, folder, nil, "tar", "-xzf", archive+".tar.gz")
			}
			f, err := os.Open(filepath.Join(folder, base, target.program()))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			processor, libraries := headerOf(t, target.os, f)
			if want := processors[target.os+"/"+target.arch]; processor != want {
				t.Errorf("the processor is %#x, not %#x", processor, want)
			}
			for _, name := range libraries {
				if !slices.Contains(systems[target.os], strings.ToLower(name)) {
					t.Errorf("the program needs %s", name)
				}
			}
		})
	}
}

var processors = map[string]int{
	"linux/amd64": int(elf.EM_X86_64), "linux/arm64": int(elf.EM_AARCH64), "darwin/amd64": int(macho.CpuAmd64), "darwin/arm64": int(macho.CpuArm64),
	"windows/amd64": pe.IMAGE_FILE_MACHINE_AMD64, "windows/arm64": pe.IMAGE_FILE_MACHINE_ARM64,
}

// systems lists the libraries that each installation of a system has.
var systems = map[string][]string{
	"windows": {"kernel32.dll"},
	"darwin": {"/usr/lib/libsystem.b.dylib", "/usr/lib/libresolv.9.dylib", "/system/library/frameworks/corefoundation.framework/versions/a/corefoundation",
		"/system/library/frameworks/security.framework/versions/a/security"},
}

// headerOf returns the processor of a program, and the libraries that it imports.
func headerOf(t *testing.T, system string, from io.ReaderAt) (processor int, libraries []string) {
	var err error
	switch system {
	case "windows":
		f, failed := pe.NewFile(from)
		if err = failed; err == nil {
			processor = int(f.Machine)
			var symbols []string
			symbols, err = f.ImportedSymbols()
			for _, s := range symbols {
				_, library, _ := strings.Cut(s, ":")
				libraries = append(libraries, library)
			}
		}
	case "darwin":
		f, failed := macho.NewFile(from)
		if err = failed; err == nil {
			processor = int(f.Cpu)
			libraries, err = f.ImportedLibraries()
		}
	default:
		f, failed := elf.NewFile(from)
		if err = failed; err == nil {
			processor = int(f.Machine)
			libraries, err = f.ImportedLibraries()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if system != "linux" && len(libraries) == 0 {
		t.Error("the program imports nothing, so its imports were not read")
	}
	return processor, libraries
}
