// The kernels of kernels.rs. kernels.ptx is made of this with the toolkit's compiler (CUDA 13.0 here; any from 12.0 on will do):
//
//     nvcc -ptx -arch=compute_75 -o kernels.ptx kernels.cu

#include <cooperative_groups.h>

// Beside each kernel: what kernels.rs makes sure of before a launch. The rest, for any grid, is to be seen in the source.

// n is at most the length of a, of b and of c
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

constexpr unsigned TILE = 16;

// blocks are TILE x TILE threads; a, b and c have at least rows * inner, inner * columns and rows * columns elements
extern "C" __global__ void matmul(const float *a, const float *b, float *c, unsigned rows, unsigned inner, unsigned columns) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t row = size_t(blockIdx.y) * TILE + y, column = size_t(blockIdx.x) * TILE + x;
    float sum = 0;
    for (unsigned first = 0; first < inner; first += TILE) {
        // Beyond the edge of a matrix a tile has zeros, which add nothing.
        tile_a[y][x] = row < rows && first + x < inner ? a[row * inner + first + x] : 0;
        tile_b[y][x] = first + y < inner && column < columns ? b[size_t(first + y) * columns + column] : 0;
        __syncthreads();
        for (unsigned i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < rows && column < columns) c[row * columns + column] = sum;
}

// blocks are in one row, of threads in one row; their dynamic shared memory has a float for each thread; len is that of x;
// sums has an element for each block
extern "C" __global__ void block_sums(const float *x, unsigned len, float *sums) {
    extern __shared__ float partial[];
    float sum = 0;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < len; i += size_t(gridDim.x) * blockDim.x) sum += x[i];
    partial[threadIdx.x] = sum;
    for (unsigned count = blockDim.x; count > 1;) {
        unsigned half = (count + 1) / 2;
        __syncthreads();
        if (threadIdx.x + half < count) partial[threadIdx.x] += partial[threadIdx.x + half];
        count = half;
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

// the launch is cooperative; len is that of x; total has an element
extern "C" __global__ void normalise(float *x, unsigned len, float *total) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (grid.thread_rank() == 0) *total = 0;
    grid.sync();
    float sum = 0;
    for (size_t i = grid.thread_rank(); i < len; i += grid.size()) sum += x[i];
    atomicAdd(total, sum);
    grid.sync(); // every block's sum is in the total: no block may divide before that
    for (size_t i = grid.thread_rank(); i < len; i += grid.size()) x[i] /= *total;
}
