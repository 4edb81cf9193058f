//! Twin of `fail/types/host_memory_copied_as_device_memory.rs`.

use scoped_cuda::{Buffer, Result};

fn f(buffer: &mut Buffer<'_, f32>, host: Vec<f32>) -> Result<()> {
    buffer.write(&host)
}
