//! Claim:   C12
//! Misuse:  give a kernel that expects rows a pitch apart a buffer, whose elements follow each other
//! In C:    both are pointers: the kernel reads at the wrong places, or past the end
//! Real:    none known
//! rustc:   is not an argument for a kernel parameter `In<Rows<f32>>`
//! Reads:   `In<Rows<f32>>` takes a `PitchedBuffer`, or a part of one
//! Fix:     `upload_rows`; or declare the parameter as `In<f32>`, if the kernel takes a pitch of exactly one row

use scoped_cuda::{Buffer, In, Kernel, LaunchConfig, PitchedBuffer, Result, Rows, Stream};

fn f<'gpu>(
    stream: &Stream<'gpu>,
    kernel: &Kernel<'gpu, (In<Rows<f32>>, u64)>,
    (image, buffer): (&PitchedBuffer<'gpu, f32>, &Buffer<'gpu, f32>),
) -> Result<()> {
    println!("{image:?}, {buffer:?}");
    let config = LaunchConfig::for_elements(2);
    // SAFETY: an example of types, not of a kernel.
    stream.scope(|s| unsafe { s.launch(kernel, config, (buffer, 512)) }) // <-
}

fn main() {}
