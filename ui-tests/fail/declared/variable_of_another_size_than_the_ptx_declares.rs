//! Claim:   C9
//! Misuse:  declare a variable with fewer elements than it has
//! In C:    a copy to it writes a part, or behind its end
//! Real:    none known
//! rustc:   variable `table`: the PTX declares `SizeInBytes<64>`, and `[f32; 8]` is not that
//! Reads:   the variable has 64 bytes, eight floats have 32
//! Fix:     as many elements as the variable has

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        static table: [f32; 8]; // <-
    }
}

fn main() {}
