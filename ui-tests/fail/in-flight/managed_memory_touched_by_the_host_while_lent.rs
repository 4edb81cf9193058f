//! Claim:   C6
//! Misuse:  touch managed memory on the host in a scope in which a stream has it
//! In C:    a segmentation fault where the device lacks concurrent managed access, a race elsewhere
//! Real:    B138, NVIDIA/cuda-python#1607
//! rustc:   E0502
//! Reads:   `lend_managed` borrows `managed` mutably until the end of the scope, `'1`
//! Fix:     touch it after the scope

use scoped_cuda::{ManagedBuffer, Result, Stream};

fn f<'gpu>(stream: &Stream<'gpu>, mut managed: ManagedBuffer<'gpu, u32>) -> Result<()> {
    stream.scope(|s| {
        let mut on_device = managed.lend(s);
        s.fill(&mut on_device, 7)?;
        println!("{:?}", managed.as_slice()?); // <-
        Ok(())
    })
}

fn main() {}
