//! Twin of `fail/graph/pageable_memory_copied_by_a_graph.rs`.

use scoped_cuda::{Context, Result};

fn f(gpu: Context<'_>) -> Result<()> {
    let memory = (gpu.zeros::<f32>(2)?, gpu.pinned_from(&[1.0f32, 2.0])?);
    gpu.graph(memory, |g, (mut x, _pinned)| g.write(&_pinned, &mut x))?;
    Ok(())
}
