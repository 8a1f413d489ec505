/** The bandwidth of plain copies on a device, the upper bound that calls are compared with. */

import { median } from "../statistics.js";
import { measureGpu } from "./timing.js";

const BYTES = 2 ** 26;
const WORKGROUP = 128;

/** Each invocation copies 16 bytes at a time, adjacent to those of its neighbours. */
const KERNEL = `
@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4<u32>>;
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let count = arrayLength(&source);
  for (var p = id.x; p < count; p += groups.x * ${WORKGROUP}u) { target_[p] = source[p]; }
}`;

/**
 * @param {GPUDevice} device
 * @param {import("./timing.js").Stamps | null} stamps
 * @returns {Promise<{ buffer: number, kernel: number }>} gigabytes per second, read and written
 */
export async function copyRates(device, stamps, pace) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const size = Math.min(BYTES, device.limits.maxStorageBufferBindingSize);
  const [from, to] = [0, 1].map(() => device.createBuffer({ size, usage }));
  const module = device.createShaderModule({ code: KERNEL });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module, entryPoint: "main" },
  });
  const entries = [from, to].map((buffer, binding) => ({ binding, resource: { buffer } }));
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const submit = (record) => () => {
    const encoder = device.createCommandEncoder();
    record(encoder);
    device.queue.submit([encoder.finish()]);
  };
  const buffer = submit((encoder) => encoder.copyBufferToBuffer(from, 0, to, 0, size));
  const kernel = submit((encoder) => {
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(Math.min(65_535, Math.ceil(size / 16 / WORKGROUP)));
    pass.end();
  });
  const contestants = Object.entries({ buffer, kernel }).map(([name, call]) => ({ name, call }));
  const times = await measureGpu(device, stamps, contestants, pace);
  from.destroy();
  to.destroy();
  const rate = ({ device: list, wall }) =>
    (2 * size) / 1e6 / median(list.length === wall.length ? list : wall);
  return { buffer: rate(times.get("buffer")), kernel: rate(times.get("kernel")) };
}
