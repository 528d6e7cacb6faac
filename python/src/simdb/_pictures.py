"""Hashes of pictures."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from typing import Any, Iterator, List, Tuple

from ._library import call
from ._sources import path_of
from ._table import Table

_ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".ico")


def picture_hashes(images: Any, kind: str = "pdq") -> Table:
    """Computes perceptual hashes, of which those of similar pictures differ in few bits.

    Args:
        images: the path of a picture or a folder, or a list or a generator of pictures: paths, bytes of files, images
            of PIL, or dictionaries with "path" or "bytes", as the package datasets has them.
        kind: "pdq" (256 bits), "dhash", "dhash256" or "phash".

    Returns:
        A Table with a row for each picture: id (its path, or its number from 0), fingerprint (hexadecimal digits),
        quality (0 to 100, only for PDQ; its authors advise against comparing those below 50), width, height,
        format, and error: why there is no fingerprint, or why the picture is too flat or small for one that is
        meaningful. ``simdb.dedup``, ``db.add`` (with ``simdb.open(path, bits=256)``) and ``db.near`` accept it, or
        its column. The attribute near is the distance up to which two pictures count as the same.
    """
    ids: List[str] = []
    paths: List[str] = []
    with tempfile.TemporaryDirectory(prefix="simdb-") as folder:
        for n, image in enumerate(_all(images)):
            id, path = _saved(image, n, folder)
            ids.append(id)
            paths.append(path)
        reply = call({"op": "pictures", "ids": ids, "paths": paths, "keywords": {"kind": kind}})
    table = Table(reply.table)
    table.near = int(reply.values["near"])
    return table


def _all(images: Any) -> Iterator[Any]:
    if isinstance(images, (str, os.PathLike)):
        path = path_of(images)
        if not os.path.isdir(path):
            yield path
        for at, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.join(at, name) for name in sorted(names) if name.lower().endswith(_ENDINGS))
        return
    one = isinstance(images, (bytes, bytearray)) or hasattr(images, "getexif")
    yield from [images] if one else images


def _saved(image: Any, n: int, folder: str) -> Tuple[str, str]:
    """Returns the id of a picture, and the path of its file."""
    if isinstance(image, dict):
        image = image.get("bytes") or image.get("path")
    if isinstance(image, (str, os.PathLike)):
        path = path_of(image)
        return path, path
    path = os.path.join(folder, str(n))
    if isinstance(image, (bytes, bytearray, memoryview)):
        with open(path, "wb") as f:
            f.write(image)
    elif hasattr(image, "getexif"):
        upright = import_module("PIL.ImageOps").exif_transpose(image)
        if upright.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
            upright = upright.convert("RGB")
        upright.save(path, "PNG", compress_level=1)
    else:
        raise TypeError(f"picture {n} is neither a path, bytes nor an image of PIL, but {type(image).__name__}")
    return str(n), path
