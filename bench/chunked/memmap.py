"""
Gathers rows by numpy's memory map: memmap.py FOLDER plain|random|sorted. "random" tells the system not to read ahead;
"sorted" also takes the rows of each block in the order of the file.
"""

import mmap
import os
import sys

import numpy as np

folder, how = sys.argv[1:3]
BLOCK_BYTES = 2**26

ids = np.load(os.path.join(folder, "ids.npy"))[:, 0]
table = np.load(os.path.join(folder, "table.npy"), mmap_mode="r")
if how != "plain":
    table._mmap.madvise(mmap.MADV_RANDOM)
shape = (len(ids), table.shape[1])
result = np.lib.format.open_memmap(os.path.join(folder, "memmap.npy"), mode="w+", dtype="<f4", shape=shape)
step = max(1, BLOCK_BYTES // (4 * shape[1]))
for start in range(0, len(ids), step):
    own = ids[start:start + step]
    if how == "sorted":
        order = np.argsort(own, kind="stable")
        rows = np.empty((len(own), shape[1]), "<f4")
        rows[order] = table[own[order]]
        result[start:start + step] = rows
    else:
        result[start:start + step] = table[own]
result.flush()
