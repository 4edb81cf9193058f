//! `ui-tests` is complete and says what it should: headers, messages, twins, claims, and the
//! generated `ui-tests/README.md`.
//!
//! `SCOPED_CUDA_BLESS=1 cargo test --test catalogue` writes the generated files anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The fields of a header, in their order.
const FIELDS: [&str; 7] = ["Claim", "Misuse", "In C", "Real", "rustc", "Reads", "Fix"];

/// The kinds of misuse, in the order of the page, and what they have in common.
const CLASSES: [(&str, &str); 9] = [
    (
        "escape",
        "Something is kept after the end of what it belongs to.",
    ),
    (
        "mix",
        "Things of two contexts meet in one call, or in one place.",
    ),
    (
        "in-flight",
        "Memory, a kernel or a stream is touched while work that needs it may be running.",
    ),
    (
        "threads",
        "The same over threads: one may still run when the scope ends.",
    ),
    (
        "types",
        "Bytes that are not what the other side takes them for.",
    ),
    (
        "declared",
        "What `kernels!` declares is not what the PTX says, or is used as what it is not.",
    ),
    (
        "graph",
        "A graph, or what it owns, is used by somebody else, or it would use what it does not own.",
    ),
    (
        "owned",
        "What may outlive a closure is used without its context, or takes something along that may not.",
    ),
    (
        "papercuts",
        "Programs with nothing wrong in them that do not compile as written.",
    ),
];

/// Lines of a program, without its header.
const LINES_MAX: usize = 25;
/// Lines in which a move may take place.
const MOVED_MAX: usize = 5;
/// Ends the line that is wrong.
const MARK: &str = " // <-";

/// The safety claims of the crate. A type can only prove what is true of every program, so the rest
/// is for run-time tests.
const CLAIMS: [Claim; 12] = [
    Claim(
        "C1",
        "nothing of a context outlives it, or is used outside of it",
        Proof::Types,
    ),
    Claim("C2", "no call mixes objects of two contexts", Proof::Types),
    Claim(
        "C3",
        "the thread's context stack is as it was",
        Proof::Run("which context is current is a state of the thread"),
    ),
    Claim(
        "C4",
        "a drop binds its own context and reports to nobody",
        Proof::Run("a drop is no call that could be refused"),
    ),
    Claim("C5", "a scope waits, whatever happens in it", Proof::Types),
    Claim(
        "C6",
        "memory stays until its last use is over",
        Proof::Types,
    ),
    Claim(
        "C7",
        "never the NULL stream, never the whole context",
        Proof::Run("it is about the driver calls that are made"),
    ),
    Claim(
        "C8",
        "a copy between contexts names both and is waited for",
        Proof::Types,
    ),
    Claim(
        "C9",
        "sizes and shapes are checked",
        Proof::Run("they are values"),
    ),
    Claim(
        "C10",
        "after a fault nothing is asked of the driver",
        Proof::Run("a fault happens when it happens"),
    ),
    Claim(
        "C11",
        "what the driver calls later owns what it uses",
        Proof::Types,
    ),
    Claim(
        "C12",
        "who vouches for memory is sealed, or `unsafe`",
        Proof::Types,
    ),
];

struct Claim(&'static str, &'static str, Proof);

enum Proof {
    /// At least one program that does not compile.
    Types,
    /// At least one test that runs, for this reason.
    Run(&'static str),
}

/// One misuse, read from its files.
struct Case {
    /// `class/sentence`.
    name: String,
    header: Vec<String>,
    body: Vec<String>,
    stderr: String,
}

impl Case {
    fn read(name: &str) -> Self {
        let source = read(&path("fail").join(format!("{name}.rs")));
        let header = header(&source);
        let body = body(&source);
        let stderr = read(&path("fail").join(format!("{name}.stderr")));
        Self {
            name: name.to_owned(),
            header,
            body,
            stderr,
        }
    }

    fn field(&self, name: &str) -> &str {
        let index = FIELDS.iter().position(|&field| field == name).unwrap();
        let prefix = format!("{name}:");
        self.header
            .get(index)
            .and_then(|line| line.strip_prefix(&prefix))
            .unwrap_or("")
            .trim()
    }

    fn class(&self) -> &str {
        self.name.split('/').next().unwrap()
    }

    fn claims(&self) -> impl Iterator<Item = &str> {
        self.field("Claim").split(',').map(str::trim)
    }

    fn errors(&self) -> impl Iterator<Item = &str> {
        self.stderr.lines().filter(|line| line.starts_with("error"))
    }

    /// What is wrong with it, in sentences.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let names: Vec<_> = self
            .header
            .iter()
            .map(|line| line.split(':').next().unwrap_or(""))
            .collect();
        if names != FIELDS {
            problems.push(format!("the header has {names:?}"));
        }
        problems.extend(
            FIELDS
                .iter()
                .filter(|field| self.field(field).is_empty())
                .map(|field| format!("no {field}")),
        );
        for claim in self
            .claims()
            .filter(|claim| CLAIMS.iter().all(|known| known.0 != *claim))
        {
            problems.push(format!("there is no claim {claim:?}"));
        }
        if self.body.len() > LINES_MAX {
            problems.push(format!(
                "{} lines after the header, {LINES_MAX} are allowed",
                self.body.len()
            ));
        }
        if self.body.last().map(String::as_str) != Some("fn main() {}") {
            problems.push("the last line is not `fn main() {}`".to_owned());
        }
        match self.body.iter().find(|line| line.ends_with(MARK)) {
            None => problems.push(format!("no line is marked `{MARK}`")),
            Some(line) if !self.stderr.contains(line.trim()) => {
                problems.push("the .stderr does not show the marked line".to_owned());
            }
            Some(_) => {}
        }
        if !self.stderr.contains(self.field("rustc")) {
            problems.push(format!("the .stderr has no {:?}", self.field("rustc")));
        }
        let twin = path("pass").join(format!("{}.rs", self.name));
        if twin.exists() {
            problems.extend(self.differences(&read(&twin)));
        } else {
            problems.push("no twin".to_owned());
        }
        problems
    }

    /// The twin is the same program but for one place.
    fn differences(&self, twin: &str) -> Option<String> {
        if header(twin) != [format!("Twin of `fail/{}.rs`.", self.name)] {
            return Some("the twin's header is not its own".to_owned());
        }
        let unmarked = |line: &String| line.strip_suffix(MARK).unwrap_or(line).to_owned();
        let wrong: Vec<_> = self.body[..self.body.len().saturating_sub(2)]
            .iter()
            .map(unmarked)
            .collect();
        let right = body(twin);
        let before = wrong.iter().zip(&right).take_while(|(a, b)| a == b).count();
        let shorter = wrong.len().min(right.len());
        let ends = wrong.iter().rev().zip(right.iter().rev());
        let after = ends
            .take_while(|(a, b)| a == b)
            .count()
            .min(shorter - before);
        let (wrong, right) = (
            &wrong[before..wrong.len() - after],
            &right[before..right.len() - after],
        );
        let says_something = |line: &&String| line.chars().any(char::is_alphanumeric);
        match wrong
            .iter()
            .filter(says_something)
            .find(|line| right.contains(line))
        {
            // A line that has moved past a few others is one place as well.
            Some(line) if wrong.len().max(right.len()) > MOVED_MAX => {
                Some(format!("the twin differs before and after {line:?}"))
            }
            None if wrong.is_empty() && right.is_empty() => {
                Some("the twin is the same program".to_owned())
            }
            _ => None,
        }
    }
}

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ui-tests")
        .join(below)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .replace("\r\n", "\n")
}

/// The fields of a header, each on one line.
fn header(source: &str) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        match fields.last_mut() {
            Some(last) if line.starts_with("  ") => *last = format!("{last} {}", line.trim()),
            _ => fields.push(line.trim().to_owned()),
        }
    }
    fields
}

/// What comes after the header and the empty line below it.
fn body(source: &str) -> Vec<String> {
    let lines = source
        .lines()
        .skip_while(|line| line.starts_with("//!"))
        .skip_while(|line| line.is_empty());
    lines.map(str::to_owned).collect()
}

/// `class/sentence` of every file of this kind, in order.
fn names(below: &str, extension: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for class in entries(&path(below))
        .into_iter()
        .filter(|entry| entry.is_dir())
    {
        for file in entries(&class)
            .into_iter()
            .filter(|file| file.extension().is_some_and(|is| is == extension))
        {
            let part = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
            names.insert(format!("{}/{}", part(&class), part(&file)));
        }
    }
    names
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn cases() -> Vec<Case> {
    names("fail", "rs")
        .iter()
        .map(|name| Case::read(name))
        .collect()
}

/// The test files that run and cite the claim in a comment, by their path below the project: those
/// of one file and the modules of others.
fn citing(claim: &str) -> Vec<String> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cites = |line: &str| {
        let comment = line.split_once("//").map_or("", |(_, comment)| comment);
        comment
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == claim)
    };
    let packages = entries(&project.join("crates"));
    let mut files = Vec::new();
    for file in packages
        .iter()
        .chain([&project.to_owned()])
        .flat_map(|package| entries(&package.join("tests")))
        .flat_map(|entry| match entry.is_dir() {
            true => entries(&entry),
            false => vec![entry],
        })
    {
        let below = file.strip_prefix(project).unwrap();
        let name = below.to_str().unwrap().replace('\\', "/");
        let runs =
            name.ends_with(".rs") && !["tests/ui.rs", "tests/catalogue.rs"].contains(&&*name);
        if runs && read(&file).lines().any(cites) {
            files.push(name);
        }
    }
    files.sort();
    files
}

fn readme(cases: &[Case]) -> String {
    let mut page = String::from(include_str!("../ui-tests/intro.md"));
    page += "\n## Claims\n\n| claim | it says that | does not compile | tests that run |\n|---|---|---|---|\n";
    for Claim(id, says, proof) in CLAIMS {
        let count = cases
            .iter()
            .filter(|case| case.claims().any(|claim| claim == id))
            .count();
        let types = match proof {
            Proof::Run(reason) if count == 0 => format!("cannot be: {reason}"),
            _ => format!("{count} cases"),
        };
        let tests: Vec<_> = citing(id)
            .iter()
            .map(|name| format!("[{}](../{name})", name.trim_start_matches("tests/")))
            .collect();
        writeln!(page, "| {id} | {says} | {types} | {} |", tests.join(", ")).unwrap();
    }
    for (class, about) in CLASSES {
        write!(page, "\n## {class}\n\n{about}\n").unwrap();
        for case in cases.iter().filter(|case| case.class() == class) {
            page += &entry(case);
        }
    }
    page
}

fn entry(case: &Case) -> String {
    let (name, phrase) = (&case.name, case.field("rustc"));
    let mut entry = format!("\n### {}\n\n", case.field("Misuse"));
    writeln!(
        entry,
        "{} · [the program](fail/{name}.rs) · [what rustc says](fail/{name}.stderr) · [the right one](pass/{name}.rs)\n",
        case.field("Claim")
    )
    .unwrap();
    entry += "```text\n";
    let errors: BTreeSet<_> = case.errors().collect();
    for error in &errors {
        writeln!(entry, "{error}").unwrap();
    }
    if !errors.iter().any(|error| error.contains(phrase)) {
        writeln!(entry, "... {phrase} ...").unwrap();
    }
    entry += "```\n\n";
    writeln!(entry, "**It means:** {}.\\", case.field("Reads")).unwrap();
    writeln!(entry, "**Instead:** {}.\\", case.field("Fix")).unwrap();
    let real = match case.field("Real") {
        "none known" => String::new(),
        reports => format!(" Reported: {}.", links(reports)),
    };
    writeln!(entry, "**In C:** {}.{real}", case.field("In C")).unwrap();
    entry
}

/// `owner/repository#number`, several with commas, as links.
fn links(reports: &str) -> String {
    let link = |report: &str| match report.split_once('#') {
        Some((repository, number)) => {
            format!("[{report}](https://github.com/{repository}/issues/{number})")
        }
        None => report.to_owned(),
    };
    reports.split(", ").map(link).collect::<Vec<_>>().join(", ")
}

/// The module that compiles the twins, for `tests/ui.rs`.
fn twins() -> String {
    let mut module = String::from("// Generated by tests/catalogue.rs, which says how.\n");
    for name in names("pass", "rs") {
        let identifier = name.replace(['/', '-'], "_");
        write!(module, "\n#[path = \"{name}.rs\"]\nmod {identifier};\n").unwrap();
    }
    module
}

fn is_current(file: &Path, text: &str) {
    if env::var_os("SCOPED_CUDA_BLESS").is_some() {
        fs::write(file, text).unwrap();
    }
    let name = file.display();
    assert!(
        read(file) == text,
        "{name} is stale: SCOPED_CUDA_BLESS=1 cargo test --test catalogue"
    );
}

#[test]
fn each_case_is_complete() {
    let problems: Vec<String> = cases()
        .iter()
        .flat_map(|case| {
            case.problems()
                .into_iter()
                .map(|problem| format!("{}: {problem}", case.name))
        })
        .collect();
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn no_file_is_left_over() {
    let programs = names("fail", "rs");
    assert!(programs.len() >= 28, "only {} misuses", programs.len());
    assert_eq!(names("fail", "stderr"), programs);
    assert_eq!(names("pass", "rs"), programs);
}

#[test]
fn each_claim_has_a_test() {
    let cases = cases();
    for Claim(id, _, proof) in &CLAIMS {
        let is_typed = cases
            .iter()
            .any(|case| case.claims().any(|claim| claim == *id));
        match proof {
            Proof::Types => assert!(is_typed, "no program that must not compile claims {id}"),
            Proof::Run(_) => assert!(!citing(id).is_empty(), "no test in tests/ cites {id}"),
        }
    }
}

#[test]
fn generated_files_are_current() {
    is_current(&path("pass/mod.rs"), &twins());
    is_current(&path("README.md"), &readme(&cases()));
}
