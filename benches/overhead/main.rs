//! What the crate costs over the raw driver call.
//!
//! Each operation runs through the crate and through function pointers of the same driver, in turns
//! within one run. Two drivers: the *null driver*, whose calls return at once, so that the
//! difference is the crate's own time, on any machine; and the real one, where the difference has
//! to be small beside the call.
//!
//! ```text
//! cargo bench --bench overhead -- [--null | --real] [--quick] [--check]
//! ```
//!
//! - `--null`, `--real`: only this driver.
//! - `--quick`: fewer rounds.
//! - `--check`: exit with an error when a goal is missed, or when `--real` finds no device.

mod allocations;
mod graphs;
mod measure;
mod null;
mod operations;
mod owned;
mod raw;
mod threads;

use measure::Rounds;
use operations::{Lab, OPERATIONS};
use scoped_cuda::{Driver, Error, Result};
use std::process::ExitCode;

/// What the command line asks for. Flags that are not ours (`--bench`, from cargo) are none of our
/// business.
struct Options {
    null: bool,
    real: bool,
    quick: bool,
    check: bool,
}

impl Options {
    fn from_arguments(arguments: &[String]) -> Self {
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        Self {
            null: has("--null"),
            real: has("--real"),
            quick: has("--quick"),
            check: has("--check"),
        }
    }

    fn runs_null(&self) -> bool {
        self.null || !self.real
    }

    fn runs_real(&self) -> bool {
        self.real || !self.null
    }

    fn command(&self) -> String {
        let flags = [
            (self.null, "--null"),
            (self.real, "--real"),
            (self.quick, "--quick"),
            (self.check, "--check"),
        ];
        let given = flags
            .iter()
            .filter(|(given, _)| *given)
            .map(|(_, flag)| format!(" {flag}"));
        format!(
            "cargo bench --bench overhead --{}",
            given.collect::<String>()
        )
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = Options::from_arguments(&arguments);
    println!("repeat with: {}", options.command());
    if cfg!(debug_assertions) {
        println!("this build is not optimised: its times say nothing about the crate");
    }
    match run(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            println!("\ngoals missed or not measured: {missed}");
            if options.check {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            }
        }
        Err(error) => {
            eprintln!("the benchmark could not run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs what was asked for; the number of goals missed.
fn run(options: &Options) -> Result<usize> {
    let mut missed = 0;
    if options.runs_null() {
        println!(
            "\nNULL DRIVER: every call returns at once, so crate - raw is the crate's own time"
        );
        missed += table(null::driver()?, Rounds::null(options.quick))?;
    }
    if options.runs_real() {
        match real_driver() {
            Ok(driver) => {
                let name = driver.device(0)?.name()?;
                println!("\nREAL DRIVER: CUDA {}, {name}", driver.version());
                missed += table(driver, Rounds::real(options.quick))?;
            }
            Err(reason) => {
                println!("\nREAL DRIVER: SKIPPED, nothing was measured: {reason}");
                missed += usize::from(options.real);
            }
        }
    }
    Ok(missed)
}

fn real_driver() -> Result<Driver> {
    let driver = Driver::load()?;
    if driver.device_count()? == 0 {
        Err(Error::NoDevice)
    } else {
        Ok(driver)
    }
}

/// Measures and prints every operation; the number of goals missed.
fn table(driver: Driver, rounds: Rounds) -> Result<usize> {
    println!("{}", measure::HEADER);
    let missed = driver.with_device(0, |ctx| {
        let lab = Lab::new(ctx)?;
        let mut missed = 0;
        for operation in OPERATIONS {
            let comparison = (operation.measure)(&lab, rounds.of(operation.batch))?;
            let verdict = operation.goal.judge(rounds, &comparison);
            println!("{}", comparison.row(operation.name, &verdict));
            missed += usize::from(verdict.is_missed());
        }
        if !rounds.is_null() {
            missed += threads::table(&lab, rounds)?;
        }
        Ok(missed)
    })?;
    for left in driver.take_teardown_errors() {
        println!("at teardown: {}", left.error);
    }
    Ok(missed)
}
