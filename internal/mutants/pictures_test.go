package mutants

const pictures = "records/files"

// pictureMutants are mistakes in how pictures are read.
var pictureMutants = []mutant{
	{
		name: "pictures/all files of a folder", in: pictures, decl: "walker.member",
		edit:  never(`w.o.Images != nil && !imagehash.HasExtension(name)`),
		tests: pictures, run: "^TestPictures$",
	},
	{
		name: "pictures/no more memory than a share", in: pictures, decl: "pictures.decode",
		edit:  swap(`|| memory == s.memory`, `|| memory > 0`),
		tests: pictures, run: "^TestPictureMemory$",
	},
	{
		name: "pictures/positions of a list that is resumed", in: pictures, decl: "pictures.Records",
		edit:  drop(`s.opt.After +`),
		tests: pictures, run: "^TestPictures$",
	},
	{
		name: "pictures/decoded where only ids are wanted", in: pictures, decl: "pictures.hash",
		edit:  never(`s.opt.Need == records.NeedID`),
		tests: pictures, run: "^TestPictures$",
	},
	{
		name: "pictures/first hash alone", in: "dedup", decl: "Join.item",
		edit:  swap(`doc.ID, doc.Fields =`, `doc.ID, doc.Fingerprints =`),
		tests: "cmd/simdb", run: "^TestTurnedPictures$",
	},
	{
		name: "pictures/pairs as often as their hashes", in: "internal/selfjoin", decl: "Documents.Pairs",
		edit:  swap(`|| d.nearer(fps, a, b, i, j, distance)`, `|| d.nearer(fps, a, a, i, j, distance)`),
		tests: "dedup/internal/corpus", run: "^TestPrints$",
	},
	{
		name: "selfjoin/keepers cover no fingerprints of their own", in: "internal/selfjoin", decl: "clustering.uncovered",
		edit:  swap(`marked[i], covered[i], label[i] = true, true, 0`, `marked[i], label[i] = true, 0`),
		tests: "internal/selfjoin", run: "^TestStarsOfSeveral$",
	},
}
