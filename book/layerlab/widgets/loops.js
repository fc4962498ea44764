// The numba loops, as WebAssembly. Python defines LOOPS, the module in base64, before this text.

async function startLoops() {
  if (typeof WebAssembly !== "object") throw new Error("WebAssembly is switched off.");
  const bytes = Uint8Array.from(atob(LOOPS), (c) => c.charCodeAt(0));
  const { exports } = (await WebAssembly.instantiate(bytes)).instance;
  return new Memory(exports);
}

// Hands out room in the module's memory. Views are made anew each time: they die when it grows.
class Memory {
  constructor(exports) {
    this.run = exports;
    this.free = this.start = (exports.__heap_base.value + 15) & ~15;
  }

  clear() { this.free = this.start; }

  take(bytes) {
    const address = this.free;
    this.free = (address + bytes + 15) & ~15;
    const missing = this.free - this.run.memory.buffer.byteLength;
    if (missing > 0) this.run.memory.grow(Math.ceil(missing / 65536));
    return address;
  }

  floats(address, length) { return new Float32Array(this.run.memory.buffer, address, length); }

  doubles(address, length) { return new Float64Array(this.run.memory.buffer, address, length); }

  put(values) {
    const address = this.take(4 * values.length);
    this.floats(address, values.length).set(values);
    return address;
  }
}

// Normal numbers from a seed: the generator sfc32 by Chris Doty-Humphrey, then the transform of Box
// and Muller. Every layer has its own stream, so that a deeper network begins with the same layers.
// Not NumPy's numbers; browsers may differ in the last digit, as their sine and logarithm do.
function normals(out, seed, stream) {
  let a = seed >>> 0, b = stream >>> 0, c = 0x9e3779b9, count = 1;
  const next = () => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) + 0.5;
  };
  for (let i = 0; i < 16; i++) next();
  for (let i = 0; i < out.length; i += 2) {
    const radius = Math.sqrt(-2 * Math.log(next() / 4294967296));
    const angle = (next() * 2 * Math.PI) / 4294967296;
    out[i] = radius * Math.cos(angle);
    if (i + 1 < out.length) out[i + 1] = radius * Math.sin(angle);
  }
}

// A random network of up to `most` layers in the module's memory.
class Network {
  constructor(memory, { width, batch, seed, most = 64 }) {
    Object.assign(this, { memory, width, batch, seed, most, drawn: 0 });
    memory.clear();
    const one = 4 * batch * width;
    this.weights = memory.take(4 * most * width * width);
    this.turned = memory.take(4 * most * width * width);
    [this.x, this.dout, this.h, this.grad] = [one, one, one, one].map((size) => memory.take(size));
    this.kept = memory.take(one * most);
    this.rstds = memory.take(4 * most * batch);
    this.row = memory.take(4 * width);
    [this.outputs, this.gradients, this.outputsExpected, this.gradientsExpected] =
      [8, 8, 8, 8].map((size) => memory.take(size * most));
    normals(memory.floats(this.x, batch * width), seed, 1);
    normals(memory.floats(this.dout, batch * width), seed, 2);
  }

  grow(depth) {
    const { memory, width } = this, size = width * width;
    for (; this.drawn < depth; this.drawn++) {
      const at = 4 * this.drawn * size;
      normals(memory.floats(this.weights + at, size), this.seed, 3 + this.drawn);
      memory.run.transpose(this.weights + at, this.turned + at, width, 1);
    }
  }

  // Sizes of outputs and, with `back`, of gradients, from the first `batch` examples.
  measure({ depth, std, activation, norm, batch = this.batch, back = true }) {
    this.grow(depth);
    const { memory, width } = this, { run } = memory;
    const layout = [batch, width, depth, std, activation, norm];
    const copy = (from, to) => memory.floats(to, batch * width).set(memory.floats(from, batch * width));
    copy(this.x, this.h);
    run.propagate(this.h, this.weights, this.kept, this.rstds, this.outputs, ...layout);
    const sizes = { outputs: memory.doubles(this.outputs, depth).slice() };
    if (!back) return sizes;
    copy(this.dout, this.grad);
    run.backpropagate(this.grad, this.turned, this.kept, this.rstds, this.row, this.gradients, ...layout);
    run.expect(this.outputsExpected, this.gradientsExpected, depth, width, std, activation, norm);
    for (const name of ["gradients", "outputsExpected", "gradientsExpected"])
      sizes[name] = memory.doubles(this[name], depth).slice();
    return sizes;
  }
}
