"""What people use for arrays larger than memory today: peers.py FOLDER WORK NAME. Results have the name WORK-NAME."""

import os
import resource
import shutil
import sys

import numpy as np

folder, work, name = sys.argv[1:4]
out = os.path.join(folder, f"{work}-{name}")
BLOCK = 2**20


def path(file):
    return os.path.join(folder, file)


ids = np.load(path("ids.npy"), mmap_mode="r")
rows = np.load(path("rows.npy"), mmap_mode="r")


def blocks():
    for start in range(0, len(ids), BLOCK):
        yield slice(start, min(start + BLOCK, len(ids)))


def scatter_memmap():
    """A copy of the file, mapped, to which the rows are added block by block."""
    shutil.copyfile(path("table.npy"), out)
    table = np.load(out, mmap_mode="r+")
    for block in blocks():
        np.add.at(table, ids[block, 0], rows[block])
    table.flush()


def new_zarr(shape, chunks):
    import zarr

    store = zarr.DirectoryStore(out)
    return zarr.create(shape=shape, chunks=chunks, dtype="<f4", compressor=None, store=store, overwrite=True)


def zarr_table():
    """zarr-python 2 reads no v3, so the chunks of the table get the metadata of v2, and lie where they lie."""
    import json

    import zarr

    link = path("table-v2.zarr")
    with open(os.path.join(path("table.zarr"), "zarr.json")) as file:
        meta = json.load(file)
    shape = meta["shape"]
    chunks = meta["chunk_grid"]["configuration"]["chunk_shape"]
    os.makedirs(link, exist_ok=True)
    with open(os.path.join(link, ".zarray"), "w") as file:
        json.dump({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<f4", "compressor": None,
                   "fill_value": 0.0, "order": "C", "filters": None}, file)
    for number in range(-(-shape[0] // chunks[0])):
        target = os.path.join(link, f"{number}.0")
        if not os.path.exists(target):
            os.link(os.path.join(path("table.zarr"), "c", str(number), "0"), target)
    return zarr.open(link, mode="r")


def scatter_zarr_chunks():
    """Chunk by chunk, each with those of all indices that fall into it: what a careful user writes."""
    table = zarr_table()
    result = new_zarr(table.shape, table.chunks)
    step = table.chunks[0]
    own = np.array(ids[:, 0])
    for start in range(0, table.shape[0], step):
        chunk = table[start:start + step]
        hit = np.flatnonzero((own >= start) & (own < start + step))
        np.add.at(chunk, own[hit] - start, rows[hit])
        result[start:start + step] = chunk


def scatter_zarr_blocks():
    """Block by block of the indices, by zarr's own indexing; repeated rows of a block are added up first."""
    table = zarr_table()
    shutil.copytree(path("table-v2.zarr"), out, dirs_exist_ok=True)
    import zarr

    result = zarr.open(out, mode="r+")
    for block in blocks():
        unique, inverse = np.unique(ids[block, 0], return_inverse=True)
        values = result.oindex[unique]
        np.add.at(values, inverse, rows[block])
        result.oindex[unique] = values


def new_rows():
    return np.lib.format.open_memmap(out, mode="w+", dtype="<f4", shape=(len(ids), 16))


def gather_memmap():
    table = np.load(path("table.npy"), mmap_mode="r")
    result = new_rows()
    for block in blocks():
        result[block] = table[ids[block, 0]]
    result.flush()


def gather_oindex():
    table = zarr_table()
    result = new_rows()
    for block in blocks():
        unique, inverse = np.unique(ids[block, 0], return_inverse=True)
        result[block] = table.oindex[unique][inverse]
    result.flush()


def gather_dask():
    import dask.array as da

    table = da.from_array(zarr_table())
    result = new_rows()
    da.store(table[np.array(ids[:, 0])], result)
    result.flush()


{
    ("scatter", "numpy-memmap"): scatter_memmap,
    ("scatter", "zarr-chunks"): scatter_zarr_chunks,
    ("scatter", "zarr-blocks"): scatter_zarr_blocks,
    ("gather", "numpy-memmap"): gather_memmap,
    ("gather", "zarr-oindex"): gather_oindex,
    ("gather", "dask"): gather_dask,
}[work, name]()
print("RSS", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
