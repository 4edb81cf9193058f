//! Devices, and what contexts of two do together.

use crate::Program;
use scoped_cuda::{Context, Driver, Result, Transfer, scope};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("devices", devices),
    ("transfers", |driver| {
        driver.with_device(0, |a| driver.with_device(1, |b| transfers(a, b)))
    }),
    ("events of two contexts", |driver| {
        driver.with_device(0, |a| driver.with_device(1, |b| events_of_two(a, b)))
    }),
];

fn devices(driver: Driver) -> Result<()> {
    for device in driver.devices()? {
        device.name()?;
        device.uuid()?;
        device.compute_capability()?;
        device.total_memory_bytes()?;
        device.pci_bus_id()?;
    }
    let (first, second) = (driver.device(0)?, driver.device(1)?);
    first.can_access(second)?;
    first.peer_performance_rank(second)?;
    first.peer_atomics(second).map(drop)
}

fn transfers(a: Context<'_>, b: Context<'_>) -> Result<()> {
    let source = a.upload(&[1u8, 2, 3])?;
    let mut destination = b.zeros::<u8>(3)?;
    let mut back = a.zeros::<u8>(3)?;
    Transfer::staged(a, b)?.verify()?;
    Transfer::staged(a, b)?.copy(&source, &mut destination)?;
    Transfer::direct(b, a)?.copy(&destination, &mut back)?;
    assert_eq!(back.to_vec()?, [1, 2, 3]);
    let (of_a, of_b) = (a.new_stream()?, b.new_stream()?);
    let home = b.transfer_to(a)?;
    scope(|scope| {
        scope.on(&of_a, |on_a| {
            scope.on(&of_b, |on_b| {
                let mut destination = destination.lend(on_b);
                on_b.fill(&mut destination, 4)?;
                home.enqueue(on_b, &destination, on_a, &mut back.lend(on_a))
            })
        })
    })?;
    assert_eq!(back.to_vec()?, [4; 3]);
    Ok(())
}

fn events_of_two(a: Context<'_>, b: Context<'_>) -> Result<()> {
    let (of_a, of_b, event) = (a.new_stream()?, b.new_stream()?, a.new_event()?);
    scope(|scope| {
        scope.on(&of_a, |s| s.record(&event))?;
        scope.on(&of_b, |s| s.wait(&event))
    })
}
