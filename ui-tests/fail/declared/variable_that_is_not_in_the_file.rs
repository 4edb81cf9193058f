//! Claim:   C9
//! Misuse:  declare a variable whose name is misspelt
//! In C:    `cuModuleGetGlobal` fails when the program runs
//! Real:    none known
//! rustc:   has no variable `tabel`; its variables: `table`, `count`
//! Reads:   the file has no such variable; the names of those that it has follow
//! Fix:     write the name of one of them

use scoped_cuda::kernels;

kernels! {
    struct Kernels<'ctx>;
    extern "../../declared.ptx" {
        static tabel: [f32; 16]; // <-
    }
}

fn main() {}
