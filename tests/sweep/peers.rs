//! Several devices: memory of one in kernels of another, two scopes of one context, rows between contexts.

#![allow(unsafe_code)] // launches

use crate::Program;
use crate::common::PTX;
use scoped_cuda::{Driver, Extent, In, InOut, LaunchConfig, Result, Transfer, scope};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[("several contexts", several_contexts)];

/// Contexts of several devices, memory of one in kernels of the other, and two scopes of one context.
fn several_contexts(driver: Driver) -> Result<()> {
    driver.with_three_devices([0, 1, 0], |a, b, again| {
        let transfer = Transfer::direct(a, b)?;
        let (stream, other) = (b.stream()?, b.stream()?);
        let add = b
            .load_ptx(PTX)?
            .kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let config = LaunchConfig::for_elements(2);
        let (mut far, mut near) = (a.upload(&[1u32, 2])?, b.zeros::<u32>(2)?);
        let there = transfer.reach(&far)?;
        stream.scope(|s| {
            let mut near = s.lend(&mut near);
            // SAFETY: `add` reads and updates two elements, and there are two.
            unsafe { s.launch(&add, config, (there, &mut near, 2)) }
        })?;
        let there = transfer.reach_mut(&mut far)?;
        scope(|scope| {
            scope.on(&stream, |s| {
                scope.on(&other, |o| {
                    let mut there = s.lend_peer(there);
                    // SAFETY: as above.
                    unsafe { s.launch(&add, config, (&near, &mut there, 2)) }?;
                    let there = o.take(s, there)?;
                    let mut there = o.lend_peer(o.finish(there)?);
                    // SAFETY: as above.
                    unsafe { o.launch(&add, config, (&near, &mut there, 2)) }
                })
            })
        })?;
        assert_eq!(far.to_vec()?, [3, 6]);

        let same = again.same_context(a)?;
        same.buffer_mut(&mut far).write(&[8, 9])?;
        again.zeros::<u32>(2)?.copy_from(&same.buffer(&far))?;

        let image = a.upload_pitched(&[1u8, 2, 3, 4], Extent::new(2, 2))?;
        let mut arrived = b.pitched_zeros::<u8>(Extent::new(2, 1))?;
        transfer.copy_rows(&image.region(.., 1.., ..)?, &mut arrived)?;
        assert_eq!(arrived.to_vec()?, [3, 4]);
        let (sender, mut image) = (a.stream()?, image);
        scope(|scope| {
            scope.on(&sender, |on_a| {
                scope.on(&stream, |on_b| {
                    let image = on_a.lend_pitched(&mut image);
                    let mut arrived = on_b.lend_pitched(&mut arrived);
                    let first = image.region(.., ..1, ..)?;
                    transfer.enqueue_rows(on_a, &first, on_b, &mut arrived)
                })
            })
        })?;
        assert_eq!(arrived.to_vec()?, [1, 2]);
        Ok(())
    })
}
