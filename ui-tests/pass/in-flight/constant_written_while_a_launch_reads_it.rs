//! Twin of `fail/in-flight/constant_written_while_a_launch_reads_it.rs`.

use scoped_cuda::{Buffer, Global, InOut, LaunchConfig, Result, SafeKernel, Stream};

type Weigh<'gpu> = SafeKernel<'gpu, (InOut<f32>,), Global<'gpu, f32>>;

fn f<'gpu>(
    stream: &Stream<'gpu>,
    weigh: &mut Weigh<'gpu>,
    x: &mut Buffer<'gpu, f32>,
) -> Result<()> {
    stream.scope(|s| {
        let config = LaunchConfig::for_elements(x.len());
        weigh.launch(s, config, (&mut x.lend(s),))
    })?;
    weigh.variables_mut().write(&[1.0; 4])
}
