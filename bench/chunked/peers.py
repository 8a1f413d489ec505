"""Gathers rows with TensorStore, zarr-python or a memory map, and prints the least processor time in ms."""

import os
import resource
import sys

import numpy as np

name, rows, peer = sys.argv[1:]
ids = np.load(f"ids-{rows}.npy")[:, 0]


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def with_tensorstore():
    import tensorstore

    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": os.path.abspath(name)},
        "context": {"cache_pool": {"total_bytes_limit": 0}},
    }
    array = tensorstore.open(spec).result()
    return lambda: array[ids].read().result()


def with_zarr():
    import zarr

    array = zarr.open_array(name, mode="r")
    return lambda: array.get_orthogonal_selection((ids, slice(None)))


def with_memmap():
    order = np.argsort(ids, kind="stable")

    def gather():
        array = np.load(name, mmap_mode="r")
        taken = np.empty((len(ids), array.shape[1]), array.dtype)
        taken[order] = array[ids[order]]
        return taken

    return gather


gather = {"tensorstore": with_tensorstore, "zarr-python": with_zarr, "memmap": with_memmap}[peer]()
least = float("inf")
for _ in range(4):
    if os.path.exists(f"{peer}.npy"):
        os.remove(f"{peer}.npy")
    before = processor_time()
    np.save(f"{peer}.npy", gather())
    least = min(least, processor_time() - before)
print(1000 * least)
