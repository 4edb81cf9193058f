// Kernels of everyday kinds. kernels.ptx is made of this with
//
//     nvcc -ptx -arch=sm_90 -lineinfo -o kernels.ptx kernels.cu
//
// The table in tests/cases holds launches of them with inputs and results.

#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void saxpy(const float *x, float *y, float a, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void reduce_tree(const u32 *x, u32 *out) {
    __shared__ u32 part[256];
    u32 t = threadIdx.x;
    part[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (u32 s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void reduce_shuffle(const u32 *x, u32 *out, u32 n) {
    u32 sum = 0;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void scan_block(const u32 *x, u32 *y) {
    extern __shared__ u32 now[];
    u32 t = threadIdx.x;
    now[t] = x[t];
    __syncthreads();
    for (u32 s = 1; s < blockDim.x; s *= 2) {
        u32 left = t >= s ? now[t - s] : 0;
        __syncthreads();
        now[t] += left;
        __syncthreads();
    }
    y[t] = now[t];
}

extern "C" __global__ void scan_warp(const u32 *x, u32 *y) {
    u32 v = x[threadIdx.x];
    for (int s = 1; s < 32; s *= 2) {
        u32 left = __shfl_up_sync(0xffffffff, v, s);
        if (threadIdx.x % 32 >= s) v += left;
    }
    y[threadIdx.x] = v;
}

extern "C" __global__ void histogram(const unsigned char *x, u32 *bins, u32 n) {
    __shared__ u32 mine[256];
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    for (u32 i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void bitonic(u32 *x) {
    __shared__ u32 s[512];
    u32 t = threadIdx.x;
    s[t] = x[t];
    s[t + 256] = x[t + 256];
    for (u32 size = 2; size <= 512; size *= 2)
        for (u32 stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            u32 i = 2 * t - (t & (stride - 1));
            bool up = (i & size) == 0;
            u32 a = s[i], b = s[i + stride];
            if ((a > b) == up) {
                s[i] = b;
                s[i + stride] = a;
            }
        }
    __syncthreads();
    x[t] = s[t];
    x[t + 256] = s[t + 256];
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, u32 n) {
    __shared__ float ta[16][16], tb[16][16];
    u32 x = threadIdx.x, y = threadIdx.y;
    u32 row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (u32 k = 0; k < n; k += 16) {
        ta[y][x] = a[row * n + k + x];
        tb[y][x] = b[(k + y) * n + col];
        __syncthreads();
        for (u32 i = 0; i < 16; i++) sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void stencil(const float *x, float *y, u32 n) {
    __shared__ float s[130];
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 1;
    if (i < n) s[t] = x[i];
    if (threadIdx.x == 0) s[0] = i > 0 ? x[i - 1] : 0;
    if (threadIdx.x == blockDim.x - 1 || i == n - 1) s[t + 1] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    if (i < n) y[i] = 0.25f * s[t - 1] + 0.5f * s[t] + 0.25f * s[t + 1];
}

extern "C" __global__ void transpose(const u32 *x, u32 *y, u32 n) {
    __shared__ u32 tile[32][33];
    u32 col = blockIdx.x * 32 + threadIdx.x;
    for (u32 j = threadIdx.y; j < 32; j += blockDim.y) tile[j][threadIdx.x] = x[(blockIdx.y * 32 + j) * n + col];
    __syncthreads();
    u32 to = blockIdx.y * 32 + threadIdx.x;
    for (u32 j = threadIdx.y; j < 32; j += blockDim.y) y[(blockIdx.x * 32 + j) * n + to] = tile[threadIdx.x][j];
}

__device__ __noinline__ u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void fibonacci(u32 *out) { out[threadIdx.x] = fib(threadIdx.x % 13); }

__device__ __noinline__ u32 ack(u32 m, u32 n) {
    if (m == 0) return n + 1;
    if (n == 0) return ack(m - 1, 1);
    return ack(m - 1, ack(m, n - 1));
}
extern "C" __global__ void ackermann(u32 *out) { out[threadIdx.x] = ack(threadIdx.x % 3, threadIdx.x % 5); }

extern "C" __global__ void collatz(u32 *out) {
    u32 n = threadIdx.x + blockIdx.x * blockDim.x + 1, steps = 0;
    while (n != 1) {
        if (n % 2) n = 3 * n + 1;
        else n /= 2;
        steps++;
    }
    out[threadIdx.x + blockIdx.x * blockDim.x] = steps;
}

extern "C" __global__ void votes(const u32 *x, u32 *out) {
    u32 v = x[threadIdx.x], t = threadIdx.x;
    out[t] = __ballot_sync(0xffffffff, v & 1);
    out[t + 32] = __any_sync(0xffffffff, v > 100) | __all_sync(0xffffffff, v < 1000) << 1;
    out[t + 64] = __match_any_sync(0xffffffff, v % 5);
    int pred;
    out[t + 96] = __match_all_sync(0xffffffff, v / 1000, &pred);
    out[t + 128] = pred;
    if (t % 3 == 0) out[t + 160] = __activemask();
    else out[t + 160] = __ballot_sync(__activemask(), v & 2);
    out[t + 192] = __reduce_add_sync(0xffffffff, v);
    out[t + 224] = __reduce_min_sync(0xffffffff, (int)v - 50);
    out[t + 256] = __reduce_xor_sync(0xffffffff, v);
    out[t + 288] = __shfl_xor_sync(0xffffffff, v, 5, 16);
    out[t + 320] = __shfl_sync(0xffffffff, v, 7, 8);
}

extern "C" __global__ void atomics(u32 *x, u64 *y, float *f, double *d) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&x[0], t);
    atomicSub(&x[1], t);
    atomicMin(&x[2], t + 5);
    atomicMax(&x[3], t);
    atomicAnd(&x[4], ~(1u << (t % 32)));
    atomicOr(&x[5], 1u << (t % 32));
    atomicXor(&x[6], t);
    atomicInc(&x[7], 10);
    atomicDec(&x[8], 10);
    atomicExch(&x[9], 7);
    atomicCAS(&x[10], t, t + 1);
    atomicMin((int *)&x[11], -(int)t);
    atomicMax((int *)&x[12], -(int)t);
    atomicAdd(&y[0], (u64)t << 32);
    atomicMax(&y[1], (u64)t << 33);
    atomicExch(&y[2], 9);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
}

extern "C" __global__ void double_by_cas(u64 *x) {
    u64 old = *(volatile u64 *)x, seen;
    do {
        seen = old;
        double sum = __longlong_as_double(seen) + 1.0;
        old = atomicCAS(x, seen, __double_as_longlong(sum));
    } while (old != seen);
}

extern "C" __global__ void rounding(const float *x, float *out) {
    u32 t = threadIdx.x;
    float a = x[2 * t], b = x[2 * t + 1];
    float *o = out + 20 * t;
    o[0] = __fadd_rn(a, b);
    o[1] = __fadd_rz(a, b);
    o[2] = __fadd_ru(a, b);
    o[3] = __fadd_rd(a, b);
    o[4] = __fmul_rz(a, b);
    o[5] = __fmul_ru(a, b);
    o[6] = __fmul_rd(a, b);
    o[7] = __fmaf_rz(a, b, a);
    o[8] = __fmaf_ru(a, b, a);
    o[9] = __fmaf_rd(a, b, a);
    o[10] = __fdiv_rz(a, b);
    o[11] = __fdiv_ru(a, b);
    o[12] = __fdiv_rd(a, b);
    o[13] = __fsqrt_rz(fabsf(a));
    o[14] = __fsqrt_ru(fabsf(a));
    o[15] = __frcp_rd(a);
    o[16] = fminf(a, b);
    o[17] = fmaxf(a, b);
    o[18] = __saturatef(a);
    o[19] = fmaf(a, b, -a * b);
}

extern "C" __global__ void integers(const u32 *x, u32 *out) {
    u32 t = threadIdx.x, a = x[2 * t], b = x[2 * t + 1];
    u32 *o = out + 24 * t;
    o[0] = __umulhi(a, b);
    o[1] = __mulhi((int)a, (int)b);
    o[2] = __brev(a);
    o[3] = __clz(a);
    o[4] = __popc(a);
    o[5] = __ffs(a);
    o[6] = __byte_perm(a, b, 0x2571);
    o[7] = __funnelshift_l(a, b, b);
    o[8] = __funnelshift_r(a, b, a);
    o[9] = __sad((int)a, (int)b, t);
    o[10] = __dp4a((int)a, (int)b, (int)t);
    o[11] = a / (b | 1);
    o[12] = (int)a / (int)(b | 1);
    o[13] = a % (b | 1);
    o[14] = (int)a % (int)(b | 1);
    u64 p = (u64)a * b;
    o[15] = p / (a | 1);
    o[16] = (u32)(p >> (b & 63));
    o[17] = (int)a >> (b & 31);
    o[18] = __vadd2(a, b);
    o[19] = __hadd((int)a, (int)b);
    o[20] = (u32)__umul64hi(p, p);
    o[21] = min((int)a, (int)b);
    o[22] = (u32)(((long long)(int)a) * (int)b >> 7);
    o[23] = (unsigned char)a + (short)b;
}

extern "C" __global__ void conversions(const float *x, u32 *out) {
    u32 t = threadIdx.x;
    float a = x[t];
    u32 *o = out + 16 * t;
    o[0] = (int)a;
    o[1] = (u32)a;
    o[2] = __float2int_rn(a);
    o[3] = __float2int_ru(a);
    o[4] = __float2int_rd(a);
    o[5] = (u32)((long long)a >> 8);
    o[6] = (unsigned char)(int)a;
    o[7] = (u32)(u64)a;
    o[8] = __float_as_uint((float)o[0]);
    o[9] = __float_as_uint((float)(u64)o[1]);
    double d = a;
    o[10] = __double2int_rn(d * 1.5);
    o[11] = __float_as_uint((float)(d / 3));
    o[12] = __float_as_uint(rintf(a));
    o[13] = __float_as_uint(floorf(a));
    o[14] = __float_as_uint(truncf(a));
    o[15] = (u32)__double2hiint(d) ^ (u32)__double2loint(d);
}

extern "C" __global__ void hello(u32 n) {
    if (threadIdx.x < n)
        printf("thread %u of %d: %5.2f|%-6s|%#x|%lld|%c|%e|%g\n", threadIdx.x, (int)blockDim.x, threadIdx.x * 0.5, "abc",
               255 + threadIdx.x, -5ll, 'x', 12345.678, 0.0001);
}

extern "C" __global__ void choose(const u32 *x, u32 *out) {
    u32 v = x[threadIdx.x], r;
    switch (v % 8) {
        case 0: r = v * 3; break;
        case 1: r = v + 7; break;
        case 2: r = v ^ 0x55; break;
        case 3: r = v << 2; break;
        case 4: r = v / 3; break;
        case 5: r = ~v; break;
        case 6: r = v * v; break;
        default: r = 1; break;
    }
    out[threadIdx.x] = r;
}

typedef u32 (*Function)(u32);
__device__ __noinline__ u32 twice(u32 x) { return 2 * x; }
__device__ __noinline__ u32 square(u32 x) { return x * x; }
__device__ __noinline__ u32 next(u32 x) { return x + 1; }
__device__ Function functions[3] = {twice, square, next};
extern "C" __global__ void pointers(u32 *out) {
    out[threadIdx.x] = functions[threadIdx.x % 3](threadIdx.x) + functions[(threadIdx.x / 3) % 3](100);
}

struct Mixed {
    char c;
    double d;
    float f[3];
    short s;
};
__device__ __noinline__ Mixed changed(Mixed m, u32 by) {
    m.d += by;
    m.f[by % 3] *= 2;
    m.s -= by;
    return m;
}
extern "C" __global__ void structures(Mixed m, double *out) {
    Mixed n = changed(m, threadIdx.x);
    out[threadIdx.x] = n.c + n.d + n.f[0] + 10 * n.f[1] + 100 * n.f[2] + n.s;
}

__constant__ u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ u32 total = 10;
extern "C" __global__ void tables(const u32 *x, u32 *out) {
    out[threadIdx.x] = table[x[threadIdx.x] % 16] + table[3];
    atomicAdd(&total, 1);
}

extern "C" __global__ void local_arrays(const u32 *x, u32 *out) {
    u32 seen[16];
    for (u32 i = 0; i < 16; i++) seen[i] = i;
    for (u32 i = 0; i < 8; i++) {
        u32 a = x[threadIdx.x] >> (4 * i) & 15, b = (a * 7 + i) & 15;
        u32 t = seen[a];
        seen[a] = seen[b];
        seen[b] = t;
    }
    u32 h = 0;
    for (u32 i = 0; i < 16; i++) h = h * 31 + seen[i];
    out[threadIdx.x] = h;
}

extern "C" __global__ void grid_sync(u32 *x, u32 rounds) {
    cg::grid_group grid = cg::this_grid();
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (u32 r = 0; r < rounds; r++) {
        u32 v = x[(i + 1) % n];
        grid.sync();
        x[i] = v + 1;
        grid.sync();
    }
}

extern "C" __global__ void cluster_sum(const u32 *x, u32 *out) {
    __shared__ u32 mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = 0;
    __syncthreads();
    atomicAdd(&mine, x[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    u32 sum = 0;
    for (u32 r = 0; r < cluster.num_blocks(); r++) sum += *cluster.map_shared_rank(&mine, r);
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = sum + 1000 * cluster.block_rank();
}

__device__ u32 blocks_done = 0;
extern "C" __global__ void last_block(const u32 *x, u32 *parts, u32 *out) {
    __shared__ bool is_last;
    __shared__ u32 sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        u32 all = 0;
        for (u32 i = 0; i < gridDim.x; i++) all += parts[i];
        *out = all;
    }
}

extern "C" __global__ void spin_lock(u32 *lock, u32 *count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile u32 *)count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void mandelbrot(u32 *out, u32 width) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cr = x * (3.0f / width) - 2.0f, ci = y * (2.0f / width) - 1.0f, zr = 0, zi = 0;
    u32 i = 0;
    while (i < 64 && zr * zr + zi * zi < 4) {
        float t = __fadd_rn(__fsub_rn(__fmul_rn(zr, zr), __fmul_rn(zi, zi)), cr);
        zi = __fadd_rn(__fmul_rn(2 * zr, zi), ci);
        zr = t;
        i++;
    }
    out[y * width + x] = i;
}

extern "C" __global__ void crc(const unsigned char *x, u32 *out, u32 bytes) {
    u32 c = ~0u;
    for (u32 i = 0; i < bytes; i++) {
        c ^= x[threadIdx.x * bytes + i];
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
    }
    out[threadIdx.x] = ~c;
}

extern "C" __global__ void life(const unsigned char *x, unsigned char *y, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, r = i / n, c = i % n, count = 0;
    for (int dr = -1; dr <= 1; dr++)
        for (int dc = -1; dc <= 1; dc++)
            if (dr || dc) count += x[(r + n + dr) % n * n + (c + n + dc) % n];
    y[i] = count == 3 || (count == 2 && x[i]);
}

extern "C" __global__ void spmv(const u32 *rows, const u32 *cols, const float *values, const float *x, float *y, u32 n) {
    u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (u32 k = rows[row]; k < rows[row + 1]; k++) sum = fmaf(values[k], x[cols[k]], sum);
    y[row] = sum;
}

extern "C" __global__ void vectors(const float4 *x, float4 *y, const ushort4 *s, uint2 *o) {
    u32 t = threadIdx.x;
    float4 v = x[t];
    y[t] = make_float4(v.w, v.z * 2, v.y - 1, v.x);
    ushort4 w = s[t];
    o[t] = make_uint2(w.x + w.y, (u32)w.z << 16 | w.w);
}

extern "C" __global__ void named_barriers(u32 *out) {
    __shared__ u32 box[64];
    u32 t = threadIdx.x;
    for (u32 round = 0; round < 4; round++) {
        if (t < 64) {
            box[t] = t * 10 + round;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
            asm volatile("bar.sync 2, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[round * 64 + t - 64] = box[t - 64];
            asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}

extern "C" __global__ void barrier_votes(const u32 *x, u32 *out) {
    u32 v = x[threadIdx.x];
    u32 a = __syncthreads_count(v & 1), b = __syncthreads_and(v < 90), c = __syncthreads_or(v > 90);
    out[threadIdx.x] = a * 4 + (b != 0) * 2 + (c != 0);
}

extern "C" __global__ void early_exit(const u32 *x, u32 *out, u32 n) {
    u32 t = threadIdx.x;
    if (t >= n) return;
    __shared__ u32 s[256];
    s[t] = x[t];
    __syncthreads();
    out[t] = s[n - 1 - t];
}

extern "C" __global__ void wide(const u64 *x, u64 *out) {
    u64 a = x[2 * threadIdx.x], b = x[2 * threadIdx.x + 1];
    u64 *o = out + 8 * threadIdx.x;
    unsigned __int128 p = (unsigned __int128)a * b, q = p + a;
    o[0] = (u64)p;
    o[1] = (u64)(p >> 64);
    o[2] = (u64)(q >> 64);
    o[3] = a / (b | 1);
    o[4] = a % (b | 1);
    o[5] = (long long)a / (long long)(b | 1);
    o[6] = __brevll(a) ^ __popcll(b) ^ ((u64)__clzll(a) << 32);
    o[7] = (u64)(p - q) + (u64)((p - q) >> 64);
}

extern "C" __global__ void coalesced(const u32 *x, u32 *out) {
    u32 v = x[threadIdx.x];
    if (v % 3 == 1) {
        cg::coalesced_group g = cg::coalesced_threads();
        u32 sum = v;
        for (u32 s = 1; s < g.size(); s++) sum += g.shfl(v, (g.thread_rank() + s) % g.size());
        out[threadIdx.x] = sum * 100 + g.thread_rank();
        g.sync();
    } else {
        out[threadIdx.x] = 0;
    }
}

extern "C" __global__ void math(const float *x, float *out) {
    u32 t = threadIdx.x;
    float a = x[t];
    float *o = out + 10 * t;
    o[0] = sinf(a);
    o[1] = cosf(a);
    o[2] = expf(a);
    o[3] = logf(fabsf(a));
    o[4] = powf(fabsf(a), 1.7f);
    o[5] = tanhf(a);
    o[6] = erff(a);
    o[7] = cbrtf(a);
    o[8] = __expf(a);
    o[9] = rsqrtf(fabsf(a));
}

extern "C" __global__ void math_double(const double *x, double *out) {
    u32 t = threadIdx.x;
    double a = x[t];
    double *o = out + 8 * t;
    o[0] = sin(a);
    o[1] = exp(a);
    o[2] = log(fabs(a));
    o[3] = pow(fabs(a), 2.3);
    o[4] = a / 3.0;
    o[5] = sqrt(fabs(a));
    o[6] = fma(a, a, 1.0);
    o[7] = tgamma(fabs(a));
}
