"""Seconds of a processor that zarr-python takes to write and to read a chunk: codecs.py FOLDER NAME. The median of five calls."""
import json
import os
import shutil
import statistics
import sys
import time

import numcodecs
import numpy as np
import zarr

folder, name = sys.argv[1:3]
SIDE = 4096
TIMES = 5


def blosc(cname, shuffle):
    return {"compressor": numcodecs.Blosc(cname=cname, clevel=5, shuffle=shuffle)}


OPTIONS = {
    "none": {"compressor": None},
    "crc32 of zlib": {"compressor": numcodecs.CRC32()},
    "big-endian": {"compressor": None, "dtype": ">f4"},
    "transpose": {"compressor": None, "order": "F"},
    "gzip 1": {"compressor": numcodecs.GZip(1)},
    "gzip 5": {"compressor": numcodecs.GZip(5)},
    "zstd 1": {"compressor": numcodecs.Zstd(1)},
    "blosc lz4 shuffle": blosc("lz4", numcodecs.Blosc.SHUFFLE),
    "blosc lz4 bitshuffle": blosc("lz4", numcodecs.Blosc.BITSHUFFLE),
    "blosc zstd shuffle": blosc("zstd", numcodecs.Blosc.SHUFFLE),
}

chunk = np.fromfile(os.path.join(folder, "walk.bin"), "<f4").reshape(SIDE, SIDE)
place = os.path.join(folder, "theirs.zarr")
options = {"dtype": "<f4", "shape": (SIDE, SIDE), "chunks": (SIDE, SIDE), "overwrite": True, **OPTIONS[name]}
array = zarr.create(store=zarr.DirectoryStore(place), **options)


def timed(action):
    before = time.process_time()
    result = action()
    return time.process_time() - before, result


def write():
    array[:] = chunk


writes, reads = [], []
for _ in range(TIMES + 1):
    writes.append(timed(write)[0])
    seconds, read = timed(lambda: np.ascontiguousarray(array[:]))
    reads.append(seconds)
shutil.rmtree(place)
assert np.array_equal(read, chunk)
print(json.dumps({"write": statistics.median(writes[1:]), "read": statistics.median(reads[1:])}))
