//! Whatever text is loaded or linked, it is refused or it loads: nobody panics, nobody crashes,
//! nothing stays behind. Claims C4, C12.
//!
//! Broken PTX comes from a generator with fixed seeds, so that a failure can be had again. On the
//! real driver a crash would end the test, so there processes of their own load it, and say what
//! they load before they do.

#![allow(unsafe_code)] // raw loads

use crate::common::{PTX, in_context, on_driver, ptx, real};
use scoped_cuda::ffi::{CUmodule, CUresult};
use scoped_cuda::kernel::OptimizationLevel;
use scoped_cuda::{Context, Error, JitOptions, Result};
use std::ffi::CString;
use std::num::NonZeroU32;
use std::ops::Range;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, ptr, thread};

/// What is spoiled.
const TEXTS: [&str; 6] = [
    PTX.as_str(),
    include_str!("../common/link_kernel.ptx"),
    include_str!("../common/link_helper.ptx"),
    include_str!("../../examples/saxpy.ptx"),
    include_str!("../../examples/smooth.ptx"),
    include_str!("../../examples/pipeline.ptx"),
];
/// That one needs another to be linked with.
const UNRESOLVED: usize = 1;
/// What a character becomes.
const MARKS: &[u8] = b" \n;,.{}()[]<>\"/*%$0189abz-+=@";
/// Tells a process which inputs to load: `first..end`.
const RANGE: &str = "SCOPED_CUDA_FUZZ_RANGE";
/// Tells it at which of them to abort, to see whether that is noticed.
const ABORT: &str = "SCOPED_CUDA_FUZZ_ABORT";
/// How long such a process may take.
const PATIENCE: Duration = Duration::from_secs(100);

/// Numbers that look random and are always the same (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        // Neighbouring seeds have to part, and none may be 0.
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end.max(1)
    }
}

/// The input of a number: mostly a text that is cut off, or changed in one to eight places.
fn input(number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    if number % 16 == 15 {
        let bytes = random.below(400);
        return (0..bytes).map(|_| random.next() as u8).collect();
    }
    let mut text = TEXTS[random.below(TEXTS.len())].as_bytes().to_vec();
    if number % 4 == 0 {
        text.truncate(random.below(text.len()));
        return text;
    }
    for _ in 0..=random.below(8) {
        spoil(&mut text, &mut random);
    }
    text
}

fn spoil(text: &mut Vec<u8>, random: &mut Random) {
    if text.is_empty() {
        return;
    }
    let at = random.below(text.len());
    let end = text.len().min(at + 1 + random.below(40));
    match random.below(6) {
        0 => text[at] ^= 1 << random.below(8),
        1 => text[at] = MARKS[random.below(MARKS.len())],
        2 => drop(text.drain(at..end)),
        3 => {
            let again = text[at..end].to_vec();
            text.splice(at..at, again);
        }
        4 => swap_words(text, random),
        _ => {
            // A number where there was one, and a large one.
            let number = [
                &b"4294967295"[..],
                b"18446744073709551616",
                b"-1",
                b"0",
                b"1000000",
            ];
            let digit = text[at..].iter().position(u8::is_ascii_digit);
            if let Some(digit) = digit {
                text.splice(
                    at + digit..=at + digit,
                    number[random.below(5)].iter().copied(),
                );
            }
        }
    }
}

fn swap_words(text: &mut Vec<u8>, random: &mut Random) {
    let words: Vec<&[u8]> = text.split(|byte| byte.is_ascii_whitespace()).collect();
    let (a, b) = (random.below(words.len()), random.below(words.len()));
    let mut words = words;
    words.swap(a, b);
    *text = words.join(&b' ');
}

/// Loads an input as a program would, this way or that. Whether it was accepted.
///
/// # Errors
/// What has nothing to do with the input.
fn load(ctx: Context<'_>, number: u64) -> Result<bool> {
    let bytes = input(number);
    let text = String::from_utf8_lossy(&bytes);
    let mut random = Random::new(number + (1 << 32));
    let options = JitOptions::default()
        .optimization((random.below(4) == 0).then_some(OptimizationLevel::O1))
        .max_registers(NonZeroU32::new(random.below(5) as u32 * 32))
        .threads_per_block(NonZeroU32::new(random.below(5) as u32 * 256))
        .line_info(random.below(2) == 0)
        .verbose(random.below(2) == 0);
    let outcome = match number % 3 {
        0 => ctx.load_ptx(ptx(&text)).map(drop),
        1 => ctx.load_ptx_with(ptx(&text), &options).map(drop),
        _ => ctx.linker(&options).and_then(|mut linker| {
            linker.add_ptx("spoiled", ptx(&text))?;
            let linked = linker.finish()?;
            ctx.load_linked(&linked).map(drop)
        }),
    };
    match outcome {
        Ok(()) => Ok(true),
        Err(Error::Image(_)) => Ok(false),
        // The driver has several codes for code that it cannot make or place.
        Err(Error::Driver(error)) if !error.code().is_sticky() => Ok(false),
        Err(other) => Err(other),
    }
}

/// Loads bytes behind the crate's back.
fn load_raw(ctx: Context<'_>, bytes: &[u8]) -> CUresult {
    let end = bytes.iter().position(|&byte| byte == 0);
    let text = CString::new(&bytes[..end.unwrap_or(bytes.len())]).unwrap();
    let (mut module, cu) = (CUmodule::NULL, ctx.driver().symbols());
    let (none, nothing) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the text ends with a NUL; the out-pointer is valid for the call.
    let code =
        unsafe { (cu.cuModuleLoadDataEx)(&raw mut module, text.as_ptr().cast(), 0, none, nothing) };
    if code == CUresult::SUCCESS {
        // SAFETY: just loaded.
        let unloaded = unsafe { (cu.cuModuleUnload)(module) };
        assert_eq!(unloaded, CUresult::SUCCESS);
    }
    code
}

#[test]
fn texts_load_while_they_are_whole() {
    in_context(|ctx| {
        for (index, text) in TEXTS.into_iter().enumerate() {
            let loaded = ctx.load_ptx(ptx(text));
            assert_eq!(
                loaded.is_ok(),
                index != UNRESOLVED,
                "text {index}: {loaded:?}"
            );
        }
        Ok(())
    });
}

/// `in_context` sees to it that nothing is left, and that the machine has nothing to complain of.
#[test]
fn spoiled_text_is_refused_or_loads() {
    if real() {
        return; // it has processes of its own for this
    }
    in_context(|ctx| {
        let (mut loaded, mut refused) = (0, 0);
        for number in 0..4000 {
            match load(ctx, number)? {
                true => loaded += 1,
                false => refused += 1,
            }
        }
        // Both happen, or the inputs are no good.
        assert!(
            loaded > 500 && refused > 500,
            "{loaded} loaded, {refused} refused"
        );
        Ok(())
    });
}

#[test]
fn spoiled_text_is_refused_or_loads_behind_the_crates_back() {
    if real() {
        return;
    }
    in_context(|ctx| {
        for number in 0..4000 {
            let code = load_raw(ctx, &input(number));
            let codes = [
                CUresult::SUCCESS,
                CUresult::INVALID_IMAGE,
                CUresult::INVALID_PTX,
                CUresult::UNSUPPORTED_PTX_VERSION,
            ];
            assert!(codes.contains(&code), "input {number}: {code:?}");
        }
        Ok(())
    });
}

/// A compiler in one's own process had better not crash.
#[test]
fn spoiled_text_crashes_no_process() {
    if env::var_os(RANGE).is_some() {
        return;
    }
    // A context takes a second, an input some ten milliseconds.
    let (processes, inputs) = if real() { (8, 60) } else { (2, 20) };
    for process in 0..processes {
        let first = 100_000 + process * inputs;
        let report = run(first..first + inputs, None).unwrap_or_else(|error| panic!("{error}"));
        println!("inputs from {first}: {report}");
    }
}

#[test]
fn process_that_crashes_is_noticed() {
    if env::var_os(RANGE).is_some() || real() {
        return;
    }
    let error = run(0..9, Some(5)).unwrap_err();
    assert!(
        error.starts_with("input 5 of 0..9 ended the process: "),
        "{error}"
    );
}

/// Runs a process that loads these inputs, and returns what it says in the end.
///
/// # Errors
/// Which input ended it.
fn run(inputs: Range<u64>, abort_at: Option<u64>) -> Result<String, String> {
    let abort_at = abort_at.map_or(String::new(), |number| number.to_string());
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "image_fuzz::loads_the_inputs_it_is_told",
            "--nocapture",
        ])
        .env(RANGE, format!("{}..{}", inputs.start, inputs.end))
        .env(ABORT, abort_at)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if !output.status.success() {
        let last = said.lines().rfind(|line| line.starts_with("input "));
        let last = last.unwrap_or("no input");
        let status = output.status;
        return Err(format!(
            "{last} of {inputs:?} ended the process: {status}\n{errors}"
        ));
    }
    let report = said.lines().find_map(|line| line.strip_prefix("done: "));
    let report = report.ok_or_else(|| format!("no report: {said}{errors}"))?;
    let count = |part: &str| part.split(' ').next()?.parse::<u64>().ok();
    let counted: Option<u64> = report.split(", ").map(count).sum();
    assert_eq!(counted, Some(inputs.end - inputs.start), "{report}");
    Ok(report.to_owned())
}

/// Does nothing when it is not told.
#[test]
fn loads_the_inputs_it_is_told() {
    let Ok(range) = env::var(RANGE) else { return };
    let (first, end) = range.split_once("..").unwrap();
    let (first, end): (u64, u64) = (first.parse().unwrap(), end.parse().unwrap());
    let abort_at = env::var(ABORT).ok().and_then(|number| number.parse().ok());
    let (mut loaded, mut refused) = (0, 0);
    println!();
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            for number in first..end {
                // Standard output ends each line with a flush.
                println!("input {number}");
                if abort_at == Some(number) {
                    std::process::abort();
                }
                match load(ctx, number)? {
                    true => loaded += 1,
                    false => refused += 1,
                }
            }
            assert_eq!(load_raw(ctx, PTX.as_str().as_bytes()), CUresult::SUCCESS);
            Ok(())
        })
    });
    println!("done: {loaded} loaded, {refused} refused");
}
