//! Twin of `fail/declared/arguments_of_a_declared_kernel_in_the_wrong_order.rs`.

use scoped_cuda::{Buffer, In, InOut, LaunchConfig, Result, Stream, kernels};

kernels! {
    struct Saxpy<'ctx>;
    extern "../../declared.ptx" {
        unsafe fn saxpy(x: In<f32>, y: InOut<f32>, a: f32, n: u32);
    }
}

type Memory<'g> = Buffer<'g, f32>;

fn f<'g>(stream: &Stream<'g>, saxpy: &Saxpy<'g>, x: &Memory<'g>, y: &mut Memory<'g>) -> Result<()> {
    stream.scope(|s| {
        let (n, mut y) = (LaunchConfig::for_elements(3), y.lend(s));
        // SAFETY: the kernel does nothing.
        unsafe { saxpy.saxpy(s, n, x, &mut y, 2.0, 3) }
    })
}
