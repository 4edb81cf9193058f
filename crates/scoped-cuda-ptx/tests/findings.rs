//! Every mistake is found, with its class, its place in the source, its thread and its address.

mod common;

use common::{Device, Parameters};
use scoped_cuda_ptx::{Access, Class, Finding, Shape};

const MISUSE: &str = include_str!("cuda/misuse.ptx");
const SOURCE: &str = include_str!("cuda/misuse.cu");

fn device() -> Device {
    Device::new(MISUSE)
}

fn found(device: &Device, kernel: &str, shape: Shape, parameters: Parameters) -> Box<Finding> {
    match device.launch(kernel, shape, parameters) {
        Ok(()) => panic!("{kernel} ran without a finding"),
        Err(finding) => finding,
    }
}

/// The finding stands in the line of the source that holds these words.
fn assert_line(finding: &Finding, words: &str) {
    let lines = SOURCE.lines().zip(1..);
    let lines: Vec<u32> = lines
        .filter(|(line, _)| line.contains(words))
        .map(|(_, n)| n)
        .collect();
    let (file, line) = finding.source.clone().expect("a line of the source");
    assert!(file.ends_with("misuse.cu"), "{file}");
    assert!(
        lines.contains(&line),
        "line {line} is not one of {lines:?}\n{finding}"
    );
}

fn is_race(finding: &Finding) -> bool {
    matches!(finding.class, Class::Race { .. })
}

#[test]
fn a_write_beyond_the_end() {
    let mut device = device();
    let x = device.fresh(400, "the input of the test");
    let finding = found(
        &device,
        "beyond",
        Shape::linear(4, 32),
        Parameters::new().pointer(x).u32(7),
    );
    assert_eq!(finding.class, Class::OutOfBounds);
    assert_eq!(finding.kernel, "beyond");
    assert_line(&finding, "x[i] = n;");
    assert_eq!(
        (finding.thread.block, finding.thread.thread),
        ([3, 0, 0], [4, 0, 0])
    );
    assert_eq!(
        (finding.address, finding.access),
        (Some(x + 400), Some(Access::Write(4)))
    );
    let nearest = finding.nearest.as_ref().expect("the allocation");
    assert_eq!(
        (nearest.label.as_str(), nearest.base, nearest.bytes),
        ("the input of the test", x, 400)
    );
    let text = finding.to_string();
    assert!(
        text.contains("the address is 0 bytes after its end"),
        "{text}"
    );
    assert!(
        text.contains("misuse.cu:") && text.contains("block (3, 0, 0)"),
        "{text}"
    );
}

#[test]
fn a_read_before_the_start() {
    let mut device = device();
    let x = device.upload_u32(&[1; 32]);
    let y = device.fresh(128, "out");
    let finding = found(
        &device,
        "before",
        Shape::linear(1, 32),
        Parameters::new().pointer(x).pointer(y),
    );
    assert_eq!(finding.class, Class::OutOfBounds);
    assert_eq!(finding.address, Some(x - 12));
    assert_eq!(finding.thread.thread, [0, 0, 0]);
}

#[test]
fn a_misaligned_address() {
    let mut device = device();
    let x = device.fresh(64, "bytes");
    let finding = found(
        &device,
        "crooked",
        Shape::linear(1, 1),
        Parameters::new().pointer(x),
    );
    assert_eq!(
        (finding.class.clone(), finding.address),
        (Class::Misaligned, Some(x + 2))
    );
}

#[test]
fn memory_that_was_freed() {
    let mut device = device();
    let (x, out) = (device.upload_u32(&[1; 8]), device.fresh(4, "out"));
    device.free(x);
    let parameters = Parameters::new().pointer(x).pointer(out).u32(8);
    let finding = found(&device, "sum", Shape::linear(1, 1), parameters);
    assert_eq!(finding.class, Class::UseAfterFree);
    assert!(
        finding
            .nearest
            .as_ref()
            .is_some_and(|nearest| nearest.is_freed)
    );
}

#[test]
fn memory_that_nobody_has_written() {
    let mut device = device();
    let (x, out) = (device.fresh(32, "input"), device.fresh(4, "out"));
    device.heap_write(x, &[0; 20]);
    let parameters = Parameters::new().pointer(x).pointer(out).u32(8);
    let finding = found(&device, "sum", Shape::linear(1, 1), parameters);
    assert_eq!(
        (finding.class.clone(), finding.address),
        (Class::Uninitialised, Some(x + 20))
    );
    assert_line(&finding, "sum += x[i]");

    let out = device.fresh(256, "out");
    let finding = found(
        &device,
        "unwritten_shared",
        Shape::linear(1, 64),
        Parameters::new().pointer(out),
    );
    assert_eq!(
        (finding.class.clone(), finding.address),
        (Class::Uninitialised, Some(20))
    );
    assert_eq!(finding.thread.thread, [5, 0, 0]);
    assert_line(&finding, "out[threadIdx.x] = s[threadIdx.x];");
}

#[test]
fn memory_that_is_only_to_be_read() {
    let mut device = device();
    let x = device.fresh(512, "lent");
    device.read_only.push(x..x + 512);
    let finding = found(
        &device,
        "beyond",
        Shape::linear(1, 32),
        Parameters::new().pointer(x).u32(7),
    );
    assert_eq!(
        (finding.class.clone(), finding.address),
        (Class::ReadOnly, Some(x))
    );

    let finding = found(
        &device,
        "to_constant",
        Shape::linear(1, 4),
        Parameters::new(),
    );
    assert_eq!(finding.class, Class::ReadOnly);
    assert_eq!(finding.address, Some(device.variable("fixed")));
}

#[test]
fn races_in_shared_memory() {
    let mut device = device();
    let x = device.upload_u32(&[5; 64]);
    for (kernel, words) in [
        ("no_barrier", "s[threadIdx.x] = threadIdx.x + 1;"),
        ("barrier_too_early", "s[threadIdx.x] = v;"),
    ] {
        let finding = found(
            &device,
            kernel,
            Shape::linear(1, 64),
            Parameters::new().pointer(x),
        );
        assert!(is_race(&finding), "{finding}");
        let Class::Race {
            is_shared, other, ..
        } = finding.class.clone()
        else {
            panic!("{finding}")
        };
        assert!(is_shared);
        assert_ne!(other.thread, finding.thread.thread);
        if kernel == "no_barrier" {
            assert_line(&finding, words);
        }
    }
}

#[test]
fn races_in_global_memory() {
    let mut device = device();
    let x = device.upload_u32(&[5; 64]);
    let finding = found(
        &device,
        "same_place",
        Shape::linear(2, 1),
        Parameters::new().pointer(x),
    );
    let Class::Race {
        other,
        was_write: true,
        is_shared: false,
    } = finding.class.clone()
    else {
        panic!("{finding}")
    };
    assert_eq!((other.block, finding.thread.block), ([0, 0, 0], [1, 0, 0]));

    let finding = found(
        &device,
        "in_place",
        Shape::linear(2, 32),
        Parameters::new().pointer(x).u32(64),
    );
    assert!(is_race(&finding), "{finding}");
    assert_line(&finding, "x[i] = left + 1;");

    let (data, flag) = (device.upload_u32(&[0, 0]), device.upload_u32(&[0]));
    let parameters = Parameters::new().pointer(data).pointer(flag);
    let finding = found(&device, "without_fence", Shape::linear(2, 1), parameters);
    assert!(is_race(&finding), "{finding}");
    assert_line(&finding, "data[1] = *data;");
}

#[test]
fn threads_that_do_not_come() {
    let mut device = device();
    let x = device.fresh(512, "x");
    let finding = found(
        &device,
        "parted_barrier",
        Shape::linear(1, 64),
        Parameters::new().pointer(x),
    );
    assert_eq!(finding.class, Class::BarrierDivergence);
    assert_line(&finding, "__syncthreads();");

    let finding = found(
        &device,
        "absent_lane",
        Shape::linear(1, 32),
        Parameters::new().pointer(x),
    );
    assert_eq!(finding.class, Class::InactiveLane);
    assert_eq!(finding.thread.thread, [8, 0, 0]);
}

#[test]
fn kernels_that_do_not_end_well() {
    let mut device = device();
    device.steps_max = 1 << 18;
    let x = device.upload_u32(&[0; 32]);
    let finding = found(
        &device,
        "forever",
        Shape::linear(1, 32),
        Parameters::new().pointer(x),
    );
    assert_eq!(finding.class, Class::NoProgress);

    device.steps_max = 1 << 24;
    let finding = found(
        &device,
        "too_deep",
        Shape::linear(1, 1),
        Parameters::new().pointer(x),
    );
    assert_eq!(finding.class, Class::StackOverflow);
    assert_eq!(finding.function.as_deref(), Some("_Z4deepjPj"));

    let finding = found(
        &device,
        "asserted",
        Shape::linear(1, 32),
        Parameters::new().u32(5),
    );
    let Class::Trap(text) = finding.class.clone() else {
        panic!("{finding}")
    };
    assert!(
        text.contains("assertion `threadIdx.x < n` failed"),
        "{text}"
    );
    assert_eq!(finding.thread.thread, [5, 0, 0]);

    let finding = found(
        &device,
        "trapped",
        Shape::linear(1, 32),
        Parameters::new().u32(9),
    );
    assert_eq!(finding.class, Class::Trap(String::new()));
    assert_eq!(finding.thread.thread, [9, 0, 0]);
}

#[test]
fn shared_memory_has_an_end() {
    let mut device = device();
    let out = device.fresh(128, "out");
    let finding = found(
        &device,
        "beyond_shared",
        Shape::linear(1, 32),
        Parameters::new().pointer(out),
    );
    assert_eq!(
        (finding.class.clone(), finding.address),
        (Class::OutOfBounds, Some(128))
    );
    assert_eq!(finding.thread.thread, [16, 0, 0]);
    let nearest = finding.nearest.clone().expect("the shared memory");
    assert_eq!(
        (nearest.label.as_str(), nearest.bytes),
        ("the block's shared memory", 128)
    );
}

#[test]
fn shapes_that_do_not_fit() {
    let device = device();
    let wrong = |shape: Shape, parameters: Parameters| {
        let finding = found(&device, "trapped", shape, parameters);
        assert!(matches!(finding.class, Class::BadLaunch(_)), "{finding}");
    };
    wrong(Shape::linear(0, 32), Parameters::new().u32(40));
    wrong(Shape::linear(1, 1025), Parameters::new().u32(40));
    wrong(Shape::linear(1, 32), Parameters::new());
    wrong(
        Shape::linear(1, 32).with_shared(1 << 20),
        Parameters::new().u32(40),
    );
    wrong(
        Shape {
            cluster: [3, 1, 1],
            ..Shape::linear(4, 32)
        },
        Parameters::new().u32(40),
    );
}
