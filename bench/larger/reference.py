"""
SHA-256 of elements. reference.py FOLDER prints what each work must give, computed chunk by chunk from the files as bytes;
reference.py FOLDER RESULT prints that of a result: an NPY file, or the chunks of a Zarr array of whole rows, in order.
"""

import hashlib
import json
import os
import struct
import sys

import numpy as np

folder = sys.argv[1]
STEP = 2**21
COLUMNS = 16


def payload(file):
    """The elements of an NPY file, as a map of bytes: the header is found by its length, and not read."""
    with open(file, "rb") as opened:
        start = 10 + struct.unpack("<H", opened.read(10)[8:])[0]
    return np.memmap(file, np.uint8, "r", start)


def hash_of(parts):
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def pieces(data):
    for at in range(0, len(data), 2**26):
        yield np.asarray(data[at:at + 2**26]).tobytes()


def scattered():
    """One row after the other, in the order of the indices, rounded to float32 after each step."""
    table = payload(os.path.join(folder, "table.npy"))
    ids = payload(os.path.join(folder, "ids.npy")).view("<i8")
    rows = payload(os.path.join(folder, "rows.npy")).view("<f4").reshape(-1, COLUMNS)
    order = np.argsort(ids, kind="stable")
    sorted_ids = ids[order]
    for start in range(0, len(table) // (4 * COLUMNS), STEP):
        chunk = np.array(table[start * 4 * COLUMNS:(start + STEP) * 4 * COLUMNS]).view("<f4").reshape(-1, COLUMNS)
        first, last = np.searchsorted(sorted_ids, [start, start + len(chunk)])
        own, where = order[first:last], sorted_ids[first:last] - start
        # The n-th update of each row, for n = 0, 1, ...: none of a round has the row of another.
        begin = np.r_[True, where[1:] != where[:-1]]
        position = np.arange(len(where))
        nth = position - np.maximum.accumulate(np.where(begin, position, 0))
        for n in range(nth.max() + 1 if len(nth) else 0):
            turn = nth == n
            chunk[where[turn]] = chunk[where[turn]] + rows[own[turn]]
        yield chunk.tobytes()


def gathered():
    table = payload(os.path.join(folder, "table.npy")).view("<f4").reshape(-1, COLUMNS)
    ids = payload(os.path.join(folder, "ids.npy")).view("<i8")
    for start in range(0, len(ids), STEP):
        yield np.ascontiguousarray(table[ids[start:start + STEP]]).tobytes()


def result_parts(file):
    if os.path.isfile(file):
        yield from pieces(payload(file))
        return
    inside = os.path.join(file, "c")
    is_new = os.path.isdir(inside)
    count = len(os.listdir(inside)) if is_new else len([one for one in os.listdir(file) if not one.startswith(".")])
    rows = (os.path.getsize(os.path.join(folder, "table.npy")) - 128) // 64
    for number in range(count):
        name = os.path.join(inside, str(number), "0") if is_new else os.path.join(file, f"{number}.0")
        chunk = np.memmap(name, np.uint8, "r")
        # The last chunk is padded.
        yield from pieces(chunk[:64 * min(STEP, rows - number * STEP)])


if len(sys.argv) == 2:
    print(json.dumps({"scatter": hash_of(scattered()), "gather": hash_of(gathered())}))
else:
    print(hash_of(result_parts(os.path.join(folder, sys.argv[2]))))
