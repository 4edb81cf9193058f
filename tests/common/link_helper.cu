// What link_helper.ptx says, for the binaries that tests/linker.rs links.
extern "C" __device__ unsigned helper(unsigned x) {
    return 2 * x + 2;
}
