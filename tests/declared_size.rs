//! A file of 2 MB with 200 kernels, all of them declared, is read while a program is compiled, and
//! the program needs no attribute for that. What it costs:
//!
//! ```text
//! cargo test --test declared_size -- --nocapture
//! ```

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const KERNELS: usize = 200;
const BYTES: usize = 2 << 20;

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What nvcc has made of a kernel, again and again: its body until there are enough bytes.
fn text() -> String {
    let kernels = fs::read_to_string(project().join("examples/kernels.ptx")).unwrap();
    let kernel = kernels.split(".visible .entry matmul(").nth(1).unwrap();
    let (parameters, rest) = kernel.split_once("{\n").unwrap();
    let body = rest.split("\n}\n").next().unwrap();
    let mut text = ".version 7.0\n.target sm_75\n.address_size 64\n".to_owned();
    for index in 0..KERNELS {
        let parameters = parameters.replace("matmul", &format!("matmul_{index}"));
        write!(text, "\n.visible .entry matmul_{index}({parameters}{{\n").unwrap();
        while text.len() < (index + 1) * BYTES / KERNELS {
            text += body;
        }
        text += "\n}\n";
    }
    text
}

/// A program that declares so many of the kernels.
fn program(kernels: usize) -> String {
    let mut program =
        "use scoped_cuda::{In, Out, kernels};\nkernels! {\n    pub struct Many<'ctx>;\n    \
         extern \"../many.ptx\" {\n"
            .to_owned();
    for index in 0..kernels {
        writeln!(
            program,
            "unsafe fn matmul_{index}(a: In<f32>, b: In<f32>, c: Out<f32>, rows: u32, inner: u32, \
             columns: u32);"
        )
        .unwrap();
    }
    program + "}\n}\nfn main() {}\n"
}

/// Compiles an example of the scratch package, and says how long that took.
fn check(scratch: &Path, example: &str) -> Duration {
    let start = Instant::now();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--example", example])
        .current_dir(scratch)
        .env(
            "CARGO_TARGET_DIR",
            project().join("target/tests/docs-target"),
        )
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    let is_clean = output.status.success() && !messages.contains("long_running_const_eval");
    assert!(is_clean, "{example}:\n{messages}");
    start.elapsed()
}

#[test]
fn two_megabytes_are_read_while_a_program_is_compiled() {
    let scratch: PathBuf = project().join("target/tests/declared_size");
    fs::create_dir_all(scratch.join("examples")).unwrap();
    fs::create_dir_all(scratch.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"sized\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\
         [dependencies]\nscoped-cuda = {{ path = {:?} }}\n[workspace]\n",
        project()
    );
    let text = text();
    assert!((BYTES..BYTES + 10_000).contains(&text.len()));
    let write = |file: &str, text: &str| fs::write(scratch.join(file), text).unwrap();
    write("Cargo.toml", &manifest);
    write("src/lib.rs", "");
    write("many.ptx", &text);
    write("examples/none.rs", "use scoped_cuda as _;\nfn main() {}\n");
    write("examples/one.rs", &program(1));
    write("examples/all.rs", &program(KERNELS));
    fs::copy(project().join("Cargo.lock"), scratch.join("Cargo.lock")).unwrap();

    check(&scratch, "none"); // and what it depends on
    write(
        "examples/none.rs",
        "use scoped_cuda as _;\n\nfn main() {}\n",
    );
    let none = check(&scratch, "none");
    for (example, kernels) in [("one", 1), ("all", KERNELS)] {
        let added = check(&scratch, example).saturating_sub(none);
        println!("{BYTES} bytes, {kernels} of {KERNELS} kernels declared: {added:.2?} more");
    }
}
