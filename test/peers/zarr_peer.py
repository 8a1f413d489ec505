"""zarr-python, alone, with the codecs of zarrs, or through dask (via): requests {do, via, format, path, …}."""

import importlib
import json
from importlib.metadata import version

import numcodecs
import numpy as np
import zarr
from peer import serve, to_array, to_tensor
from zarr.core.array import AsyncArray
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.core.sync import sync
from zarr.storage._common import make_store_path

PIPELINES = {True: "zarrs.ZarrsCodecPipeline", False: "zarr.core.codec_pipeline.BatchedCodecPipeline"}


def read(request):
    array = zarr.open_array(request["path"], mode="r")
    if request["via"] == "dask":
        import dask.array as da

        array = da.from_zarr(array).compute(scheduler="sync")
    values = np.asarray(array[...])
    return to_tensor(values.astype(values.dtype.newbyteorder("<")))


def create(request):
    """Writes metadata as zarr-python formats it, and boxes of the values."""
    kind = ArrayV3Metadata if request["format"] == 3 else ArrayV2Metadata
    store = sync(make_store_path(request["path"], mode="w"))
    made = AsyncArray(metadata=kind.from_dict(json.loads(request["metadata"])), store_path=store)
    sync(made._save_metadata(made.metadata, ensure_parents=True))
    array = zarr.open_array(request["path"], mode="r+", config={"write_empty_chunks": request["empty"]})
    values = to_array({"dtype": "uint8", "shape": [-1], "data": request["data"]})
    values = values.view(array.dtype.newbyteorder("<")).reshape(array.shape)
    for start, shape in request["boxes"]:
        box = tuple(slice(at, at + length) for at, length in zip(start, shape))
        if request["via"] == "dask":
            store_by_dask(array, values, box)
        else:
            array[box] = values[box]
    return read(request)


def store_by_dask(array, values, box):
    import dask.array as da

    # Tasks that share a chunk would race, so a box is one task, and a whole array has the chunks of its files.
    is_whole = values[box].shape == values.shape and values.size > 0 and values.ndim > 0
    if is_whole:
        da.to_zarr(da.from_array(values, chunks=array.shards or array.chunks), array)
    else:
        da.store(da.from_array(values[box], chunks=-1), array, regions=box, scheduler="sync")


def members(request):
    """Creates a group with the named arrays, and lists it from its consolidated metadata."""
    place = request["path"]
    attributes = json.loads(request["attributes"])
    root = zarr.create_group(place, zarr_format=request["format"], attributes=attributes)
    for name in request["arrays"]:
        root.create_array(name, shape=(4,), chunks=(3,), dtype="i4", attributes=attributes)[...] = np.arange(4)
    zarr.consolidate_metadata(place)
    root = zarr.open_consolidated(place)
    arrays = {name: [one.shape, dict(one.attrs)] for name, one in root.members(None) if isinstance(one, zarr.Array)}
    return {"listing": json.dumps({"attributes": dict(root.attrs), "arrays": arrays}, ensure_ascii=False)}


def other(request):
    """Creates an array with a data type or a codec that the package does not support."""
    dtype = request.get("dtype", "<i4")
    more = {name: request[name] for name in {"filters", "compressors"} & set(request)}
    if request["format"] == 2:
        more = {name: numcodecs.get_codec(codec) for name, codec in more.items()}
    dtype = [tuple(field) for field in dtype] if isinstance(dtype, list) else dtype
    zarr.create_array(request["path"], shape=4, chunks=2, dtype=dtype, zarr_format=request["format"], **more)
    return {}


def answer(request):
    pipeline = PIPELINES[request["via"] == "zarrs"]
    if request["via"] != "zarr":
        importlib.import_module(request["via"])
    with zarr.config.set({"codec_pipeline.strict": True, "codec_pipeline.path": pipeline}):
        return {"create": create, "read": read, "members": members, "other": other}[request["do"]](request)


if __name__ == "__main__":
    serve({name: version(name) for name in ("zarr", "numcodecs")}, answer)
