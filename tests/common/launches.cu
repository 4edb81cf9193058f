// Kernels that tell what they were given. launches.ptx is made of this with
//
//     nvcc -ptx -arch=compute_90 -o launches.ptx launches.cu

#include <cooperative_groups.h>

struct Floats {
    const float *data;
    size_t len;
};

struct Pair {
    float a;
    double b;
};

extern "C" __global__ void fill_counted(float *x, unsigned n, float value) {
    for (unsigned i = 0; i < n; i++) x[i] = value;
}

extern "C" __global__ void count_64(const float *x, long long n, unsigned long long *out) {
    *out = n;
}

extern "C" __global__ void sum_span(Floats x, float *out) {
    float sum = 0;
    for (size_t i = 0; i < x.len; i++) sum += x.data[i];
    *out = sum;
}

extern "C" __global__ void copy_or(const float *x, float instead, float *out, unsigned n) {
    for (unsigned i = 0; i < n; i++) out[i] = x ? x[i] : instead;
}

extern "C" __global__ void count_or_null(const float *x, unsigned n, unsigned *out) {
    *out = x ? n : 1000 + n;
}

// The last of its dynamic shared memory is written and read.
extern "C" __global__ void shared_bytes(unsigned bytes, unsigned *out) {
    extern __shared__ unsigned words[];
    unsigned given;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(given));
    if (given >= 4) words[given / 4 - 1] = bytes;
    out[0] = given >= 4 ? words[given / 4 - 1] : bytes;
    out[1] = given;
}

extern "C" __global__ void structs(char c, float4 v, Pair pair, short h, double *out) {
    out[0] = c;
    out[1] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
    out[2] = pair.a + pair.b;
    out[3] = h;
}

extern "C" __global__ void sixteen(unsigned *out, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g, unsigned h,
                                   unsigned i, unsigned j, unsigned k, unsigned l, unsigned m, unsigned n, unsigned o) {
    unsigned all[15] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o};
    for (unsigned x = 0; x < 15; x++) out[x] = all[x];
}

extern "C" __global__ void __launch_bounds__(64) bounded(unsigned *out) {
    *out = blockDim.x;
}

extern "C" __global__ void static_shared(unsigned *out) {
    __shared__ unsigned words[2048];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}

// Each block sees that all others have arrived.
extern "C" __global__ void meet(unsigned *arrived, unsigned *seen) {
    if (threadIdx.x == 0) atomicAdd(arrived, 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) seen[blockIdx.x] = *arrived;
}

// Blocks of a cluster along x, y and z, as the block sees them.
extern "C" __global__ void clusters(unsigned *out) {
    dim3 of = cooperative_groups::cluster_group::dim_blocks();
    if (threadIdx.x == 0) out[blockIdx.x] = of.x + 100 * of.y + 10000 * of.z;
}

extern "C" __global__ void write_late(unsigned *x, unsigned n, unsigned value) {
    // Whoever comes next may start now.
    cudaTriggerProgrammaticLaunchCompletion();
#pragma unroll 1
    for (unsigned i = 0; i < 200; i++) __nanosleep(1000);
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}

extern "C" __global__ void copy_after_wait(const unsigned *x, unsigned *y, unsigned n) {
    cudaGridDependencySynchronize();
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];
}
