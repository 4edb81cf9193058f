//! What allocates nothing once it has run: counted on a driver whose calls return at once.

#![allow(unsafe_code, dead_code)] // a driver of its own, a global allocator

#[path = "../benches/overhead/allocations.rs"]
mod allocations;
#[path = "../benches/overhead/null.rs"]
mod null;

use scoped_cuda::{Result, scope};

/// Runs `work` until what is made once is there, and then counts.
#[track_caller]
fn allocates_nothing(what: &str, mut work: impl FnMut() -> Result<()>) {
    for _ in 0..3 {
        work().unwrap();
    }
    let before = allocations::count();
    for _ in 0..10 {
        work().unwrap();
    }
    assert_eq!(allocations::count() - before, 0, "{what}");
}

#[test]
fn the_counter_counts() {
    let before = allocations::count();
    drop(std::hint::black_box(Box::new(7)));
    assert_eq!(allocations::count() - before, 1);
}

#[test]
fn the_steady_state_allocates_nothing() {
    null::driver()
        .unwrap()
        .with_device(0, |ctx| {
            let streams = [ctx.new_stream()?, ctx.new_stream()?, ctx.new_stream()?];
            let [first, second, third] = &streams;
            let (mut x, mut y) = (ctx.zeros::<u32>(4)?, ctx.zeros::<u32>(4)?);
            let (event, mut host) = (ctx.new_event()?, [0u32; 4]);
            allocates_nothing("a scope", || {
                first.scope(|s| {
                    let mut x = x.lend(s);
                    s.write(&[1; 4], &mut x)?;
                    s.fill(&mut x, 7)?;
                    s.read(&x, &mut host)
                })
            });
            allocates_nothing("a scope over several streams", || {
                scope(|scope| {
                    scope.on(first, |a| {
                        scope.on(second, |b| {
                            let mut x = x.lend(a);
                            a.fill(&mut x, 1)?;
                            let x = x.hand_over(a, b)?;
                            b.copy(&x, &mut y.lend(b))
                        })
                    })?;
                    scope.on(third, |c| c.record(&event))
                })
            });
            allocates_nothing("an event", || {
                first.scope(|s| s.record(&event))?;
                second.scope(|s| s.wait(&event))?;
                event.is_complete().map(drop)
            });
            allocates_nothing("memory", || ctx.zeros::<u8>(100).map(drop));
            let mut owned = Some((ctx.zeros::<u32>(4)?, ctx.zeros::<u32>(4)?));
            allocates_nothing("owned work", || {
                let work = first.submit(owned.take().unwrap(), |s, (x, y)| {
                    let mut x = x.lend(s);
                    s.fill(&mut x, 1)?;
                    s.copy(&x, &mut y.lend(s))
                })?;
                owned = Some(work.wait()?);
                Ok(())
            });
            let mut owned = Some((streams, ctx.zeros::<u32>(4)?));
            allocates_nothing("owned work of several streams", || {
                let work = ctx.submit(owned.take().unwrap(), |scope, ([a, b, _], x)| {
                    scope.on(a, |a| {
                        let mut x = x.lend(a);
                        a.fill(&mut x, 1)?;
                        scope.on(b, |b| b.fill(&mut x.hand_over(a, b)?, 2))
                    })
                })?;
                owned = Some(work.wait()?);
                Ok(())
            });
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_owned_context_is_entered_without_the_heap() {
    let gpu = null::driver().unwrap().retain(0).unwrap();
    allocates_nothing("with", || gpu.with(|_| Ok(())));
    let buffer = gpu
        .with(|ctx| Ok(ctx.detach(ctx.zeros::<u32>(4)?)))
        .unwrap();
    allocates_nothing("a detached value", || {
        buffer.with(|_, buffer| {
            assert_eq!(buffer.len(), 4);
            Ok(())
        })
    });
}
