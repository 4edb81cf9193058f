//! Claim:   C12
//! Misuse:  load PTX that is known only when the program runs, without saying where it came from
//! In C:    any text goes to the driver's compiler, which crashes over some (measured)
//! Real:    none known
//! rustc:   E0435
//! Reads:   `ptx!` takes constants of the program; this text may come from anywhere
//! Fix:     `unsafe { Ptx::from_compiler(text) }`, which promises that a compiler wrote it

use scoped_cuda::{Context, Module, Ptx, Result, ptx};

fn f<'gpu>(ctx: Context<'gpu>, text: &'static str) -> Result<Module<'gpu>> {
    let ptx: Ptx<'_> = ptx!(text); // <-
    ctx.load_ptx(ptx)
}

fn main() {}
