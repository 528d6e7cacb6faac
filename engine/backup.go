package engine

import "github.com/simdb/simdb/engine/internal/backup"

// BackupOption is an option of DB.Backup.
type BackupOption func(*backupOptions)

type backupOptions struct {
	backup.Options
	report *BackupReport
}

// BackupReport says what a Backup has done.
type BackupReport struct {
	Tables         int   // in the backup
	Copied, Linked int   // of them, those that were not in the earlier backup
	Bytes          int64 // of all tables in the backup
	BytesWritten   int64 // of those that were written now
}

// BackupLinks has Backup give the files of tables, which never change, a second name in the backup,
// where that lies on the same file system, instead of copying them. That costs neither time nor
// space, but what damages such a file damages the database and the backup.
func BackupLinks() BackupOption { return func(o *backupOptions) { o.Link = true } }

// BackupProgress has Backup report, in bytes of tables, how far it is.
func BackupProgress(progress func(Progress)) BackupOption {
	return func(o *backupOptions) { o.Progress = progressTo(progress) }
}

// BackupReportTo has Backup set *r when it returns.
func BackupReportTo(r *BackupReport) BackupOption { return func(o *backupOptions) { o.report = r } }
