// Algorithms of CUB within a block. blocks.ptx is made of this with
//
//     nvcc -ptx -arch=sm_90 -I.../include/cccl -o blocks.ptx blocks.cu

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

typedef unsigned int u32;

extern "C" __global__ void block_sort(u32 *x) {
    typedef cub::BlockRadixSort<u32, 128, 4> Sort;
    __shared__ typename Sort::TempStorage storage;
    u32 keys[4];
    for (int i = 0; i < 4; i++) keys[i] = x[threadIdx.x * 4 + i];
    Sort(storage).Sort(keys);
    for (int i = 0; i < 4; i++) x[threadIdx.x * 4 + i] = keys[i];
}

extern "C" __global__ void block_scan(u32 *x) {
    typedef cub::BlockScan<u32, 256> Scan;
    __shared__ typename Scan::TempStorage storage;
    u32 v = x[threadIdx.x];
    Scan(storage).InclusiveSum(v, v);
    x[threadIdx.x] = v;
}

extern "C" __global__ void block_reduce(const u32 *x, u32 *out) {
    typedef cub::BlockReduce<u32, 256> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    u32 sum = Reduce(storage).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) *out = sum;
}
