//! Graphs: found dependencies, memory that the graph owns, launches, changes. Claims C5, C6, C11.

#![allow(unsafe_code)] // vouches for kernels

use crate::common::{PTX, in_context, on_driver, simulated};
use scoped_cuda::sim::{Live, Simulation};
use scoped_cuda::{Context, Error, In, InOut, LaunchConfig, Result, SafeKernel};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};

type Add = (In<u32>, InOut<u32>, u32);

/// `y[i] += x[i]` for i below n.
fn add<'ctx>(ctx: Context<'ctx>) -> Result<SafeKernel<'ctx, Add>> {
    let add = ctx.load_ptx(PTX)?.kernel::<Add>("add")?;
    // SAFETY: y[i] += x[i] for i below n only, whatever the grid.
    Ok(unsafe {
        add.assert_safe_when([
            ("n is at most the length of x", |_, (x, _, n)| {
                n as usize <= x
            }),
            ("n is at most the length of y", |_, (_, y, n)| {
                n as usize <= y
            }),
        ])
    })
}

const THREE: LaunchConfig = LaunchConfig::for_elements(3);

#[test]
fn a_graph_does_at_each_launch_what_its_nodes_say_and_gives_its_memory_back() {
    in_context(|ctx| {
        let memory = (ctx.upload(&[1u32, 2, 3])?, ctx.zeros::<u32>(3)?);
        let (mut graph, _) = {
            // Kernel and module are gone before the first launch.
            let add = add(ctx)?;
            ctx.graph(memory, |g, (x, mut y)| {
                add.launch_in(g, THREE, (&x, &mut y, 3))
            })?
        };
        let stream = ctx.new_stream()?;
        stream.scope(|s| {
            let mut graph = graph.lend(s);
            graph.upload(s)?;
            graph.launch(s)?;
            graph.launch(s)
        })?;
        let (x, y) = graph.into_memory();
        assert_eq!((x.to_vec()?, y.to_vec()?), (vec![1, 2, 3], vec![2, 4, 6]));
        Ok(())
    });
}

#[test]
fn edges_are_those_that_memory_needs_and_each_has_its_reason() {
    in_context(|ctx| {
        let memory = [ctx.zeros::<u32>(4)?, ctx.zeros::<u32>(4)?];
        let (graph, ()) = ctx.graph(memory, |g, [mut a, mut b]| {
            g.fill(&mut a, 1)?; // 0
            g.fill(&mut b.slice_mut(..2)?, 2)?; // 1
            g.fill(&mut b.slice_mut(2..)?, 3)?; // 2
            g.copy(&a, &mut b)?; // 3, after 0, 1 and 2
            let last = g.fill(&mut a, 4)?; // 4, after 3
            g.join(&[last])?; // 5, after 4
            Ok(())
        })?;
        assert_eq!((graph.len(), graph.edges()), (6, 5));
        let dot = graph.dot();
        for line in [
            "n0 [label=\"0: fill\"];",
            "n0 -> n3 [label=\"reads 16 bytes at 0x",
            "n1 -> n3 [label=\"writes 8 bytes at 0x",
            "n3 -> n4 [label=\"writes 16 bytes at 0x",
            "n4 -> n5 [label=\"told\"];",
        ] {
            assert!(dot.contains(line), "{line}\n{dot}");
        }
        Ok(())
    });
}

/// One step of a random program over 16 elements in each of three buffers.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: u64,
    from: usize,
    to: usize,
    start: usize,
    len: usize,
    value: u32,
}

impl Step {
    fn on_host(self, memory: &mut [Vec<u32>; 3]) {
        let range = self.start..self.start + self.len;
        let source = memory[self.from][range.clone()].to_vec();
        let destination = &mut memory[self.to][range];
        match self.kind {
            0 => destination.fill(self.value),
            1 => destination.copy_from_slice(&source),
            _ => (destination.iter_mut().zip(source)).for_each(|(y, x)| *y = y.wrapping_add(x)),
        }
    }
}

#[test]
fn every_order_that_the_edges_allow_gives_the_result_of_program_order() {
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    on_driver(|driver| {
        let machine = driver.machine();
        driver.with_device(0, |ctx| {
            let (add, stream) = (add(ctx)?, ctx.new_stream()?);
            for _ in 0..40 {
                let program: Vec<Step> = (0..12)
                    .map(|_| {
                        let (from, start) = (random(3) as usize, random(16) as usize);
                        Step {
                            kind: random(3),
                            from,
                            to: (from + 1 + random(2) as usize) % 3,
                            start,
                            len: 1 + random(16 - start as u64) as usize,
                            value: random(1000) as u32,
                        }
                    })
                    .collect();
                let mut expected = [0, 1, 2].map(|value| vec![value; 16]);
                let mut memory = Vec::new();
                for host in &expected {
                    memory.push(ctx.upload(host)?);
                }
                let (mut graph, ()) = ctx.graph(memory, |g, mut memory| {
                    for step in &program {
                        let range = step.start..step.start + step.len;
                        let [from, to] = memory
                            .get_disjoint_mut([step.from, step.to])
                            .expect("two buffers");
                        let (from, mut to) = (from.slice(range.clone())?, to.slice_mut(range)?);
                        let len = step.len as u32;
                        match step.kind {
                            0 => drop(g.fill(&mut to, step.value)?),
                            1 => drop(g.copy(&from, &mut to)?),
                            _ => {
                                let config = LaunchConfig::for_elements(step.len);
                                add.launch_in(g, config, (&from, &mut to, len))?;
                            }
                        }
                    }
                    Ok(())
                })?;
                for order in 0..6 {
                    if let Some(machine) = &machine {
                        machine.order_graphs((order > 0).then_some(order));
                    }
                    program.iter().for_each(|step| step.on_host(&mut expected));
                    stream.scope(|s| graph.lend(s).launch(s))?;
                    for (buffer, expected) in graph.memory_mut().iter().zip(&expected) {
                        let found = buffer.as_slice().to_vec()?;
                        assert_eq!(&found, expected, "order {order} of {program:?}");
                    }
                }
            }
            Ok(())
        })
    });
}

#[test]
fn nodes_that_need_not_wait_for_each_other_run_at_the_same_time() {
    let driver = simulated(Simulation::default());
    let meeting = Arc::new(Barrier::new(2));
    driver.machine().unwrap().kernel("add", move |_| {
        // Ends only when the other one has begun.
        meeting.wait();
    });
    let result = driver.with_device(0, |ctx| {
        let memory = [(); 4].map(|()| ctx.zeros::<u32>(3));
        let [a, b, c, d] = memory;
        let add = add(ctx)?;
        let memory = ((a?, b?), (c?, d?));
        let (mut graph, _) = ctx.graph(memory, |g, ((a, mut b), (c, mut d))| {
            add.launch_in(g, THREE, (&a, &mut b, 3))?;
            add.launch_in(g, THREE, (&c, &mut d, 3))
        })?;
        assert_eq!(graph.edges(), 0);
        ctx.new_stream()?.scope(|s| graph.lend(s).launch(s))
    });
    assert_eq!(result, Ok(()));
}

#[test]
fn host_memory_of_a_graph_is_copied_at_each_launch() {
    in_context(|ctx| {
        let memory = (
            ctx.pinned_from(&[1u32, 2, 3])?,
            ctx.zeros::<u32>(3)?,
            ctx.pinned_zeros::<u32>(3)?,
        );
        let (mut graph, _) = ctx.graph(memory, |g, (from, mut device, mut to)| {
            g.write(&from, &mut device)?;
            g.read(&device, &mut to)
        })?;
        let stream = ctx.new_stream()?;
        stream.scope(|s| graph.lend(s).launch(s))?;
        let (from, _, to) = graph.memory_mut();
        assert_eq!(to, [1, 2, 3]);
        from.copy_from_slice(&[4, 5, 6]);
        stream.scope(|s| graph.lend(s).launch(s))?;
        assert_eq!(graph.memory_mut().2, [4, 5, 6]);
        Ok(())
    });
}

#[test]
fn a_changed_node_is_checked_as_a_launch_is() {
    in_context(|ctx| {
        let (add, stream) = (add(ctx)?, ctx.new_stream()?);
        let memory = (ctx.upload(&[1u32, 2, 3])?, ctx.zeros::<u32>(3)?);
        let (mut graph, node) = ctx.graph(memory, |g, (x, mut y)| {
            add.launch_in(g, THREE, (&x, &mut y, 3))
        })?;
        let long =
            graph.change(|change, (x, mut y)| add.change_in(change, node, THREE, (&x, &mut y, 4)));
        assert!(matches!(long, Err(Error::Precondition { .. })), "{long:?}");
        // The edges are for a node that reads x and writes y.
        let swapped =
            graph.change(|change, (mut x, y)| add.change_in(change, node, THREE, (&y, &mut x, 3)));
        let problem = "the node would touch memory that it did not touch when the graph was built";
        assert_eq!(swapped, Err(Error::Graph { problem }));
        graph.change(|change, (x, mut y)| {
            let (x, mut y) = (x.slice(1..)?, y.slice_mut(..2)?);
            add.change_in(change, node, LaunchConfig::for_elements(2), (&x, &mut y, 2))
        })?;
        stream.scope(|s| graph.lend(s).launch(s))?;
        assert_eq!(graph.into_memory().1.to_vec()?, [2, 3, 0]);
        Ok(())
    });
}

#[test]
fn a_node_can_be_switched_off_and_on() {
    in_context(|ctx| {
        let (mut graph, [first, second]) = ctx.graph(ctx.zeros::<u32>(2)?, |g, mut x| {
            Ok([g.fill(&mut x, 1)?, g.fill(&mut x.slice_mut(1..)?, 2)?])
        })?;
        let stream = ctx.new_stream()?;
        graph.set_enabled(second, false)?;
        assert_eq!(
            (graph.is_enabled(first)?, graph.is_enabled(second)?),
            (true, false)
        );
        stream.scope(|s| graph.lend(s).launch(s))?;
        assert_eq!(graph.memory_mut().as_slice().to_vec()?, [1, 1]);
        graph.set_enabled(second, true)?;
        stream.scope(|s| graph.lend(s).launch(s))?;
        assert_eq!(graph.memory_mut().as_slice().to_vec()?, [1, 2]);
        Ok(())
    });
}

#[test]
fn nodes_of_another_graph_are_refused() {
    in_context(|ctx| {
        let one = || ctx.graph(ctx.zeros::<u32>(2)?, |g, mut x| g.fill(&mut x, 1));
        let ((mut graph, _), (_other, foreign)) = (one()?, one()?);
        let problem = "the node is one of another graph";
        assert_eq!(
            graph.set_enabled(foreign, false),
            Err(Error::Graph { problem })
        );
        let problem = "a node is to wait for a node of another graph";
        let built = ctx.graph(ctx.zeros::<u32>(2)?, |g, mut x| {
            g.after(foreign).fill(&mut x, 1)
        });
        assert_eq!(built.map(drop), Err(Error::Graph { problem }));
        Ok(())
    });
}

#[test]
fn a_graph_is_handed_over_to_another_stream_like_memory() {
    in_context(|ctx| {
        let memory = (ctx.upload(&[1u32, 2, 3])?, ctx.zeros::<u32>(3)?);
        let add = add(ctx)?;
        let (mut graph, _) = ctx.graph(memory, |g, (x, mut y)| {
            add.launch_in(g, THREE, (&x, &mut y, 3))
        })?;
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        scoped_cuda::scope(|scope| {
            scope.on(&first, |a| {
                let mut graph = graph.lend(a);
                graph.launch(a)?;
                scope.on(&second, |b| graph.hand_over(a, b)?.launch(b))
            })
        })?;
        assert_eq!(graph.into_memory().1.to_vec()?, [2, 4, 6]);
        Ok(())
    });
}

#[test]
fn empty_graphs_and_empty_problems_launch() {
    in_context(|ctx| {
        let add = add(ctx)?;
        let memory = (ctx.zeros::<u32>(0)?, ctx.zeros::<u32>(0)?);
        let (mut graph, node) = ctx.graph(memory, |g, (x, mut y)| {
            g.fill(&mut y, 1)?;
            g.copy(&x, &mut y)?;
            add.launch_in(g, LaunchConfig::for_elements(0), (&x, &mut y, 0))
        })?;
        let (mut empty, ()) = ctx.graph((), |_, ()| Ok(()))?;
        assert_eq!((graph.len(), graph.edges(), empty.is_empty()), (3, 0, true));
        let problem = "the node does nothing: it was made for an empty problem or to join others";
        assert_eq!(
            graph.set_enabled(node, false),
            Err(Error::Graph { problem })
        );
        ctx.new_stream()?.scope(|s| {
            graph.lend(s).launch(s)?;
            empty.lend(s).launch(s)
        })
    });
}

#[test]
fn what_is_more_than_a_grid_is_refused() {
    in_context(|ctx| {
        let (add, memory) = (add(ctx)?, (ctx.zeros::<u32>(3)?, ctx.zeros::<u32>(3)?));
        let built = ctx.graph(memory, |g, (x, mut y)| {
            add.launch_in(g, THREE.cooperative(), (&x, &mut y, 3))
        });
        assert!(matches!(built.map(drop), Err(Error::Graph { .. })));
        Ok(())
    });
}

#[test]
fn a_graph_that_was_not_finished_gives_everything_back() {
    let driver = simulated(Simulation::default());
    let result = driver.with_device(0, |ctx| {
        let failed = ctx.graph(ctx.zeros::<u32>(3)?, |g, mut x| {
            g.fill(&mut x, 1)?;
            Err::<(), _>(Error::NoDevice)
        });
        assert_eq!(failed.map(drop), Err(Error::NoDevice));
        let memory = ctx.zeros::<u32>(3)?;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            ctx.graph(memory, |g, mut x| -> Result<()> {
                g.fill(&mut x, 1)?;
                panic!("on purpose")
            })
            .map(drop)
        }));
        assert!(panicked.is_err());
        let live = driver.machine().unwrap().live();
        assert_eq!((live.graphs, live.graph_execs, live.allocations), (0, 0, 0));
        Ok(())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(driver.machine().unwrap().live(), Live::default());
    assert_eq!(driver.take_teardown_errors(), []);
}

#[test]
fn a_launch_makes_one_call_and_waits_for_nothing() {
    let driver = simulated(Simulation::default());
    let machine = driver.machine().unwrap();
    let result = driver.with_device(0, |ctx| {
        let (mut graph, _) = ctx.graph(ctx.zeros::<u32>(3)?, |g, mut x| g.fill(&mut x, 1))?;
        let stream = ctx.new_stream()?;
        let paused = machine.pause();
        stream.scope(|s| {
            let mut graph = graph.lend(s);
            machine.clear_trace();
            graph.launch(s)?;
            graph.launch(s)?;
            let expected = ["cuCtxGetCurrent", "cuGraphLaunch"].repeat(2);
            assert_eq!(machine.trace(), expected);
            drop(paused);
            Ok(())
        })
    });
    assert_eq!(result, Ok(()));
}

/// Owned work: the graph is submitted, detached, awaited in another entry, and launched again.
#[test]
fn a_graph_is_owned_work_and_outlives_its_closure() {
    on_driver(|driver| {
        let gpu = driver.retain(0)?;
        let work = gpu.with(|ctx| {
            let memory = (ctx.upload(&[1u32, 2, 3])?, ctx.pinned_zeros::<u32>(3)?);
            let (graph, ()) = ctx.graph(memory, |g, (x, mut host)| {
                g.read(&x, &mut host)?;
                Ok(())
            })?;
            let stream = ctx.new_stream()?;
            // The stream is dropped while the work may be in flight.
            let work = stream.submit(graph, |s, graph| {
                let mut graph = graph.lend(s);
                graph.launch(s)?;
                graph.launch(s)
            })?;
            Ok(ctx.detach(work))
        })?;
        let mut graph = gpu.with(|ctx| Ok(ctx.detach(work.into_inner(ctx)?.wait()?)))?;
        let host = graph.with_mut(|ctx, graph| {
            let before = graph.memory_mut().1.to_vec();
            graph.memory_mut().0.write(&[4, 5, 6])?;
            ctx.new_stream()?.scope(|s| graph.lend(s).launch(s))?;
            Ok((before, graph.memory_mut().1.to_vec()))
        })?;
        assert_eq!(host, (vec![1, 2, 3], vec![4, 5, 6]));
        let memory = gpu.with(|ctx| Ok(ctx.detach(graph.into_inner(ctx)?.into_memory())))?;
        assert_eq!(memory.with(|_, (x, _)| x.to_vec())?, [4, 5, 6]);
        Ok(())
    });
}
