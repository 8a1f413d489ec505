/** NPY files put together by hand, right and wrong ones, without the code that they test. */

/** The bytes that are these characters, each below 256. */
export const latin1 = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

/** The bytes that `text` gives in hexadecimal. */
export const hexBytes = (text: string): Uint8Array =>
  Uint8Array.from(text.replaceAll(" ", "").match(/../g) ?? [], (byte) => parseInt(byte, 16));

/** A file with this header, exactly as given, and these bytes behind it. */
export function npyFile(header: string, payload: ArrayLike<number> = [], version = 1): Uint8Array {
  const text = latin1(header);
  const low = [text.length & 255, text.length >> 8];
  const length = version === 1 ? low : [...low, 0, 0];
  const magic = [0x93, ...latin1("NUMPY")];
  return Uint8Array.from([...magic, version, 0, ...length, ...text, ...Array.from(payload)]);
}

/** The dictionary of a header as NumPy writes it, without padding. `tuple` is the shape: `(2, 3)`. */
export const npyDictionary = (descr: string, tuple: string, fortranOrder = "False"): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortranOrder}, 'shape': ${tuple}, }\n`;
