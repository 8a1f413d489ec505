/** Contains WGSL text for both integers and floats, because WGSL has no 64-bit integers. */

/** A WGSL function that computes the high word of a product of two words, from products of their halves. */
export const HIGH_PRODUCT = /* wgsl */ `
fn highProduct(a: u32, b: u32) -> u32 {
  let aLow = a & 0xffffu;
  let aHigh = a >> 16u;
  let bLow = b & 0xffffu;
  let bHigh = b >> 16u;
  let middle = aHigh * bLow + ((aLow * bLow) >> 16u);
  let carry = aLow * bHigh + (middle & 0xffffu);
  return aHigh * bHigh + (middle >> 16u) + (carry >> 16u);
}`;
