package mutants

// backupMutants are mistakes in making backups.
var backupMutants = []mutant{
	{
		"backup/what is in memtables left out", "engine", "backup.memtables",
		always(`len(docs) == 0`),
		"engine", "^TestBackup$",
	},
	{
		"backup/tombstones of the earlier one", "engine", "backup.commit",
		never(`!equalDead(dead, b.have.Tombstones[t.Number])`),
		"engine", "^TestBackup$",
	},
	{
		"backup/allowed pairs stay", "engine", "backup.editAllowed",
		swap(`slices.Collect(maps.Keys(had))`, `slices.Collect(maps.Keys(had))[:0]`),
		"engine", "^TestBackup$",
	},
	{
		"backup/marks left out", "engine", "backup.commit",
		swap(`edit.SetMarks[name] = at`, `_ = at`),
		"engine", "^TestBackup$",
	},
	{
		"backup/names of copies not synced", "engine", "backup.run",
		skip("SyncDir"),
		"engine", "^TestBackupCrash$",
	},
	{
		"backup/copies not synced", "engine", "backup.copyTable",
		skip("Sync"),
		"engine", "^TestBackupCrash$",
	},
	{
		"backup/a copy of a killed run not synced", "engine", "backup.sync",
		skip("Sync"),
		"engine", "^TestBackupCrash$",
	},
	{
		"backup/copies not verified", "engine", "backup.verified",
		skip("VerifySums"),
		"engine", "^TestBackupDamage$",
	},
	{
		"backup/tables told by their numbers", "engine", "unnumbered",
		swap(`t.Number = 0`, `t = catalog.Table{Number: t.Number}`),
		"engine", "^TestBackupOfRestored$",
	},
	{
		"backup/the mark stays when it is written to", "engine", "Store.tidy",
		never(`slices.Contains(names, files.Backup)`),
		"engine", "^TestBackup$",
	},
	{
		"backup/other files taken for an empty folder", "engine", "backup.look",
		never(`name != files.Lock && name != files.Backup`),
		"engine", "^TestBackupRefuses$",
	},
	{
		"backup/what a failed run has copied stays", "engine", "backup.close",
		always(`err == nil`),
		"engine", "^TestBackupErrors$",
	},
	{
		"backup/tables that are not needed any more stay", "engine", "backup.run",
		skip("RemoveTable"),
		"engine", "^TestBackupCrash$",
	},
	{
		"rest/removed files kept", "engine", "Store.Rest",
		always(`len(parts) == len(have.Parts)`),
		"engine", "^TestRest$",
	},
	{
		"rest/an idle session keeps removed files", "repl", "turns.rest",
		always(`t.closed`),
		"cmd/simdb", "^TestIdleSession$",
	},
}
