// Each word through a few rounds of a mixing function, the kernel of examples/pipeline.rs. pipeline.ptx is the same, written by hand.
extern "C" __global__ void mix(unsigned *words, unsigned n, unsigned rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = words[i];
    for (unsigned round = 0; round < rounds; round++) {
        x += 0x9e3779b9u;
        x ^= x >> 16;
        x *= 0x21f0aaadu;
        x ^= x >> 15;
        x *= 0xd35a2d97u;
        x ^= x >> 15;
    }
    words[i] = x;
}
