//! Code in a stream: kernels and host functions.

#![allow(unsafe_code)] // launches

use crate::Program;
use crate::common::{PTX, launches};
use scoped_cuda::kernel::{CachePreference, Carveout};
use scoped_cuda::{Context, In, InOut, LaunchConfig, Out, Result, SharedBytes, WithLen};
use std::sync::Arc;

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("kernels", |driver| driver.with_device(0, kernels)),
    ("safe kernels", |driver| driver.with_device(0, safe_kernels)),
    ("special launches", |driver| {
        driver.with_device(0, special_launches)
    }),
    ("attributes and occupancy", |driver| {
        driver.with_device(0, attributes_and_occupancy)
    }),
    ("graphs", |driver| driver.with_device(0, graphs)),
    ("host functions", |driver| {
        driver.with_device(0, host_functions)
    }),
];

fn graphs(ctx: Context<'_>) -> Result<()> {
    let add = ctx
        .load_ptx(PTX)?
        .kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
    let memory = (
        ctx.pinned_from(&[1u32; 4])?,
        ctx.zeros::<u32>(4)?,
        ctx.zeros::<u32>(4)?,
    );
    let config = LaunchConfig::for_elements(4);
    let (mut graph, (node, fill)) = ctx.graph(memory, |g, (mut host, mut x, mut y)| {
        g.write(&host, &mut x)?;
        let fill = g.fill(&mut y, 1)?;
        // SAFETY: `add` stays below 4, which both have.
        let node = unsafe { g.launch(&add, config, (&x, &mut y, 4)) }?;
        g.join(&[fill, node.node()])?;
        g.copy(&y, &mut x)?;
        g.read(&x, &mut host)?;
        Ok((node, fill))
    })?;
    let stream = ctx.new_stream()?;
    stream.scope(|s| {
        let mut graph = graph.lend(s);
        graph.upload(s)?;
        graph.launch(s)
    })?;
    assert_eq!(graph.memory_mut().0, [2; 4]);
    graph.change(|change, (_, x, mut y)| {
        // SAFETY: as above.
        unsafe { change.launch(node, &add, config, (&x, &mut y, 3)) }
    })?;
    graph.set_enabled(fill, false)?;
    assert!(!graph.is_enabled(fill)?);
    stream.scope(|s| graph.lend(s).launch(s))?;
    let (_, x, y) = graph.into_memory();
    assert_eq!(
        (x.to_vec()?, y.to_vec()?),
        (vec![4, 4, 4, 2], vec![4, 4, 4, 2])
    );
    Ok(())
}

fn kernels(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(PTX)?;
    module.parameters("add")?;
    let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
    drop(module);
    let stream = ctx.new_stream()?;
    let x = ctx.filled(4, 1u32)?;
    let mut y = ctx.filled(4, 2u32)?;
    stream.scope(|s| {
        let mut y = y.lend(s);
        // SAFETY: `add` stays below 4, which both have.
        unsafe { s.launch(&add, LaunchConfig::for_elements(4), (&x, &mut y, 4)) }
    })?;
    assert_eq!(y.to_vec()?, [3; 4]);
    Ok(())
}

fn safe_kernels(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(PTX)?;
    let weights = module.global::<f32>("weights", 4)?;
    let weigh = module.kernel::<(InOut<f32>, u32)>("weigh")?;
    // SAFETY: x[i] *= weights[i % 4] for i below n only.
    let mut weigh = unsafe {
        weigh.assert_safe_when_reading(
            weights,
            [("n is at most the length of x", |_, (x, n)| n as usize <= x)],
        )
    };
    weigh.variables_mut().write(&[2.0; 4])?;
    let (stream, mut x) = (ctx.new_stream()?, ctx.filled(4, 3.0f32)?);
    stream.scope(|s| {
        let mut x = x.lend(s);
        weigh.launch(s, LaunchConfig::for_elements(4), (&mut x, 4))
    })?;
    assert_eq!(x.to_vec()?, [6.0; 4]);
    Ok(())
}

fn special_launches(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(launches::PTX)?;
    let fill = module.kernel::<(WithLen<Out<f32>, u32>, f32)>("fill_counted")?;
    let shared = module.kernel::<(SharedBytes, Out<u32>)>("shared_bytes")?;
    shared.set_max_dynamic_shared_bytes(60_000)?;
    let (stream, mut x, mut told) = (ctx.new_stream()?, ctx.zeros(4)?, ctx.zeros::<u32>(2)?);
    let urgent = *ctx.stream_priorities()?.start();
    let shape = LaunchConfig::new([2, 1, 1], [32, 1, 1]);
    stream.scope(|s| {
        let (mut x, mut told) = (x.lend(s), told.lend(s));
        let configs = [
            shape.cooperative(),
            shape.cluster([2, 1, 1]),
            shape.cluster([2, 1, 1]).cooperative(),
            shape.priority(urgent).overlapping_previous(),
        ];
        for config in configs {
            // SAFETY: it writes as many elements as it is told; what comes ahead of it writes the
            // same.
            unsafe { s.launch(&fill, config, (&mut x, 5.0)) }?;
        }
        // SAFETY: it writes two elements, and the last word of its shared memory.
        unsafe {
            s.launch(
                &shared,
                shape.dynamic_shared_bytes(60_000),
                (SharedBytes, &mut told),
            )
        }
    })?;
    assert_eq!(x.to_vec()?, [5.0; 4]);
    assert_eq!(told.to_vec()?, [60_000; 2]);
    Ok(())
}

fn attributes_and_occupancy(ctx: Context<'_>) -> Result<()> {
    let module = ctx.load_ptx(launches::PTX)?;
    let kernel = module.kernel::<(Out<u32>,)>("clusters")?;
    kernel.set_carveout(Carveout::Percent(100))?;
    kernel.set_cache_preference(CachePreference::Shared)?;
    kernel.allow_large_clusters(true)?;
    kernel.attributes()?;
    kernel.best_block(0)?;
    kernel.active_clusters(LaunchConfig::new([64, 1, 1], [64, 1, 1]).cluster([16, 1, 1]))?;
    Ok(())
}

/// B152: whether it was called, refused or given up, a host function is dropped, before its scope
/// returns.
fn host_functions(ctx: Context<'_>) -> Result<()> {
    let stream = ctx.new_stream()?;
    let mut buffer = ctx.zeros::<u32>(4)?;
    let held = Arc::new(());
    let result = stream.scope(|s| {
        let mut lent = buffer.lend(s);
        for i in 0..3 {
            s.fill(&mut lent, i)?;
            let held = Arc::clone(&held);
            s.host(move || drop(held))?;
        }
        Ok(())
    });
    assert_eq!(Arc::strong_count(&held), 1);
    result
}
