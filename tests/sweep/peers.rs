//! Several devices: memory of one in kernels of another, two scopes of one context, rows between
//! contexts.

#![allow(unsafe_code)] // launches

use crate::Program;
use crate::common::PTX;
use scoped_cuda::{Driver, Extent, In, InOut, LaunchConfig, Result, Transfer, scope};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[("several contexts", several_contexts)];

/// Contexts of several devices, memory of one in kernels of the other, and two scopes of one
/// context.
fn several_contexts(driver: Driver) -> Result<()> {
    driver.with_three_devices([0, 1, 0], |a, b, again| {
        let transfer = Transfer::direct(a, b)?;
        let (stream, other) = (b.new_stream()?, b.new_stream()?);
        let add = b
            .load_ptx(PTX)?
            .kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let config = LaunchConfig::for_elements(2);
        let (mut far, mut near) = (a.upload(&[1u32, 2])?, b.zeros::<u32>(2)?);
        let there = transfer.peer_slice(&far)?;
        stream.scope(|s| {
            let mut near = near.lend(s);
            // SAFETY: `add` reads and updates two elements, and there are two.
            unsafe { s.launch(&add, config, (there, &mut near, 2)) }
        })?;
        let there = transfer.peer_slice_mut(&mut far)?;
        scope(|scope| {
            scope.on(&stream, |s| {
                scope.on(&other, |o| {
                    let mut there = there.lend(s);
                    // SAFETY: as above.
                    unsafe { s.launch(&add, config, (&near, &mut there, 2)) }?;
                    let there = there.hand_over(s, o)?;
                    let mut there = there.release(o)?.lend(o);
                    // SAFETY: as above.
                    unsafe { o.launch(&add, config, (&near, &mut there, 2)) }
                })
            })
        })?;
        assert_eq!(far.to_vec()?, [3, 6]);

        let same = again.same_context(a)?;
        same.slice_of_mut(&mut far).write(&[8, 9])?;
        again.zeros::<u32>(2)?.copy_from(&same.slice_of(&far))?;

        let image = a.upload_rows(&[1u8, 2, 3, 4], Extent::new(2, 2))?;
        let mut arrived = b.zeros_rows::<u8>(Extent::new(2, 1))?;
        transfer.copy_rows(&image.region(.., 1.., ..)?, &mut arrived)?;
        assert_eq!(arrived.to_vec()?, [3, 4]);
        let (sender, mut image) = (a.new_stream()?, image);
        // Memory of the host is lent while both devices work.
        let mut host = [0u32; 2];
        scope(|scope| {
            scope.on(&sender, |on_a| {
                scope.on(&stream, |on_b| {
                    let image = image.lend(on_a);
                    let mut arrived = arrived.lend(on_b);
                    let first = image.region(.., ..1, ..)?;
                    transfer.enqueue_rows(on_a, &first, on_b, &mut arrived)?;
                    on_b.read(&near, &mut host)
                })
            })
        })?;
        assert_eq!(arrived.to_vec()?, [1, 2]);
        assert_eq!(host, [1, 2]);
        Ok(())
    })
}
