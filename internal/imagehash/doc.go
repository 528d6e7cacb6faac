// Package imagehash computes perceptual hashes of pictures: fingerprints of which similar pictures
// have a small Hamming distance. It reads JPEG, PNG, GIF, WebP, BMP and TIFF, of animations the
// first frame and of several pages the first one.
//
// # What equals which reference
//
// [PDQ] follows Meta's description ("The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing
// Algorithm", hashing.pdf in github.com/facebook/ThreatExchange) and rounds as pdqhash 0.2.8 for
// Python, which runs Meta's C++ on the whole picture: of lossless formats hash and quality are the
// same bit for bit, in all orientations. Meta's command pdq-photo-hasher first shrinks a picture of
// more than 512 pixels a side, without a filter, so that some bits of its hashes differ; so do
// those of programs that make a thumbnail first.
//
// [DHash], [DHash256] and [PHash] follow dhash(), dhash(hash_size=16) and phash() of ImageHash
// 4.3.2 for Python with Pillow 13: its luminance in 8 bits, its Lanczos resampling in fixed point,
// and for PHash the DCT of type II. Of lossless formats hashes are the same bit for bit, except for
// PHash of symmetric drawings: where coefficients are zero the reference compares its rounding
// errors. Pillow before 13 shrinks a tall picture in another order: in 116 scenes that were 1.2
// times as tall as wide or more, 0.3 bits of a DHash differed on average and at most 4, of PHash
// 0.1 and 2, and of DHash256 2.5 and 12.
//
// JPEG and lossy WebP are decoded by other programs than those of the references: brightness
// differs by one level in 1.7 % of the pixels, and colours where libjpeg smooths them to enlarge
// them. In the 53 pictures of the tests of ThreatExchange and pdqhash, most of them JPEG, 1.3 bits
// of PDQ differed on average, of DHash 0.2, of PHash 0.1 and of DHash256 1.4. That were at most 2
// bits of PDQ in 50 pictures, and 8, 12 and 22 in three of sky and sea, of which
// noise of one level changes up to 24 bits.
//
// This package differs from the references in four points. What is transparent is put on white
// first, as by Image.alpha_composite of Pillow; the references ignore alpha, and see the colour that
// is stored for a pixel and that nobody sees. The orientation that a camera has stored (Exif) is
// applied, as by ImageOps.exif_transpose. Grey of 16 bits is divided by 256, where Pillow makes all
// that is more than 255 white. And a picture of which the hash would say nothing has one that is
// made of all its pixels instead (see [Flat] and [Sum]).
package imagehash
