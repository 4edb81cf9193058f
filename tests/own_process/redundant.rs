//! Two devices do the same work, and one of them has a fault: what is lent decides what a wait has
//! to prove, and what happens where it cannot. Claims C5, C10.

#![allow(unsafe_code)] // launches

use crate::common::{PTX, alone, real, simulated};
use scoped_cuda::abort::{self, UnprovenWait};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Context, Driver, Error, InOut, LaunchConfig, Result, scope};
use std::env;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

/// Tells a child which case it is.
const CASE: &str = "SCOPED_CUDA_REDUNDANT";

fn driver() -> Driver {
    match real() {
        true => Driver::load().unwrap(),
        // Work rests until somebody waits, so that the fault is seen while the other device works.
        false => simulated(Simulation::default()),
    }
}

/// Two devices, or none of these tests is about anything.
fn has_two_devices() -> bool {
    let has = driver().device_count().unwrap() > 1;
    if !has {
        println!("not run, for want of a second device");
    }
    has
}

/// Enqueues a kernel on `a` that has a fault, in a scope in which `work` enqueues for `b`.
fn fault_beside<'a, 'b>(
    a: Context<'a>,
    b: Context<'b>,
    work: impl FnOnce(Context<'b>) -> Result<()>,
) -> Result<()> {
    let fault = a.load_ptx(PTX)?.kernel::<(InOut<u32>,)>("fault")?;
    let stream = a.new_stream()?;
    let mut target = a.zeros::<u32>(4)?;
    scope(|scope| {
        scope.on(&stream, |s| {
            let mut target = target.lend(s);
            // SAFETY: not safe at all: it stores to an address that nobody has, which is what this
            // test is about. The device refuses, and no memory of this process is touched.
            unsafe { s.launch(&fault, ONE, (&mut target,)) }
        })?;
        work(b)
    })
}

/// Memory of the device alone is lent: the wait of the healthy device returns, with the fault, and
/// the process goes on.
#[test]
fn work_on_memory_of_the_device_alone_ends_no_process() {
    if !has_two_devices() {
        return;
    }
    alone(
        "redundant::work_on_memory_of_the_device_alone_ends_no_process",
        || {
            let driver = driver();
            let result = driver.with_two_devices([0, 1], |a, b| {
                let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
                let stream = b.new_stream()?;
                let (mut x, y) = (b.zeros::<u32>(1 << 20)?, b.zeros::<u32>(1 << 20)?);
                let healthy = stream.scope(|s| -> Result<()> {
                    // SAFETY: it touches nothing.
                    unsafe { s.launch(&spin, ONE, (50_000_000,)) }?;
                    let mut x = x.lend(s);
                    s.fill(&mut x, 7)?;
                    s.copy(&y, &mut x)?;
                    fault_beside(a, b, |_| Ok(()))
                });
                assert!(
                    matches!(healthy, Err(Error::Driver(_) | Error::Poisoned { .. })),
                    "{healthy:?}"
                );
                // At rest it is the same: no memory of the host is lent.
                let first = driver.first_fault().unwrap();
                assert_eq!(x.fill(1), Err(Error::Poisoned { first }));
                assert_eq!(x.copy_from(&y), Err(Error::Poisoned { first }));
                Ok(())
            });
            assert_eq!(result, Ok(()));
        },
    );
}

/// Page-locked memory that the device only copies from and to is lent when a copy is enqueued, and
/// no longer than its scope: what else a process has of it ends no process.
#[test]
fn page_locked_memory_that_is_only_copied_ends_no_process() {
    if !has_two_devices() {
        return;
    }
    alone(
        "redundant::page_locked_memory_that_is_only_copied_ends_no_process",
        || {
            let driver = driver();
            let result = driver.with_two_devices([0, 1], |a, b| {
                let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
                let stream = b.new_stream()?;
                let staging = b.pinned_from(&[7u32; 4])?;
                let (mut x, mut back) = (b.zeros::<u32>(4)?, b.pinned_zeros::<u32>(4)?);
                stream.scope(|s| {
                    let mut x = x.lend(s);
                    s.write(&staging, &mut x)?;
                    s.read(&x, &mut back)
                })?;
                let healthy = stream.scope(|s| -> Result<()> {
                    // SAFETY: it touches nothing.
                    unsafe { s.launch(&spin, ONE, (50_000_000,)) }?;
                    s.fill(&mut x.lend(s), 8)?;
                    fault_beside(a, b, |_| Ok(()))
                });
                assert!(
                    matches!(healthy, Err(Error::Driver(_) | Error::Poisoned { .. })),
                    "{healthy:?}"
                );
                assert_eq!((&*staging, &*back), (&[7; 4][..], &[7; 4][..]));
                Ok(())
            });
            assert_eq!(result, Ok(()));
        },
    );
}

fn child(case: &str) -> (bool, String, String) {
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "redundant::child_runs_its_case",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CASE, case)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// Device 1 copies to host memory, behind a kernel, when device 0 has a fault.
fn host_memory_is_lent() -> Result<()> {
    driver().with_two_devices([0, 1], |a, b| {
        let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
        let stream = b.new_stream()?;
        let source = b.filled(1 << 20, 1u32)?;
        let mut host = vec![0u32; 1 << 20];
        b.with_registered(&mut host, |host| {
            stream.scope(|s| {
                // SAFETY: it touches nothing.
                unsafe { s.launch(&spin, ONE, (2_000_000_000,)) }?;
                s.read(&source, host)?;
                fault_beside(a, b, |_| Ok(()))
            })
        })
    })
}

/// Device 1 writes page-locked memory in place, behind a kernel, when device
/// 0 has a fault.
fn device_view_is_lent() -> Result<()> {
    driver().with_two_devices([0, 1], |a, b| {
        let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
        let (stream, mut host) = (b.new_stream()?, b.pinned_zeros::<u32>(1 << 20)?);
        stream.scope(|s| {
            // SAFETY: it touches nothing.
            unsafe { s.launch(&spin, ONE, (2_000_000_000,)) }?;
            s.fill(&mut host.lend(s), 1)?;
            fault_beside(a, b, |_| Ok(()))
        })
    })
}

/// A graph of device 1 copies to page-locked memory of its own, behind a kernel, when device 0 has
/// a fault.
fn graph_with_host_memory_is_lent() -> Result<()> {
    driver().with_two_devices([0, 1], |a, b| {
        let spin = b.load_ptx(PTX)?.kernel::<(u64,)>("spin")?;
        let memory = (b.zeros::<u32>(4)?, b.pinned_zeros::<u32>(4)?);
        let (mut graph, _) = b.graph(memory, |g, (x, mut host)| g.read(&x, &mut host))?;
        let stream = b.new_stream()?;
        stream.scope(|s| {
            // SAFETY: it touches nothing.
            unsafe { s.launch(&spin, ONE, (2_000_000_000,)) }?;
            graph.lend(s).launch(s)?;
            fault_beside(a, b, |_| Ok(()))
        })
    })
}

/// What a child does; in the parent, nothing.
#[test]
fn child_runs_its_case() {
    match env::var(CASE).as_deref() {
        Ok("hook") => {
            abort::set_hook(Some(|wait: &UnprovenWait| {
                println!(
                    "hook: device {}, {}",
                    wait.ordinal, wait.may_be_of_another_device
                );
                panic!("in the hook");
            }));
            println!("returned {:?}", host_memory_is_lent());
        }
        Ok("view") => println!("returned {:?}", device_view_is_lent()),
        Ok("graph") => println!("returned {:?}", graph_with_host_memory_is_lent()),
        Ok("park") => {
            abort::park_instead(true);
            let (sender, receiver) = mpsc::channel();
            thread::spawn(move || sender.send(host_memory_is_lent()));
            let answer = receiver.recv_timeout(Duration::from_secs(6));
            println!("the other thread goes on: {answer:?}");
            std::process::exit(0);
        }
        _ => {}
    }
}

/// The hook is called before the process ends, and a panic in it changes nothing.
#[test]
fn the_hook_is_called_before_the_process_ends() {
    if !has_two_devices() || env::var(CASE).is_ok() {
        return;
    }
    let (succeeded, said, errors) = child("hook");
    assert!(!succeeded, "{said}");
    assert!(said.contains("hook: device 1, true"), "{said}{errors}");
    assert!(!said.contains("returned"), "{said}");
    assert!(
        errors.contains("cannot be given back") && errors.contains(": aborting"),
        "{errors}"
    );
}

/// Host memory that a device reaches without a copy is lent as well.
#[test]
fn host_memory_that_a_device_reaches_is_not_given_back() {
    if !has_two_devices() || env::var(CASE).is_ok() {
        return;
    }
    for case in ["view", "graph"] {
        let (succeeded, said, errors) = child(case);
        assert!(!succeeded && !said.contains("returned"), "{case}: {said}");
        assert!(
            errors.contains("cannot be given back") && errors.contains(": aborting"),
            "{case}: {errors}"
        );
    }
}

/// A thread that parks for ever never ends the loan, and the others go on.
#[test]
fn a_thread_that_parks_leaves_the_others_alone() {
    if !has_two_devices() || env::var(CASE).is_ok() {
        return;
    }
    let (succeeded, said, errors) = child("park");
    assert!(succeeded, "{said}{errors}");
    assert!(
        said.contains("the other thread goes on: Err(Timeout)"),
        "{said}{errors}"
    );
    assert!(errors.contains(": parking the thread"), "{errors}");
}
