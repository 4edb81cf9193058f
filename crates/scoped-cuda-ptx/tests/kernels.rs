//! Every case of the table gives its results, on one thread of the host and on several.

mod cases;
mod common;

use cases::{Argument, Case, Compare};
use common::{Device, Parameters};
use scoped_cuda_ptx::Shape;

fn distance_32(a: &[u8], b: &[u8]) -> u32 {
    let key = |bytes: &[u8]| {
        let bits = i32::from_le_bytes(bytes.try_into().unwrap());
        if bits < 0 { i32::MIN - bits } else { bits }
    };
    key(a).abs_diff(key(b))
}

fn distance_64(a: &[u8], b: &[u8]) -> u64 {
    let key = |bytes: &[u8]| {
        let bits = i64::from_le_bytes(bytes.try_into().unwrap());
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    key(a).abs_diff(key(b))
}

/// What differs, if anything does.
fn difference(found: &[u8], expected: &[u8], compare: Compare) -> Option<String> {
    let size = if matches!(compare, Compare::Doubles(_)) {
        8
    } else {
        4.min(expected.len())
    };
    for (n, (found, expected)) in found.chunks(size).zip(expected.chunks(size)).enumerate() {
        let is_same = match compare {
            Compare::Bits => found == expected,
            Compare::Singles(units) => distance_32(found, expected) <= units,
            Compare::Doubles(units) => distance_64(found, expected) <= units,
        };
        if !is_same {
            return Some(format!(
                "element {n} is {found:02x?} and not {expected:02x?}"
            ));
        }
    }
    None
}

fn run(case: &Case, workers: usize) -> Result<(), String> {
    let mut device = Device::new(case.text);
    device.workers = workers;
    // A block that waits for one of another thread of the host makes steps in vain meanwhile.
    device.steps_max = 1 << 30;
    let mut parameters = Parameters::new();
    let mut places = Vec::new();
    for argument in &case.arguments {
        let place = match argument {
            Argument::Buffer(bytes) => device.upload(bytes, "a buffer of the case"),
            Argument::Fresh(bytes) => device.fresh(*bytes as u64, "a fresh buffer of the case"),
            Argument::Value(_) => 0,
        };
        places.push(place);
        parameters = match argument {
            Argument::Value(bytes) => parameters.with(bytes),
            _ => parameters.pointer(place),
        };
    }
    let shape = Shape {
        grid: case.grid,
        block: case.block,
        cluster: [case.cluster, 1, 1],
        dynamic_shared: case.shared,
        is_cooperative: case.is_cooperative,
    };
    device
        .launch(case.kernel, shape, parameters)
        .map_err(|finding| finding.to_string())?;
    for (argument, expected, compare) in &case.results {
        let found = device.read(places[*argument], expected.len());
        if let Some(difference) = difference(&found, expected, *compare) {
            return Err(format!("argument {argument}: {difference}"));
        }
    }
    let printed = device.printed.lock().unwrap();
    match *printed == case.printed {
        true => Ok(()),
        false => Err(format!("it printed {printed:?}")),
    }
}

fn run_all(workers: usize) {
    let cases = cases::all();
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for case in &cases {
        if let Err(message) = run(case, workers) {
            wrong.push(format!("{}: {message}", case.kernel));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_case_gives_its_results() {
    run_all(1);
}

#[test]
fn every_case_gives_its_results_on_several_threads() {
    run_all(3);
}
