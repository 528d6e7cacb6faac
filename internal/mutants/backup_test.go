package mutants

// backupMutants are mistakes in making backups.
var backupMutants = []mutant{
	{
		name: "backup/what is in memtables left out", in: "engine", decl: "backup.memtables",
		edit:  always(`len(docs) == 0`),
		tests: "engine", run: "^TestBackup$",
	},
	{
		name: "backup/tombstones of the earlier one", in: "engine", decl: "backup.commit",
		edit:  never(`!equalDead(dead, b.have.Tombstones[t.Number])`),
		tests: "engine", run: "^TestBackup$",
	},
	{
		name: "backup/allowed pairs stay", in: "engine", decl: "backup.editAllowed",
		edit:  swap(`slices.Collect(maps.Keys(had))`, `slices.Collect(maps.Keys(had))[:0]`),
		tests: "engine", run: "^TestBackup$",
	},
	{
		name: "backup/marks left out", in: "engine", decl: "backup.commit",
		edit:  swap(`edit.SetMarks[name] = at`, `_ = at`),
		tests: "engine", run: "^TestBackup$",
	},
	{
		name: "backup/names of copies not synced", in: "engine", decl: "backup.run",
		edit:  skip("SyncDir"),
		tests: "engine", run: "^TestBackupCrash$",
	},
	{
		name: "backup/copies not synced", in: "engine", decl: "backup.copyTable",
		edit:  skip("Sync"),
		tests: "engine", run: "^TestBackupCrash$",
	},
	{
		name: "backup/a copy of a killed run not synced", in: "engine", decl: "backup.sync",
		edit:  skip("Sync"),
		tests: "engine", run: "^TestBackupCrash$",
	},
	{
		name: "backup/copies not verified", in: "engine", decl: "backup.verified",
		edit:  skip("VerifySums"),
		tests: "engine", run: "^TestBackupDamage$",
	},
	{
		name: "backup/tables told by their numbers", in: "engine", decl: "unnumbered",
		edit:  swap(`t.Number = 0`, `t = catalog.Table{Number: t.Number}`),
		tests: "engine", run: "^TestBackupOfRestored$",
	},
	{
		name: "backup/the mark stays when it is written to", in: "engine", decl: "Store.tidy",
		edit:  never(`slices.Contains(names, files.Backup)`),
		tests: "engine", run: "^TestBackup$",
	},
	{
		name: "backup/other files taken for an empty folder", in: "engine", decl: "backup.look",
		edit:  never(`what == files.Other`),
		tests: "engine", run: "^TestBackupRefuses$",
	},
	{
		name: "backup/what a failed run has copied stays", in: "engine", decl: "backup.close",
		edit:  always(`err == nil`),
		tests: "engine", run: "^TestBackupErrors$",
	},
	{
		name: "backup/tables that are not needed any more stay", in: "engine", decl: "backup.run",
		edit:  skip("RemoveTable"),
		tests: "engine", run: "^TestBackupCrash$",
	},
	{
		name: "rest/removed files kept", in: "engine", decl: "Store.ReleaseDeleted",
		edit:  always(`len(parts) == len(have.Parts)`),
		tests: "engine", run: "^TestRest$",
	},
	{
		name: "rest/an idle session keeps removed files", in: "repl", decl: "turns.rest",
		edit:  always(`t.closed`),
		tests: "cmd/simdb", run: "^TestIdleSession$",
	},
}
