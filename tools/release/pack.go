package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// tarOf packs files as .tar.gz, owned by root, with entries for their folders.
func tarOf(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(z)
	header := func(h tar.Header) error {
		h.ModTime, h.Format, h.Uname, h.Gname = at, tar.FormatUSTAR, "root", "root"
		return t.WriteHeader(&h)
	}
	made := map[string]bool{".": true, "./": true}
	for _, f := range files {
		for _, folder := range folders(f.name) {
			if made[folder] {
				continue
			}
			made[folder] = true
			if err := header(tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		if err := header(tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data))}); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err = errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

// folders returns the folders of a file, the outermost first, each with a slash at its end.
func folders(name string) (all []string) {
	for i, c := range name {
		if c == '/' {
			all = append(all, name[:i+1])
		}
	}
	return all
}

// zipOf packs files as .zip.
func zipOf(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// debian makes the Debian package of the program: an ar archive of two tar archives.
func (r *release) debian(t target, program []byte) ([]byte, error) {
	files := []file{{"./usr/bin/simdb", program, executable}}
	for _, f := range r.extra {
		to := "./usr/share/doc/simdb/" + path.Base(f.name)
		data := f.data
		switch f.name {
		case "LICENSE":
			to = "./usr/share/doc/simdb/copyright"
		case "man/simdb.1":
			to = "./usr/share/man/man1/simdb.1.gz"
			var b bytes.Buffer
			z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
			z.Write(data)
			if err := z.Close(); err != nil {
				return nil, err
			}
			data = b.Bytes()
		case "completions/simdb.bash":
			to = "./usr/share/bash-completion/completions/simdb"
		case "completions/_simdb":
			to = "./usr/share/zsh/vendor-completions/_simdb"
		case "completions/simdb.fish":
			to = "./usr/share/fish/vendor_completions.d/simdb.fish"
		}
		files = append(files, file{to, data, plain})
	}
	size := 0
	for _, f := range files {
		size += len(f.data)
	}
	control := fmt.Sprintf(`Package: simdb
Version: %s
Architecture: %s
Maintainer: simdb maintainers <maintainers@simdb.example>
Installed-Size: %d
Section: utils
Priority: optional
Homepage: https://github.com/simdb/simdb
Description: embedded database for near-duplicates
 simdb removes near-duplicates from files, finds the stored texts or image
 hashes that resemble a given one, and admits only new documents to a
 collection.
`, strings.ReplaceAll(r.number(), "-", "~"), t.arch, (size+1023)/1024)
	head, err := tarOf([]file{{"./control", []byte(control), plain}}, r.time)
	if err != nil {
		return nil, err
	}
	data, err := tarOf(files, r.time)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, part := range []file{{name: "debian-binary", data: []byte("2.0\n")}, {name: "control.tar.gz", data: head}, {name: "data.tar.gz", data: data}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", part.name, r.time.Unix(), 0, 0, "100644", len(part.data))
		b.Write(part.data)
		if len(part.data)%2 == 1 {
			io.WriteString(&b, "\n")
		}
	}
	return b.Bytes(), nil
}
