// y = a * x + y, the kernel of examples/quickstart.rs. saxpy.ptx is the same, written by hand.
extern "C" __global__ void saxpy(const float *x, float *y, float a, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}
