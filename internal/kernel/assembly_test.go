package kernel

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// instruction is a line of an assembly function: a label, or a mnemonic and its operands.
type instruction struct {
	label string
	op    string
	args  string
}

var (
	vectors = regexp.MustCompile(`\bX\d+\b`)
	wide    = regexp.MustCompile(`\b[YZ]\d+\b`)
)

func (i instruction) vex() bool    { return strings.HasPrefix(i.op, "V") }
func (i instruction) leaves() bool { return i.op == "RET" || i.op == "CALL" || i.tail() }

// tail reports whether an instruction is a jump to another function.
func (i instruction) tail() bool { return i.op == "JMP" && strings.HasSuffix(i.args, "(SB)") }

// functions returns the instructions of each function of an assembly file.
func functions(source string) map[string][]instruction {
	all := map[string][]instruction{}
	name := ""
	for _, line := range strings.Split(source, "\n") {
		line, _, _ = strings.Cut(line, "//")
		op, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch args = strings.TrimSpace(args); {
		case op == "TEXT":
			name, _, _ = strings.Cut(args, "(SB)")
			all[name] = nil
		case op == "" || op[0] == '#' || op == "DATA" || op == "GLOBL":
		case strings.HasSuffix(op, ":"):
			all[name] = append(all[name], instruction{label: strings.TrimSuffix(op, ":")})
		default:
			all[name] = append(all[name], instruction{op: op, args: args})
		}
	}
	return all
}

// mixedVectors returns the errors in the use of vector registers by a function. An SSE instruction
// without VEX waits for all earlier writes to its register, and preserves the upper half. Upper
// halves become dirty by an instruction of more than 128 bits, and stay dirty until VZEROUPPER:
// they must not be dirty at the end of the function, and VZEROUPPER is useless if they are clean.
func mixedVectors(code []instruction) (faults []string) {
	usesVEX := slices.ContainsFunc(code, instruction.vex)
	labels := map[string]int{}
	for i, c := range code {
		if c.label != "" {
			labels[c.label] = i
		}
		if usesVEX && c.op != "" && !c.vex() && vectors.MatchString(c.args) {
			faults = append(faults, "without VEX: "+c.op+" "+c.args)
		}
	}
	// Whether each instruction can be reached with clean and with dirty halves.
	var seen [2][]bool
	seen[0], seen[1] = make([]bool, len(code)+1), make([]bool, len(code)+1)
	var visit func(at, dirty int)
	visit = func(at, dirty int) {
		for at < len(code) && !seen[dirty][at] {
			seen[dirty][at] = true
			switch c := code[at]; {
			case c.op == "VZEROUPPER" || c.op == "VZEROALL":
				dirty = 0
			case wide.MatchString(c.args):
				dirty = 1
			case c.op == "RET" || c.tail():
				return
			case strings.HasPrefix(c.op, "J"):
				visit(labels[c.args], dirty)
				if c.op == "JMP" {
					return
				}
			}
			at++
		}
	}
	visit(0, 0)
	for i, c := range code {
		switch {
		case c.leaves() && seen[1][i]:
			faults = append(faults, fmt.Sprintf("dirty at instruction %d, %s %s", i, c.op, c.args))
		case c.op == "VZEROUPPER" && !seen[1][i]:
			faults = append(faults, fmt.Sprintf("useless at instruction %d, VZEROUPPER", i))
		}
	}
	return faults
}

// TestAssembly checks all assembly files of the module.
func TestAssembly(t *testing.T) {
	read := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".s" {
			return err
		}
		source, err := os.ReadFile(path)
		for name, code := range functions(string(source)) {
			read++
			for _, fault := range mixedVectors(code) {
				t.Errorf("%s: %s: %s", path, name, fault)
			}
		}
		return err
	})
	if err != nil || read < 30 {
		t.Fatalf("%d functions read: %v", read, err)
	}
}

func TestMixedVectors(t *testing.T) {
	const start, end = "TEXT ·f(SB), NOSPLIT, $0-8\n", "\nRET\n"
	for _, c := range []struct {
		code  string
		fault string
	}{
		{"MOVQ BX, X1", ""}, // no VEX anywhere
		{"VMOVQ BX, X1", ""},
		{"MOVQ BX, X1\nVPADDQ X1, X2, X3", "without VEX: MOVQ BX, X1"},
		{"VPADDQ Y1, Y2, Y3\nPXOR X0, X0\nVZEROUPPER", "without VEX: PXOR X0, X0"},
		{"VMOVDQU (AX), Y1\nVZEROUPPER", ""},
		{"VMOVDQU (AX), Y1", "dirty at instruction 1, RET "},
		{"VPOPCNTQ Z1, Z2", "dirty at instruction 1, RET "},
		{"VMOVDQU (AX), Y1\nCALL ·g(SB)\nVZEROUPPER", "dirty at instruction 1, CALL ·g(SB)"},
		{"VMOVDQU (AX), Y1\nJMP ·g(SB)", "dirty at instruction 1, JMP ·g(SB)"},
		{"VMOVDQU (AX), X1\nVZEROUPPER", "useless at instruction 1, VZEROUPPER"},
		{"VMOVDQU (AX), Y1\nVZEROUPPER\nVZEROUPPER", "useless at instruction 2, VZEROUPPER"},
		{"TESTQ AX, AX\nJZ done\nVMOVDQU (AX), Y1\nVZEROUPPER\ndone:", ""},
		{"TESTQ AX, AX\nJZ done\nVMOVDQU (AX), Y1\ndone:\nVZEROUPPER", ""},
		{"TESTQ AX, AX\nJZ done\nVMOVDQU (AX), Y1\nJC done\nVZEROUPPER\ndone:", "dirty at instruction 6, RET "},
		{"loop:\nDECQ CX\nJZ done\nVMOVDQU (AX), Y1\nJMP loop\ndone:", "dirty at instruction 6, RET "},
	} {
		faults := strings.Join(mixedVectors(functions(start + c.code + end)["·f"]), "; ")
		if faults != c.fault {
			t.Errorf("%q: %q, want %q", c.code, faults, c.fault)
		}
	}
}
