package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// sbom writes the list of modules in the program, in CycloneDX.
func (r *release) sbom(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	type component struct {
		Type    string              `json:"type"`
		Name    string              `json:"name"`
		Version string              `json:"version"`
		URL     string              `json:"purl"`
		Hashes  []map[string]string `json:"properties,omitempty"`
	}
	of := func(kind, name, version, sum string) component {
		c := component{Type: kind, Name: name, Version: version, URL: "pkg:golang/" + name + "@" + version}
		if sum != "" {
			c.Hashes = []map[string]string{{"name": "go.sum", "value": sum}}
		}
		return c
	}
	parts := []component{of("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	slices.SortFunc(info.Deps, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, of("library", m.Path, m.Version, m.Sum))
	}
	main := of("application", info.Main.Path, r.version, "")
	text, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata":   map[string]any{"timestamp": r.time.Format("2006-01-02T15:04:05Z"), "component": main},
		"components": parts,
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("simdb_%s_sbom.cdx.json", r.number()), append(text, '\n'))
}

// formula writes the Homebrew formula for the platforms that Homebrew supports.
func (r *release) formula(targets []target) error {
	var b strings.Builder
	fmt.Fprintf(&b, `class Simdb < Formula
  desc "Embedded database for near-duplicates"
  homepage "https://github.com/simdb/simdb"
  version "%s"
  license "Apache-2.0"
`, r.number())
	for _, system := range []struct{ os, name string }{{"darwin", "macos"}, {"linux", "linux"}} {
		var blocks strings.Builder
		for _, cpu := range []struct{ arch, name string }{{"arm64", "arm"}, {"amd64", "intel"}} {
			t := target{system.os, cpu.arch}
			if !slices.Contains(targets, t) {
				continue
			}
			name := r.archiveName(t)
			fmt.Fprintf(&blocks, `    on_%s do
      url "https://github.com/simdb/simdb/releases/download/%s/%s"
      sha256 "%s"
    end
`, cpu.name, r.version, name, r.sums[name])
		}
		if blocks.Len() > 0 {
			fmt.Fprintf(&b, "\n  on_%s do\n%s  end\n", system.name, blocks.String())
		}
	}
	b.WriteString(`
  def install
    bin.install "simdb"
    man1.install "man/simdb.1"
    bash_completion.install "completions/simdb.bash" => "simdb"
    zsh_completion.install "completions/_simdb"
    fish_completion.install "completions/simdb.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/simdb --version")
  end
end
`)
	return r.write("simdb.rb", []byte(b.String()))
}

// container writes a file for docker or podman, and the programs beside it:
//
//	docker build --platform linux/arm64 -t simdb dist/container
func (r *release) container(targets []target, programs map[target]string) error {
	for _, t := range targets {
		if t.os != "linux" {
			continue
		}
		data, err := os.ReadFile(programs[t])
		if err != nil {
			return err
		}
		name := "container/" + t.arch + "/simdb"
		if err := r.write(name, data); err != nil {
			return err
		}
		if err := os.Chmod(r.out+"/"+name, executable); err != nil {
			return err
		}
	}
	return r.write("container/Containerfile", []byte(`FROM scratch
ARG TARGETARCH
COPY --chmod=755 ${TARGETARCH}/simdb /simdb
WORKDIR /data
ENV TMPDIR=/data
ENTRYPOINT ["/simdb"]
`))
}
