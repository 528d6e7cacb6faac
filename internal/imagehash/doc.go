// Package imagehash computes perceptual hashes of pictures: fingerprints with a small Hamming
// distance for similar pictures. It reads JPEG, PNG, GIF, WebP, BMP, TIFF and ICO. Of
// animations it hashes the first frame, of files with several pages the first page, and of icons the
// largest one.
//
// # References
//
// [PDQ] follows Meta's description ("The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing
// Algorithm", hashing.pdf in github.com/facebook/ThreatExchange). It rounds like pdqhash 0.2.8 for
// Python, which runs Meta's C++ on the whole picture: for lossless formats, hash and quality are
// equal bit for bit, in all orientations. Meta's command pdq-photo-hasher first shrinks pictures
// with a side of more than 512 pixels, without a filter, so some bits of its hashes differ. The
// same is true of programs that make a thumbnail first.
//
// [DHash], [DHash256] and [PHash] follow dhash(), dhash(hash_size=16) and phash() of ImageHash
// 4.3.2 for Python with Pillow 13: its luminance in 8 bits, its Lanczos resampling in fixed point,
// and for PHash the DCT of type II. For lossless formats, hashes are equal bit for bit, except for
// PHash of symmetric drawings: if coefficients are zero, the reference compares its rounding
// errors. Earlier versions of Pillow shrink a tall picture in another order: in 116 scenes with a
// height of at least 1.2 times the width, a DHash differed in 0.3 bits on average and at most 4, a
// PHash in 0.1 and 2, and a DHash256 in 2.5 and 12.
//
// JPEG is decoded by a different program than in the references. Brightness differs by one level in
// 1.7 % of the pixels, and colours differ where libjpeg smooths them to enlarge them. For the 53
// pictures in the tests of ThreatExchange and pdqhash, mostly JPEG, 1.3 bits of PDQ differed on
// average, 0.2 of DHash, 0.1 of PHash and 1.4 of DHash256. PDQ differed in at most 2 bits for 50
// pictures, and in 8, 12 and 22 for three of sky and sea, where noise of one level changes up to 24
// bits.
//
// This package differs from the references in four points. Transparent parts are put on white
// first, as by Image.alpha_composite of Pillow; the references ignore alpha, and use stored colours
// that are invisible. The orientation that a camera has stored (Exif) is applied, as by
// ImageOps.exif_transpose. Grey of 16 bits is divided by 256; Pillow turns all values over 255 into
// white. A picture that is too small or uniform for a meaningful hash gets a hash of all its pixels
// instead (see [Flat] and [Sum]).
package imagehash
