"""
Writes arrays as zarr-python 3.1.6 (numcodecs 0.16.6), TensorStore 0.1.86 and NumPy 2.4.6 write them, one a line: the
files, and the elements and the fill value as these programs read them. Metadata are text without blanks; other files,
elements and fill values are in base64.

python write.py zarr-python > zarr-python.jsonl
python write.py tensorstore > tensorstore.jsonl
python write.py numpy > numpy.jsonl

The arrays in zarr-python-2.jsonl were written by zarr-python 2.13 with numcodecs 0.11, in the same form.
"""

import base64
import io
import json
import os
import sys
import tempfile
import warnings

import numcodecs
import numpy as np
import tensorstore as ts
import zarr
import zarr.codecs.numcodecs as three

warnings.simplefilter("ignore")

SHAPE, CHUNKS = (5, 3), (2, 3)


def base(content):
    return base64.b64encode(content).decode()


def files(folder):
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            key = os.path.relpath(path, folder).replace(os.sep, "/")
            content = open(path, "rb").read()
            is_text = name.startswith(".z") or name == "zarr.json"
            found[key] = json.dumps(json.loads(content), separators=(",", ":")) if is_text else base(content)
    return dict(sorted(found.items()))


def little(values):
    values = np.ascontiguousarray(values)
    return (values.astype(values.dtype.newbyteorder("<")) if values.dtype.kind in "iufc" else values).tobytes()


def case(found, dtype, values, fill):
    one = {"files": found, "dtype": dtype, "shape": list(values.shape), "bytes": base(little(values))}
    return one if fill is None else {**one, "fill": base(little(fill))}


def values_of(dtype):
    count = np.arange(15)
    if dtype == "?":
        return (count % 3 == 0).reshape(SHAPE)
    scale = {"f": 0.375, "i": -7, "u": 11}[np.dtype(dtype).kind]
    return (count * count * scale + 1000 * (np.dtype(dtype).itemsize > 1)).astype(dtype).reshape(SHAPE)


def written(name, version, dtype, filters=None, compressors=None, order="C", fill=0, values=None):
    values = values_of(dtype) if values is None else values
    with tempfile.TemporaryDirectory() as folder:
        more = {} if version == 3 else {"order": order}
        array = zarr.create_array(
            folder, shape=SHAPE, chunks=CHUNKS, dtype=dtype, zarr_format=version, filters=filters,
            compressors=compressors, fill_value=fill, overwrite=True, **more,
        )
        try:
            array[:] = values
            read = zarr.open_array(folder, mode="r")
            read, fill = read[...], np.array(read.metadata.fill_value, dtype=read.dtype)
        except (ValueError, NotImplementedError, OverflowError) as error:
            # zarr-python has bugs with a few filters.
            return print(f"not written: {name}: {error}", file=sys.stderr)
        yield name, case(files(folder), read.dtype.name, read, fill)


def new(name, dtype="int16", shape=SHAPE, chunks=CHUNKS, fill=0, **options):
    """An array of v3 with codecs of v3."""
    count = np.arange(int(np.prod(shape))).reshape(shape)
    values = (count * count - 5).astype(dtype) if dtype != "bool" else count % 3 == 0
    with tempfile.TemporaryDirectory() as folder:
        array = zarr.create_array(
            folder, shape=shape, chunks=chunks, dtype=dtype, fill_value=fill, overwrite=True, **options
        )
        array[...] = values
        yield name, case(files(folder), dtype, values, np.array(fill, dtype=dtype))


def new_arrays():
    codecs = zarr.codecs
    yield from new("v3 default")
    for dtype, fill in [("bool", True), ("uint8", 7), ("int64", -(2**63)), ("uint64", 2**64 - 1), ("float16", np.inf),
                        ("float32", np.nan), ("float64", -0.0), ("complex64", 1 - 2j), ("complex128", np.nan)]:
        yield from new(f"v3 {dtype}", dtype, fill=fill, compressors=None)
    yield from new("v3 scalar", "float64", (), (), fill=2)
    yield from new("v3 names", attributes={"unit": "m", "odd": [1.5, None]}, dimension_names=["y", None])
    yield from new("v3 keys", chunk_key_encoding={"name": "v2", "configuration": {"separator": "."}})
    yield from new("v3 big", "int32", serializer=codecs.BytesCodec(endian="big"), compressors=None)
    turn = codecs.TransposeCodec(order=(1, 0))
    yield from new("v3 transpose", filters=[turn], compressors=[codecs.GzipCodec(level=5), codecs.Crc32cCodec()])
    yield from new("v3 zstd checksum", compressors=[codecs.ZstdCodec(level=3, checksum=True)])
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]:
        if cname == "snappy" and "snappy" not in numcodecs.blosc.list_compressors():
            continue
        shuffle = "bitshuffle" if cname in ("lz4", "zlib") else "shuffle"
        blosc = codecs.BloscCodec(cname=cname, clevel=5, shuffle=shuffle, typesize=4)
        yield from new(f"v3 blosc {cname}", "int32", (20, 8), (20, 4), compressors=[blosc])
    yield from new("v3 shards", shape=(5, 7), chunks=(2, 3), shards=(4, 6), fill=-5)
    yield from new("v3 shards first", shape=(5, 7), chunks=(1, 3), fill=-5, compressors=None,
                   serializer=codecs.BytesCodec(endian="big"),
                   shards=zarr.core.array.ShardsConfigParam(shape=(2, 6), index_location="start"))


def zarr_python():
    n = numcodecs
    yield from new_arrays()
    bytes_codecs = {
        "zlib": (n.Zlib(level=6), three.Zlib(level=6)),
        "gzip": (n.GZip(level=1), three.GZip(level=1)),
        "zstd": (n.Zstd(level=3), three.Zstd(level=3)),
        "blosc": (n.Blosc(), three.Blosc(cname="lz4", clevel=5, shuffle=1, blocksize=0)),
        "lz4": (n.LZ4(), three.LZ4(acceleration=1)),
        "crc32c": (n.CRC32C(), three.CRC32C()),
        "crc32": (n.CRC32(), three.CRC32()),
    }
    for id, (two, other) in bytes_codecs.items():
        yield from written(f"v2 {id}", 2, "<i4", compressors=two)
        yield from written(f"v3 {id}", 3, "<i4", compressors=[other])
    yield from written("v2 crc32c first", 2, "<i4", filters=[n.CRC32C(location="start")], compressors=n.Zlib())
    yield from written("v3 crc32c first", 3, "<i4", compressors=[three.CRC32C(location="start")])
    yield from written("v3 crc32 last", 3, "<i4", compressors=[three.CRC32(location="end")])
    yield from written("v2 shuffle", 2, ">i8", filters=[n.Shuffle(8)], compressors=n.Zlib())
    yield from written("v3 shuffle", 3, "<i8", compressors=[three.Shuffle(elementsize=8), three.Zlib(level=1)])
    yield from written("v3 shuffle of 1", 3, "<u1", compressors=[three.Shuffle(elementsize=1)])
    for dtype in ["<i4", "<u2", "<i8", "<u8", "|u1", "<f4", "<f8"]:
        yield from written(f"v2 delta {dtype}", 2, dtype, filters=[n.Delta(dtype)], compressors=n.LZ4())
        yield from written(f"v3 delta {dtype}", 3, dtype, filters=[three.Delta(dtype=dtype)], compressors=[three.LZ4()])
    yield from written("v2 delta F", 2, "<i4", filters=[n.Delta("<i4")], compressors=None, order="F")
    yield from written("v2 delta big", 2, ">i4", filters=[n.Delta(">i4", astype=">i2")], compressors=None)
    yield from written("v2 delta big to little", 2, ">i4", filters=[n.Delta(">i4", astype="<i2")], compressors=None)
    for dtype, astype in [("<i8", "<i4"), ("<u4", "<i8"), ("<f4", "<i2"), ("<f8", "<f4"), ("<f4", "<f8")]:
        yield from written(f"v2 delta {dtype} as {astype}", 2, dtype, filters=[n.Delta(dtype, astype=astype)])
    roots = (1000 * np.sqrt(np.arange(15))).astype("<f4").reshape(SHAPE)
    yield from written("v2 delta roots", 2, "<f4", filters=[n.Delta("<f4")], values=roots)
    yield from written("v2 delta roots as <f8", 2, "<f4", filters=[n.Delta("<f4", astype="<f8")], values=roots)
    yield from written("v3 delta as", 3, "<i8", filters=[three.Delta(dtype="int64", astype="int16")])
    for dtype, astype, scale, offset in [
        ("<f8", "<i2", 10, 1000), ("<f4", "<u2", 7.3, 0.1), ("<f8", "<f4", 0.3, 1000.7), ("<f4", "<f4", 0.3, 1000.7),
        ("<i4", "<i2", 1, 1000), ("<f8", "<i8", 3, -5), ("<f4", "<i4", 0.1, 17),
    ]:
        settings = {"scale": scale, "offset": offset, "dtype": dtype, "astype": astype}
        yield from written(f"v2 fixed {dtype} {astype}", 2, dtype, filters=[n.FixedScaleOffset(**settings)], compressors=n.Zlib())
        yield from written(f"v3 fixed {dtype} {astype}", 3, dtype, filters=[three.FixedScaleOffset(**settings)])
    yield from written("v2 quantize", 2, "<f8", filters=[n.Quantize(2, "<f8", "<f4")], compressors=n.Zstd())
    yield from written("v3 quantize", 3, "<f4", filters=[three.Quantize(digits=1, dtype="<f4")])
    yield from written("v2 quantize half", 2, "<f8", filters=[n.Quantize(1, "<f8", "<f2")])
    for dtype in ["<f2", "<f4", "<f8"]:
        yield from written(f"v2 bitround {dtype}", 2, dtype, filters=[n.BitRound(5)], compressors=n.Zlib())
    yield from written("v3 bitround", 3, "<f4", filters=[three.BitRound(keepbits=5)])
    for decoded, encoded in [("<i8", "<i2"), ("<f8", "<f4"), ("<f4", "<i8"), ("<i2", "<f4"), ("<f8", "<f2"), ("|u1", "<i4")]:
        cast = {"encode_dtype": encoded, "decode_dtype": decoded}
        yield from written(f"v2 astype {decoded} {encoded}", 2, decoded, filters=[n.AsType(**cast)])
        yield from written(f"v3 astype {decoded} {encoded}", 3, decoded, filters=[three.AsType(**cast)])
    big = np.array([2**62 + 2**38 + 1, 2**62 + 2**38, -(2**62) - 2**38 - 1, 2**53 + 1, 3] * 3).reshape(SHAPE)
    yield from written("v2 astype wide", 2, "<f4", filters=[n.AsType(encode_dtype="<i8", decode_dtype="<f4")], values=big)
    yield from written("v2 packbits", 2, "?", filters=[n.PackBits()], compressors=n.Zlib(), fill=False)
    yield from written("v3 packbits", 3, "?", filters=[three.PackBits()], compressors=[three.Zlib(level=1)], fill=False)
    yield from written("v2 filters", 2, "<f8", filters=[
        n.FixedScaleOffset(scale=2, offset=1000, dtype="<f8", astype="<i4"), n.Delta("<i4"), n.Shuffle(4),
    ], compressors=n.Zstd())


NARROW = ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
          "float4_e2m1fn", "int4", "int2"]


def stored(name, driver, dtype, metadata, values, fill=None):
    kind = getattr(ts, dtype)
    values = np.array(values).astype(kind.numpy_dtype)
    with tempfile.TemporaryDirectory() as folder:
        spec = {"driver": driver, "kvstore": {"driver": "file", "path": folder}, "metadata": metadata}
        given = {} if fill is None else {"fill_value": values.dtype.type(fill)}
        array = ts.open(spec, create=True, dtype=kind, shape=values.shape, **given).result()
        array[0].write(values[0]).result()
        read = array.read().result()
        fill = array.fill_value
        # ml_dtypes keep only the low bits of small integers.
        if dtype in ("int4", "int2"):
            read, fill = read.astype(np.int8), np.array(fill).astype(np.int8)
        yield name, case(files(folder), dtype, read, None if fill is None else np.array(fill))


def tensorstore():
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    for dtype in NARROW:
        values = [[1, -2, 3], [0, 1, 1.5]] if "int" not in dtype else [[1, -2, -1], [0, 1, 1]]
        values = [[1, 2, 4], [0.5, 1, 8]] if dtype == "float8_e8m0fnu" else values
        fill = None if dtype == "float8_e8m0fnu" else values[0][1]
        yield from stored(f"v2 {dtype}", "zarr", dtype, {"chunks": [1, 3], "compressor": None}, values, fill)
        grid = {"name": "regular", "configuration": {"chunk_shape": [1, 3]}}
        if dtype in ("bfloat16", "float8_e4m3fn", "int4"):
            yield from stored(f"v3 {dtype}", "zarr3", dtype, {"chunk_grid": grid}, values, fill)
    counts = np.arange(12 * 8).reshape(12, 8) % 7
    grid = {"name": "regular", "configuration": {"chunk_shape": [12, 8]}}

    def shards(chunk_shape, index, codecs=(little,), **more):
        configuration = {"chunk_shape": chunk_shape, "codecs": list(codecs), "index_codecs": index, **more}
        return {"chunk_grid": grid, "codecs": [{"name": "sharding_indexed", "configuration": configuration}]}

    turn = {"name": "transpose", "configuration": {"order": [2, 0, 1]}}
    yield from stored("v3 index first", "zarr3", "int16", shards([4, 4], [little], index_location="start"), counts, 3)
    yield from stored("v3 index turned", "zarr3", "int16", shards([4, 4], [turn, little, {"name": "crc32c"}]), counts)
    inner = shards([2, 2], [little, {"name": "crc32c"}], ["bytes", "gzip"])["codecs"]
    yield from stored("v3 shards in shards", "zarr3", "uint8", shards([4, 4], [little], inner), counts, 1)


def numpy():
    count = np.arange(15).reshape(SHAPE) * 7 - 20
    for dtype in ["|b1", "|i1", "<u2", ">i4", "<i8", "<f2", ">f4", "<f8", "<c8", ">c16"]:
        values = count.astype(dtype)
        file = io.BytesIO()
        np.save(file, values)
        yield dtype, case({"x.npy": base(file.getvalue())}, values.dtype.name, values, None)
    for version in [(1, 0), (2, 0), (3, 0)]:
        file = io.BytesIO()
        np.lib.format.write_array(file, count, version=version)
        yield f"version {version[0]}", case({"x.npy": base(file.getvalue())}, "int64", count, None)
    for shape in [(), (0, 3)]:
        file, values = io.BytesIO(), np.full(shape, 5, "<i4")
        np.save(file, values)
        yield f"shape {shape}", case({"x.npy": base(file.getvalue())}, "int32", values, None)


program = {"zarr-python": zarr_python, "tensorstore": tensorstore, "numpy": numpy}[sys.argv[1]]
for name, one in dict(program()).items():
    print(json.dumps({"name": name, **one}))
