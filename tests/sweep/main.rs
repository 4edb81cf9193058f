//! Every driver call of representative programs fails in turn, on the simulated driver: nothing
//! panics, nothing is left behind but what the failed call itself makes unavoidable, the error
//! names the call, and the thread's context stack is as before. Claims C3, C4, C5, C6, C10.

#[path = "../common/mod.rs"]
mod common;

mod devices;
mod globals;
mod host;
mod images;
mod kernels;
mod memory;
mod owned;
mod peers;
mod pending;
mod rows;
mod streams;

use common::{simulated, stack};
use scoped_cuda::error::ImageError;
use scoped_cuda::ffi::CUresult;
use scoped_cuda::sim::{Live, Simulation};
use scoped_cuda::{Driver, Error, Result};
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

type Program = fn(Driver) -> Result<()>;

/// What a program panics with on purpose.
const ON_PURPOSE: &str = "on purpose";

/// The programs by area, each with its name. Each operation of the crate is in one of them.
const AREAS: [&[(&str, Program)]; 11] = [
    devices::PROGRAMS,
    peers::PROGRAMS,
    memory::PROGRAMS,
    host::PROGRAMS,
    rows::PROGRAMS,
    streams::PROGRAMS,
    kernels::PROGRAMS,
    globals::PROGRAMS,
    images::PROGRAMS,
    pending::PROGRAMS,
    owned::PROGRAMS,
];

#[test]
fn programs_run_when_nothing_fails() {
    for (name, program) in AREAS.into_iter().flatten() {
        let driver = simulated(simulation());
        assert_eq!(run(driver, *program), Outcome::Returned(Ok(())), "{name}");
        assert_eq!(driver.machine().unwrap().live(), Live::default(), "{name}");
        assert_eq!(driver.take_teardown_errors(), [], "{name}");
    }
}

#[test]
fn any_call_may_fail() {
    for code in [
        CUresult::UNKNOWN,
        CUresult::OUT_OF_MEMORY,
        CUresult::INVALID_HANDLE,
    ] {
        for_each_call(code, |what, driver, outcome, failed| {
            let machine = driver.machine().unwrap();
            let mut named: Vec<Error> = driver
                .take_teardown_errors()
                .into_iter()
                .map(|entry| entry.error)
                .collect();
            let Outcome::Returned(result) = outcome else {
                panic!("{what}: {outcome:?}")
            };
            let was_told = result.is_err();
            named.extend(result.err());
            let is_named = named.iter().any(|error| names(error, failed));
            // The question whether a context is still alive is asked on the side; without an answer
            // the operation itself decides.
            assert!(is_named || failed == "cuCtxGetId", "{what}: {named:?}");
            assert_eq!(machine.violations(), Vec::<String>::new(), "{what}");
            assert_left_behind(&what, machine.live(), failed, was_told);
        });
    }
}

/// After a fault nothing is asked of the driver but what puts the thread and the retain count
/// right.
#[test]
fn any_call_may_be_the_one_that_reports_a_fault() {
    for (name, program) in AREAS.into_iter().flatten() {
        if !works_on_several_devices(name) {
            for call in 1..=calls_of(name, *program) {
                report_a_fault(name, *program, call);
            }
        }
    }
}

/// Programs with work in flight on several devices may abort when one of them has a fault, since
/// the work of the others goes on: they are run by children, and all that may end a child is that.
#[test]
fn a_fault_ends_a_program_that_works_on_several_devices_or_is_reported() {
    let mut aborts = 0;
    let several = AREAS.into_iter().flatten();
    for (name, program) in several.filter(|(name, _)| works_on_several_devices(name)) {
        let mut next = 1;
        while next <= calls_of(name, *program) {
            let output = Command::new(env::current_exe().unwrap())
                .args(["fault_sweep_child", "--exact", "--nocapture"])
                .env(CHILD, format!("{next} {name}"))
                .output()
                .unwrap();
            if output.status.success() {
                break;
            }
            let (said, why) = (
                String::from_utf8_lossy(&output.stdout).into_owned(),
                String::from_utf8_lossy(&output.stderr).into_owned(),
            );
            let last = said
                .lines()
                .filter_map(|line| line.strip_prefix("call "))
                .next_back();
            let last: u64 = last
                .and_then(|call| call.parse().ok())
                .expect("a call was begun");
            assert!(
                why.contains("may be one of another device): aborting"),
                "{name}, call {last}: {why}"
            );
            (aborts, next) = (aborts + 1, last + 1);
        }
    }
    assert!(aborts > 0, "some have work in flight on two devices");
}

/// The part of a child: the calls of one program from one on.
#[test]
fn fault_sweep_child() {
    let Ok(order) = env::var(CHILD) else { return };
    let (from, name) = order.split_once(' ').unwrap();
    let mut all = AREAS.into_iter().flatten();
    let (name, program) = all.find(|(known, _)| *known == name).unwrap();
    for call in from.parse().unwrap()..=calls_of(name, *program) {
        println!("call {call}");
        report_a_fault(name, *program, call);
    }
}

/// Tells a child its program, and the call that it begins with.
const CHILD: &str = "SCOPED_CUDA_SWEEP_CHILD";

/// Whether it is a program of those that may have work in flight on two devices at once.
fn works_on_several_devices(name: &str) -> bool {
    let areas = [devices::PROGRAMS, peers::PROGRAMS];
    areas.into_iter().flatten().any(|(known, _)| *known == name)
}

fn report_a_fault(name: &str, program: Program, call: u64) {
    with_call_failing(
        CUresult::ILLEGAL_ADDRESS,
        name,
        program,
        call,
        |what, driver, outcome, failed| {
            let fault = driver
                .first_fault()
                .unwrap_or_else(|| panic!("{what}: no fault is kept"));
            assert_eq!(
                (fault.call(), fault.code()),
                (failed, CUresult::ILLEGAL_ADDRESS),
                "{what}"
            );
            let Outcome::Returned(result) = outcome else {
                panic!("{what}: {outcome:?}")
            };
            // The last calls of a program are in destructors, which are quiet.
            match result {
                Ok(()) => {}
                Err(error) => assert!(names(&error, failed), "{what}: {error}"),
            }
            assert_eq!(
                driver.take_teardown_errors(),
                [],
                "{what}: teardown is quiet"
            );
            let machine = driver.machine().unwrap();
            machine.clear_trace();
            let error = driver.with_device(0, |_| Ok(())).unwrap_err();
            assert_eq!(error, Error::Poisoned { first: fault }, "{what}");
            assert_eq!(
                machine.trace(),
                Vec::<&str>::new(),
                "{what}: the driver is not asked again"
            );
            let unreleased = usize::from(failed == "cuDevicePrimaryCtxRelease");
            assert_eq!(machine.live().retains, unreleased, "{what}");
        },
    );
}

/// A driver that refuses memory is asked how much it has; what that question comes to does not hide
/// the refusal.
#[test]
fn a_refusal_is_told_whatever_the_question_after_it_comes_to() {
    for (call, failed) in [(2, "cuCtxGetCurrent"), (3, "cuMemGetInfo")] {
        for code in [CUresult::UNKNOWN, CUresult::ILLEGAL_ADDRESS] {
            let driver = simulated(simulation());
            let machine = driver.machine().unwrap();
            let error = driver.with_device(0, |ctx| {
                machine.clear_trace();
                machine.fail_call(call, code);
                ctx.uninit::<u8>(1 << 40).map(drop)
            });
            let Err(Error::OutOfMemory {
                asked,
                free: None,
                source: Some(source),
                ..
            }) = error
            else {
                panic!("{failed}: {error:?}")
            };
            assert_eq!((asked, source.call()), (1 << 40, "cuMemAllocFromPoolAsync"));
            assert_eq!(machine.trace()[call as usize - 1], failed);
            assert_eq!(driver.first_fault().is_some(), code.is_sticky());
            let _ = driver.take_teardown_errors();
        }
    }
}

#[derive(PartialEq, Debug)]
enum Outcome {
    Returned(Result<()>),
    Panicked(String),
}

/// Runs each program once for each of its calls, with that call failing with `code`.
fn for_each_call(code: CUresult, check: impl Fn(String, Driver, Outcome, &'static str)) {
    for (name, program) in AREAS.into_iter().flatten() {
        for call in 1..=calls_of(name, *program) {
            with_call_failing(code, name, *program, call, &check);
        }
    }
}

/// How many calls a program makes when none fails.
fn calls_of(name: &str, program: Program) -> u64 {
    let clean = simulated(simulation());
    let machine = clean.machine().unwrap();
    let setup = machine.calls();
    run(clean, program);
    let calls = machine.calls() - setup;
    assert!(calls > 10, "{name} makes {calls} calls");
    calls
}

fn with_call_failing(
    code: CUresult,
    name: &str,
    program: Program,
    call: u64,
    check: impl Fn(String, Driver, Outcome, &'static str),
) {
    let driver = simulated(simulation());
    let machine = driver.machine().unwrap();
    machine.clear_trace();
    machine.fail_call(call, code);
    let outcome = run(driver, program);
    let failed = machine.trace()[call as usize - 1];
    let what = format!("{name}: call {call}, {failed}, returned {}", code.0);
    assert_eq!(stack(driver), [], "{what}");
    check(what, driver, outcome, failed);
}

fn simulation() -> Simulation {
    Simulation::default().latency(Duration::from_micros(20))
}

fn run(driver: Driver, program: Program) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| program(driver))) {
        Ok(result) => Outcome::Returned(result),
        Err(panic) => match panic.downcast_ref::<&str>() {
            Some(&ON_PURPOSE) => Outcome::Returned(Ok(())),
            Some(text) => Outcome::Panicked((*text).to_owned()),
            None => Outcome::Panicked("not a &str".to_owned()),
        },
    }
}

/// Whether an error is about a failure of `call`.
fn names(error: &Error, call: &str) -> bool {
    match error {
        Error::Image(ImageError { reason, .. }) => reason.contains(call),
        other => other
            .driver_error()
            .is_some_and(|error| error.call() == call),
    }
}

/// What stays behind when `failed` did not do its work; nothing else may.
fn assert_left_behind(what: &str, live: Live, failed: &str, was_told: bool) {
    // What a failed free, destroy or release leaves is what it was asked to remove.
    let expected = match failed {
        // An object that `close` could not free was handed back, and dropping it freed it.
        "cuMemFreeAsync" if was_told => Live::default(),
        "cuMemFreeAsync" => Live {
            allocations: 1,
            bytes: live.bytes,
            ..Live::default()
        },
        "cuMemPoolDestroy" => Live {
            pools: 1,
            ..Live::default()
        },
        "cuModuleUnload" => Live {
            modules: 1,
            ..Live::default()
        },
        "cuDevicePrimaryCtxRelease" => Live {
            retains: 1,
            contexts: 1,
            ..Live::default()
        },
        // Streams, events and linkers end with their context at the latest.
        _ => Live::default(),
    };
    // A module ends with its context too.
    let expected = if failed == "cuModuleUnload" && live.modules == 0 {
        Live::default()
    } else {
        expected
    };
    assert_eq!(live, expected, "{what}");
}
