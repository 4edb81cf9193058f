// Kernels with a mistake each. misuse.ptx is made of this with
//
//     nvcc -ptx -arch=sm_90 -lineinfo -o misuse.ptx misuse.cu

#include <cassert>

typedef unsigned int u32;

extern "C" __global__ void beyond(u32 *x, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = n;
}

extern "C" __global__ void before(const u32 *x, u32 *y) { y[threadIdx.x] = x[(int)threadIdx.x - 3]; }

extern "C" __global__ void crooked(char *x) { *(u32 *)(x + 2) = 1; }

extern "C" __global__ void sum(const u32 *x, u32 *out, u32 n) {
    u32 sum = 0;
    for (u32 i = 0; i < n; i++) sum += x[i];
    *out = sum;
}

extern "C" __global__ void unwritten_shared(u32 *out) {
    __shared__ u32 s[64];
    if (threadIdx.x != 5) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__constant__ u32 fixed[4] = {1, 2, 3, 4};
extern "C" __global__ void to_constant() {
    u32 *p = const_cast<u32 *>(&fixed[threadIdx.x]);
    asm volatile("st.u32 [%0], 0;" ::"l"(p) : "memory");
}

extern "C" __global__ void no_barrier(u32 *out) {
    __shared__ u32 s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x] = threadIdx.x + 1;
    out[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void barrier_too_early(u32 *x) {
    __shared__ u32 s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    u32 v = s[(threadIdx.x + 33) % 64];
    s[threadIdx.x] = v;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void same_place(u32 *x) { *x = blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void in_place(u32 *x, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    u32 left = i > 0 ? x[i - 1] : 0;
    x[i] = left + 1;
}

extern "C" __global__ void without_fence(u32 *data, volatile u32 *flag) {
    if (blockIdx.x == 0) {
        *data = 7;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        data[1] = *data;
    }
}

extern "C" __global__ void parted_barrier(u32 *x) {
    if (threadIdx.x < 40) {
        x[threadIdx.x] = 1;
        __syncthreads();
    } else {
        x[threadIdx.x] = 2;
    }
    __threadfence();
    __syncthreads();
    x[threadIdx.x + 64] = x[63 - threadIdx.x];
}

extern "C" __global__ void absent_lane(u32 *x) {
    u32 v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_down_sync(0x0000ffff, v, 8, 32);
    x[threadIdx.x] = v;
}

__device__ __noinline__ u32 deep(u32 n, u32 *x) {
    volatile u32 kept[16];
    kept[n % 16] = n;
    return n == 0 ? x[0] : deep(n - 1, x) + kept[n % 16];
}
extern "C" __global__ void too_deep(u32 *x) { x[threadIdx.x] = deep(100000, x); }

extern "C" __global__ void forever(volatile u32 *x) {
    while (*x == 0) {
    }
}

extern "C" __global__ void asserted(u32 n) { assert(threadIdx.x < n); }

extern "C" __global__ void trapped(u32 n) {
    if (threadIdx.x == n) __trap();
}

extern "C" __global__ void beyond_shared(u32 *out) {
    __shared__ u32 s[32];
    volatile u32 *p = s;
    p[threadIdx.x * 2] = 1;
    __syncthreads();
    out[threadIdx.x] = p[threadIdx.x];
}
