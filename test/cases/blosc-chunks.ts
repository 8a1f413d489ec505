/**
 * What C-Blosc 1.21 (by Python numcodecs 0.11) makes of 300 int32, `(arange(300) // 3) * 7`: the compressor, the shuffle,
 * bytes of an element, and the chunk in base64.
 */
export const BLOSC_CHUNKS: readonly (readonly [string, 0 | 1 | 2, number, string])[] = [
  [
    "lz4",
    1,
    4,
    "AgEhBLAEAACwBAAAfQEAABQAAAAsAQAAAAAABwcHDg4OFRUVHBwcIyMjKioqMTExODg4Pz8/RkZGTU1NVFRUW1tbYmJiaWlpcHBwd3d3" +
      "fn5+hYWFjIyMk5OTmpqaoaGhqKior6+vtra2vb29xMTEy8vL0tLS2dnZ4ODg5+fn7u7u9fX1/Pz8AwMDCgoKERERGBgYHx8fJiYmLS0t" +
      "NDQ0Ozs7QkJCSUlJUFBQV1dXXl5eZWVlbGxsc3Nzenp6gYGBiIiIj4+PlpaWnZ2dpKSkq6ursrKyubm5wMDAx8fHzs7O1dXV3Nzc4+Pj" +
      "6urq8fHx+Pj4////BgYGDQ0NFBQUGxsbIiIiKSkpMDAwNzc3Pj4+RUVFTExMU1NTWlpaYWFhaGhob29vdnZ2fX19hISEi4uLkpKSmZmZ" +
      "oKCgp6enrq6utbW1FQAAAB8AAQBbHwEBAFsfAgEANVACAgICAgwAAAAfAAEA/xRQAAAAAAAMAAAAHwABAP8UUAAAAAAA",
  ],
  [
    "blosclz",
    1,
    4,
    "AgEBBLAEAACwBAAAggEAABQAAAAsAQAAAAAABwcHDg4OFRUVHBwcIyMjKioqMTExODg4Pz8/RkZGTU1NVFRUW1tbYmJiaWlpcHBwd3d3" +
      "fn5+hYWFjIyMk5OTmpqaoaGhqKior6+vtra2vb29xMTEy8vL0tLS2dnZ4ODg5+fn7u7u9fX1/Pz8AwMDCgoKERERGBgYHx8fJiYmLS0t" +
      "NDQ0Ozs7QkJCSUlJUFBQV1dXXl5eZWVlbGxsc3Nzenp6gYGBiIiIj4+PlpaWnZ2dpKSkq6ursrKyubm5wMDAx8fHzs7O1dXV3Nzc4+Pj" +
      "6urq8fHx+Pj4////BgYGDQ0NFBQUGxsbIiIiKSkpMDAwNzc3Pj4+RUVFTExMU1NTWlpaYWFhaGhob29vdnZ2fX19hISEi4uLkpKSmZmZ" +
      "oKCgp6enrq6utbW1GAAAACMAAAAA4GEDAQAB4GQAAQEC4EEAAgICAg0AAAAjAAAAAOD/HQMCAAAADQAAACMAAAAA4P8dAwIAAAA=",
  ],
  [
    "zstd",
    1,
    4,
    "AgGRBLAEAAAAAgAAmwEAALkAAAAcAAAAVgEAAJkAAAAotS/9YAABfQQANAgmLS0tNDQ0Ozs7QkJCSUlJUFBQV1dXXl5eZWVlbGxsc3Nz" +
      "enp6gYGBiIiIj4+PlpaWnZ2dpKSkq6ursrKyubm5wMDAx8fHzs7O1dXV3Nzc4+Pj6urq8fHx+Pj4////BgYGDQ0NFBQUGxsbIiIiKSkp" +
      "MDAwNzc3Pj4+RUVFTExMUwECAAMQAHxKxhvQSQqZAAAAKLUv/WAAAX0EADQIAAAABwcHDg4OFRUVHBwcIyMjKioqMTExODg4Pz8/RkZG" +
      "TU1NVFRUW1tbYmJiaWlpcHBwd3d3fn5+hYWFjIyMk5OTmpqaoaGhqKior6+vtra2vb29xMTEy8vL0tLS2dnZ4ODg5+fn7u7u9fX1/Pz8" +
      "AwMDCgoKERERGBgYHx8fJiYAAQADEAB8SpAbWKkUQQAAACi1L/0gsMUBAOQCU1NaWlphYWFoaGhvb292dnZ9fX2EhISLi4uSkpKZmZmg" +
      "oKCnp6eurq61tbUCAAIABCZRTFAG",
  ],
  [
    "zstd",
    2,
    8,
    "AgGUCLAEAACwBAAAnAAAABQAAACEAAAAKLUv/WCwA9UDAGQGAAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vcTL0tng5+71/AMBChEY" +
      "HyYtNDtCSVBXXmVsc3qBiI+WnaSrsrnAx87V3OPq8fj/BgINFBsiKTA3PkVMU1phaG92fYSLkpmgp661ZKgQ8AfgDxAe8QOJJEkkaWuV",
  ],
  [
    "zlib",
    1,
    2,
    "AgFhArAEAACwBAAA8QAAABQAAADDAAAAeNodwUFEAwAAAMARxSiiiI1RxCKKKGIRi1FEMYooYmMUUUQjiihGEYuxiEUUUewRPaLH2GP0" +
      "iB7RI3qMHrHHKN1dIPCvzQ67DdvngMOOOeGUM8676Ipp190y675HnnjmuZfeeO+DT1as+eq7n9b9sWmLQTvtMWK/g4447qQJZ0265KoZ" +
      "N9x21wNznlrwwitvLfvos1VffPPDL79t+Gur7XYZsteoQ44aM+60cy64bMo1N91xz0OPzVu05LV3/gHuMIsPEgAAAHjaY2AYzoBxWEOm" +
      "QQwBprABDA==",
  ],
  [
    "zlib",
    0,
    4,
    "AgFgBLAEAACwBAAARQEAABQAAABFAAAAeNpNw5EWgDAAAMBZlmVZls2ybJZlWZZlsyzLZlnWZ4bdvXch/CrWbNiyY8/IgSMTJ85cuHLj" +
      "zsyDJy8W3nz48gOeoxidSgAAAHjaTcOhDkBQAADAZ5qmaZqmaZqmaT7zNU3TNE3TNE0TFJu77WIIIX4nzly4cuPOgycv3nyYJv+MOQuW" +
      "rFizYcuOPQeOfAHssiUJSQAAAHjaTcOhDkBQAABABJ/5mqZpmqZpmqZpmqZpmqZpmqZRbO62C3EUhW/GnAVLVqzZsGXHngNHTpy5cOXG" +
      "nQdPXrz5ME3+Lw3kMXVJAAAAeNpNwxESgEAAAMCb/CzLsizLsizLsuwsy7Isy7Isy/pfEuzObMxCiP+cBUtWrNmwZceeA0dOTJy5cOXG" +
      "nQdPXrz58OUHOjIdAg==",
  ],
];
