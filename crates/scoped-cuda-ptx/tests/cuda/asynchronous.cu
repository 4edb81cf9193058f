// Copies and barriers that run by themselves, halves and bfloat16. asynchronous.ptx is made of this with
//
//     nvcc -ptx -arch=sm_90 -o asynchronous.ptx asynchronous.cu

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>

typedef unsigned int u32;

extern "C" __global__ void copied(const u32 *x, u32 *y) {
    __shared__ __align__(16) u32 s[1024];
    u32 t = threadIdx.x;
    __pipeline_memcpy_async(&s[4 * t], &x[4 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (u32 i = 0; i < 4; i++) y[i * 256 + t] = s[1023 - (i * 256 + t)];
}

extern "C" __global__ void awaited(const u32 *x, u32 *y) {
    __shared__ u32 s[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    u32 t = threadIdx.x;
    if (t == 0) init(&bar, blockDim.x);
    __syncthreads();
    u32 v = x[t];
    for (u32 round = 0; round < 3; round++) {
        s[t] = v;
        bar.arrive_and_wait();
        v += s[(t + 1) % 128];
        bar.arrive_and_wait();
    }
    y[t] = v;
}

extern "C" __global__ void halves(const float *x, float *out) {
    u32 t = threadIdx.x;
    __half a = __float2half(x[2 * t]), b = __float2half(x[2 * t + 1]);
    float *o = out + 12 * t;
    o[0] = __half2float(a);
    o[1] = __half2float(__hadd(a, b));
    o[2] = __half2float(__hmul(a, b));
    o[3] = __half2float(__hfma(a, b, a));
    o[4] = __half2float(__hsub(a, b));
    __half2 p = __halves2half2(a, b), q = __hfma2(p, p, __lowhigh2highlow(p));
    o[5] = __low2float(q);
    o[6] = __high2float(q);
    o[7] = __hlt(a, b);
    o[8] = __half2float(__hmax(a, b));
    o[9] = __half2int_rn(a);
    o[10] = __half2float(__int2half_rn((int)t * 1001));
    o[11] = __half2float(__hdiv(a, b));
}

extern "C" __global__ void brains(const float *x, float *out) {
    u32 t = threadIdx.x;
    __nv_bfloat16 a = __float2bfloat16(x[2 * t]), b = __float2bfloat16(x[2 * t + 1]);
    float *o = out + 6 * t;
    o[0] = __bfloat162float(a);
    o[1] = __bfloat162float(__hadd(a, b));
    o[2] = __bfloat162float(__hmul(a, b));
    o[3] = __bfloat162float(__hfma(a, b, a));
    o[4] = __bfloat162float(__hmin(a, b));
    o[5] = __hgt(a, b);
}
