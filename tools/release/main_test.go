package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// The release for this machine has the expected content, two builds are equal, and it can be installed.
func TestRelease(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the packages of Linux are looked at")
	}
	const version = "v1.2.3-test.4"
	folder, host := t.TempDir(), runtime.GOOS+"/"+runtime.GOARCH
	first, second := filepath.Join(folder, "first"), filepath.Join(folder, "second")
	for _, out := range []string{first, second} {
		if err := run(version, out, host); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(filepath.Join(second, "SHA256SUMS")); !bytes.Equal(again, sums) {
		t.Errorf("two releases differ:\n%s\n%s", sums, again)
	}
	check := exec.Command("sha256sum", "-c", "--quiet", "SHA256SUMS")
	check.Dir = first
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}

	base := "simdb_1.2.3-test.4_linux_" + runtime.GOARCH
	files := unpack(t, read(t, filepath.Join(first, base+".tar.gz")))
	for _, name := range []string{"simdb", "LICENSE", "README.md", "man/simdb.1", "completions/simdb.bash", "completions/_simdb", "completions/simdb.fish", "completions/simdb.ps1"} {
		if len(files[base+"/"+name]) == 0 {
			t.Errorf("the archive has no %s", name)
		}
	}

	parts := unar(t, read(t, filepath.Join(first, "simdb_1.2.3-test.4_"+runtime.GOARCH+".deb")))
	if control := string(unpack(t, parts["control.tar.gz"])["./control"]); !strings.Contains(control, "\nVersion: 1.2.3~test.4\nArchitecture: "+runtime.GOARCH+"\n") {
		t.Errorf("control:\n%s", control)
	}
	if !bytes.Equal(unpack(t, parts["data.tar.gz"])["./usr/bin/simdb"], files[base+"/simdb"]) {
		t.Error("the package has another program")
	}
	if dpkg, err := exec.LookPath("dpkg-deb"); err == nil {
		out, err := exec.Command(dpkg, "--contents", filepath.Join(first, "simdb_1.2.3-test.4_"+runtime.GOARCH+".deb")).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "root/root") || !strings.Contains(string(out), "./usr/share/man/man1/simdb.1.gz") {
			t.Errorf("dpkg-deb: %v\n%s", err, out)
		}
	}

	var bom struct {
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(read(t, filepath.Join(first, "simdb_1.2.3-test.4_sbom.cdx.json")), &bom); err != nil {
		t.Fatal(err)
	}
	listed := func(name string) bool {
		for _, c := range bom.Components {
			if c.Name == name && c.Version != "" && c.Purl == fmt.Sprintf("pkg:golang/%s@%s", name, c.Version) {
				return true
			}
		}
		return false
	}
	if !listed("go.etcd.io/bbolt") || !listed("std") {
		t.Errorf("the SBOM lists %v", bom.Components)
	}
	formula := string(read(t, filepath.Join(first, "simdb.rb")))
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if name == base+".tar.gz" && !strings.Contains(formula, "    sha256 \""+sum+"\"\n") {
			t.Errorf("the formula lacks the sum %s:\n%s", sum, formula)
		}
	}
	installed(t, first, version)
}

// An invalid version is rejected, and so are a folder that exists and a file that is in no commit.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := unchanged(dir); err != nil {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o666)
	if err := unchanged(dir); err == nil || !strings.Contains(err.Error(), "new.go") {
		t.Error(err)
	}
	if err := run("1.2", filepath.Join(t.TempDir(), "x"), ""); err == nil || !strings.Contains(err.Error(), "is not a version") {
		t.Error(err)
	}
	if err := run("v1.2.3", t.TempDir(), ""); err == nil || !os.IsExist(err) {
		t.Error(err)
	}
}

func read(t *testing.T, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// unpack returns the files of a .tar.gz.
func unpack(t *testing.T, data []byte) map[string][]byte {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// unar returns the members of an ar archive.
func unar(t *testing.T, data []byte) map[string][]byte {
	parts := map[string][]byte{}
	data, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	for ok && len(data) >= 60 {
		n, err := strconv.Atoi(strings.TrimSpace(string(data[48:58])))
		if err != nil || string(data[58:60]) != "`\n" {
			t.Fatalf("a header is %q", data[:60])
		}
		parts[strings.TrimSpace(string(data[:16]))] = data[60:][:n]
		data = data[60+n+n%2:]
	}
	if len(parts) != 3 {
		t.Fatalf("%d members", len(parts))
	}
	return parts
}
