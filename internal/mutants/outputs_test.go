package mutants

const hurts = "^Test(OutputsHurtNothing|OutputsWork)$"

// outputMutants are mistakes in what keeps outputs from the user's files, and in what is left behind.
var outputMutants = []mutant{
	{
		"output/inputs not compared", "internal/outfile/guard.go",
		"if u.info != nil && os.SameFile(u.info, info) {\n\t\t\treturn fmt.Errorf(\"%s would", "if u.info == nil && os.SameFile(u.info, info) {\n\t\t\treturn fmt.Errorf(\"%s would",
		"cmd/simdb", hurts,
	},
	{
		"output/written through a link", "internal/outfile/guard.go",
		"link.Mode()&fs.ModeSymlink != 0", "link.Mode()&fs.ModeSocket != 0",
		"cmd/simdb", hurts,
	},
	{
		"output/content not looked at", "internal/outfile/guard.go",
		"if what != \"\" {\n\t\treturn nil, false", "if what == \"-\" {\n\t\treturn nil, false",
		"cmd/simdb", hurts,
	},
	{
		"output/new files in databases", "internal/outfile/guard.go",
		"if what != \"\" {\n\t\treturn fmt.Errorf(\"%s would be", "if what == \"-\" {\n\t\treturn fmt.Errorf(\"%s would be",
		"cmd/simdb", hurts,
	},
	{
		"output/a database without catalog not known", "engine/identify.go",
		"if err != nil || what == damaged {", "if err != nil {",
		"engine", "^TestIdentify$",
	},
	{
		"output/not looked at again before it is renamed", "internal/outfile/outfile.go",
		"_, _, err = w.guard.look(w.flag, w.path)", "err = nil",
		"internal/outfile", "^TestCommitLooksAgain$",
	},
	{
		"output/published one by one", "internal/outfile/outfile.go",
		"err = w.finish()\n", "if err = w.finish(); err == nil {\n\t\t\t\terr = w.publish()\n\t\t\t}\n",
		"internal/outfile", "^TestCommitAllOrNone$",
	},
	{
		"output/not declared before the command begins", "cmd/simdb/main.go",
		"if err := a.Declare(ctx); err != nil {", "if err := a.Declare(ctx); err != nil && a == nil {",
		"cmd/simdb", "^Test(Wrong|OutputsHurtNothing)$",
	},
	{
		"output/endings not checked", "internal/outfile/guard.go",
		"if !direct {\n\t\tif err := kind", "if direct {\n\t\tif err := kind",
		"internal/outfile", "^TestClaim$",
	},
	{
		"dedup/damaged input published as if whole", "cmd/simdb/internal/dedup/run.go",
		"if len(d.failed) == 0 {", "if len(d.failed) >= 0 {",
		"cmd/simdb", "^TestWrong$",
	},
	{
		"dedup/formats mixed", "cmd/simdb/internal/dedup/files.go",
		"case info.Format != first.Format || info.Shape != first.Shape:", "case info.Format == \"\" || info.Shape == \"\":",
		"cmd/simdb", "^TestWrong$",
	},
	{
		"dedup/dates compared as numbers", "cmd/simdb/internal/dedup/keep.go",
		"v.kind == text && !numeral.MatchString(v.text)", "v.kind == absent",
		"cmd/simdb/internal/dedup", "^TestKeepOrder$",
	},
	{
		"dedup/documents without the field first", "cmd/simdb/internal/dedup/keep.go",
		"return y.kind == absent\n", "return x.kind == absent\n",
		"cmd/simdb/internal/dedup", "^TestKeepOrder$",
	},
	{
		"dedup/a field that nobody has taken for the order", "cmd/simdb/internal/dedup/keep.go",
		"r.missing == int64(len(r.values))", "r.missing > int64(len(r.values))",
		"cmd/simdb", "^TestWrong$",
	},
	{
		"load/empty database left by a failure", "cmd/simdb/internal/app/database.go",
		"st.Documents == 0 {", "st.Documents < 0 {",
		"cmd/simdb", "^TestWrong$",
	},
	{
		"exit/0 after Ctrl-C", "cmd/simdb/internal/app/report.go",
		"return ExitInterrupt\n", "return ExitOK\n",
		"cmd/simdb", "^TestInterruptedLoadAtItsEnd$",
	},
	{
		"signals/hangup leaves temporary files", "cmd/simdb/internal/app/app.go",
		", syscall.SIGHUP}", "}",
		"cmd/simdb", "^TestInterruptedDedup$",
	},
	{
		"terminal/control characters of ids in TSV", "repl/output/lines.go",
		"if f.terminal {\n\t\tf.buf", "if !f.terminal {\n\t\tf.buf",
		"repl/output", "Terminal",
	},
}
