//! What other crates can reach: hidden items, traits, raw handles. Claims C7, C12.

use std::fs;
use std::path::{Path, PathBuf};

/// Hidden items that need no token, because calling them changes nothing and gives nothing away.
const HARMLESS: &[(&str, &str)] = &[
    ("kernel/args.rs", "type Value: seal::Value + 'static;"),
    (
        "kernel/args.rs",
        "fn seen(&self, config: &LaunchConfig) -> P::Seen;",
    ),
    ("kernel/args.rs", "fn elements(self) -> usize;"),
];

/// Public traits that other crates may implement. There is none that vouches for memory.
const OPEN: &[&str] = &["ConstText", "Family", "Attached", "Header"];

/// Public traits that are implemented for all types with a foreign trait: nobody else can implement
/// them.
const BLANKET: &[&str] = &["Element"];

fn sources() -> Vec<(String, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut found, mut folders) = (Vec::new(), vec![src.clone()]);
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(&src).unwrap().to_str().unwrap();
                found.push((name.replace('\\', "/"), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// The item that begins at `text`: to its `;` or `{`, on one line.
fn item(text: &str) -> String {
    let end = text.find(['{', ';']).map_or(text.len(), |end| {
        end + usize::from(text.as_bytes()[end] == b';')
    });
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `#[doc(hidden)]` is no seal: such an item either asks for the token, which other crates cannot
/// name, or is known to be harmless.
#[test]
fn hidden_items_ask_for_the_token() {
    let mut unknown = Vec::new();
    for (file, text) in sources() {
        for (at, _) in text.match_indices("#[doc(hidden)]") {
            let item = item(text[at + "#[doc(hidden)]".len()..].trim_start());
            let is_sealed = item.contains("token: Token") || item.contains("token: sealed::Token");
            // What a macro writes is the caller's code, which can call nothing else.
            let is_macro = item.starts_with("#[macro_export] macro_rules! __");
            if !is_sealed && !is_macro && !HARMLESS.contains(&(&*file, &*item)) {
                unknown.push(format!("src/{file}: {item}"));
            }
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
}

/// A trait that other crates could implement would let safe code vouch for memory or for arguments.
#[test]
fn public_traits_are_sealed() {
    let mut unsealed = Vec::new();
    for (file, text) in sources() {
        let sealing = file == "memory/mod.rs";
        for (at, _) in text.match_indices("\npub trait ") {
            let body = &text[at + 1..];
            let head = item(body);
            let name: String = head["pub trait ".len()..]
                .chars()
                .take_while(|c| c.is_alphanumeric())
                .collect();
            let end = body
                .find("\n}")
                .unwrap_or(body.len())
                .min(body.find("{}").unwrap_or(usize::MAX));
            let is_sealed = [
                "Sealed",
                "SealedFor<",
                "token: Token",
                "token: sealed::Token",
            ]
            .iter()
            .any(|seal| head.contains(seal) || body[..end].contains(seal));
            // A trait that needs a sealed one is sealed with it.
            let inherits = ["Memory<", "PitchedMemory<", "Any"]
                .iter()
                .any(|base| head.contains(&format!(": {base}")));
            let known = OPEN.contains(&&*name) || BLANKET.contains(&&*name);
            let is_seal = sealing && name == "Sealed";
            if !(is_sealed || inherits || known || is_seal) {
                unsealed.push(format!("src/{file}: {head}"));
            }
        }
    }
    assert_eq!(unsealed, Vec::<String>::new());
}

/// A raw handle is a number that anybody can make: a safe function that hands one to the driver
/// would let safe code crash it.
#[test]
fn no_safe_public_function_takes_a_raw_handle() {
    let handles = [
        "CUstream",
        "CUdeviceptr",
        "CUcontext",
        "CUevent",
        "CUmodule",
        "CUfunction",
        "CUmemoryPool",
        "CUlinkState",
        "CUgraph",
        "*const ",
        "*mut ",
    ];
    let mut found = Vec::new();
    for (file, text) in sources() {
        for (at, _) in text
            .match_indices("pub fn ")
            .chain(text.match_indices("pub const fn "))
        {
            let item = item(&text[at..]);
            let arguments = item.split(" -> ").next().unwrap();
            if handles.iter().any(|handle| arguments.contains(handle)) {
                found.push(format!("src/{file}: {item}"));
            }
        }
    }
    // `from_symbols` is unsafe; this is what a closure of it looks like nowhere else.
    assert_eq!(found, Vec::<String>::new());
}

/// What a function does that waits in its own frame, or that calls one which does: the process may
/// end there.
const WAITS: &[&str] = &[
    " complete(",
    " settle(",
    " wait(state",
    " wait(self.",
    " try_scope(",
    "self.try_scope(",
    "self.try_fill(",
    "as_slice().read(",
    "as_slice().to_vec(",
    "as_mut_slice().write(",
    "as_mut_slice().copy_from(",
    "as_mut_slice().set_zero(",
    "as_mut_slice().fill(",
    "memory.set_zero(",
    "memory.write(",
    "Buffer::zeros(",
    "Buffer::filled(",
    "Buffer::upload(",
    "Buffer::uninit(",
    "PitchedBuffer::zeros(",
    "self.read(",
    "self.write(",
    "self.copy(",
    "Self::upload(",
];

/// A user of safety-critical code has to know where a process can end.
#[test]
fn functions_that_may_end_the_process_say_so() {
    let (mut waiting, mut silent) = (0, Vec::new());
    for (file, text) in sources() {
        if file.starts_with("internal/") {
            continue;
        }
        for (at, _) in text.match_indices("pub fn ") {
            let rest = &text[at..];
            let indent = at - text[..at].rfind('\n').map_or(0, |end| end + 1);
            let end = rest.find(&format!("\n{}}}", " ".repeat(indent)));
            let body = &rest[..end.unwrap_or(rest.len())];
            let Some((_, body)) = body.split_once('{') else {
                continue;
            };
            // In a scope the same words enqueue.
            let in_scope = file.ends_with("in_scope.rs") || file.starts_with("graph/");
            if in_scope || !WAITS.iter().any(|waits| body.contains(waits)) {
                continue;
            }
            waiting += 1;
            let before = &text[..at];
            let docs = before.rfind("\n\n").map_or(before, |end| &before[end..]);
            if !docs.contains("# Aborts") {
                silent.push(format!("src/{file}: {}", item(rest)));
            }
        }
    }
    assert_eq!(silent, Vec::<String>::new());
    assert!(waiting > 30, "{waiting} functions wait");
}

/// The rules above see what they are about.
#[test]
fn the_sources_are_read() {
    let sources = sources();
    assert!(sources.len() > 60, "{} files", sources.len());
    let hidden: usize = sources
        .iter()
        .map(|(_, text)| text.matches("#[doc(hidden)]").count())
        .sum();
    assert!(hidden > 5, "{hidden} hidden items");
}
