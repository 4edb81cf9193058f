//! What a reader sees of the first examples compiles as it stands: the front page of the
//! documentation and the README, without the lines that are hidden there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pages with their programs: what stands around each of them here.
const PAGES: [(&str, &[(&str, &str)]); 2] =
    [("src/lib.md", &[STATEMENTS]), ("README.md", &[PROGRAM])];

const PROGRAM: (&str, &str) = ("", "");
const STATEMENTS: (&str, &str) = (
    "fn main() -> Result<(), Box<dyn std::error::Error>> {\n",
    "\nOk(())\n}\n",
);

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The Rust programs of a page, as they are shown.
fn programs(page: &str) -> Vec<String> {
    let text = fs::read_to_string(project().join(page)).unwrap();
    let mut programs = Vec::new();
    let mut parts = text.split("\n```");
    parts.next();
    while let (Some(block), after) = (parts.next(), parts.next()) {
        let (language, code) = block.split_once('\n').unwrap_or((block, ""));
        if language.is_empty() || language.starts_with("rust") {
            let is_hidden = |line: &&str| line.trim() == "#" || line.trim_start().starts_with("# ");
            let shown: Vec<&str> = code.lines().filter(|line| !is_hidden(line)).collect();
            programs.push(shown.join("\n"));
        }
        if after.is_none() {
            break;
        }
    }
    programs
}

#[test]
fn what_is_shown_first_compiles_as_it_stands() {
    let scratch = project().join("target/tests/docs");
    let examples = scratch.join("examples");
    // Programs of an earlier run may have had other names.
    let _ = fs::remove_dir_all(&examples);
    fs::create_dir_all(&examples).unwrap();
    fs::create_dir_all(scratch.join("src")).unwrap();
    let ptx = project().join("examples/saxpy.ptx");
    fs::copy(ptx, examples.join("saxpy.ptx")).unwrap();
    let manifest = format!(
        "[package]\nname = \"shown\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\
         [dependencies]\nscoped-cuda = {{ path = {:?} }}\n[workspace]\n",
        project()
    );
    fs::write(scratch.join("Cargo.toml"), manifest).unwrap();
    fs::copy(project().join("Cargo.lock"), scratch.join("Cargo.lock")).unwrap();
    fs::write(scratch.join("src/lib.rs"), "").unwrap();
    for (page, frames) in PAGES {
        let programs = programs(page);
        assert_eq!(programs.len(), frames.len(), "programs of {page}");
        for (index, (program, (before, after))) in programs.iter().zip(frames).enumerate() {
            let name = format!("{}_{index}.rs", page.replace(['/', '.'], "_"));
            let whole = format!("{before}{program}{after}");
            fs::write(examples.join(name), whole).unwrap();
        }
    }
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--examples"])
        .current_dir(&scratch)
        .env(
            "CARGO_TARGET_DIR",
            project().join("target/tests/docs-target"),
        )
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
