//! Imports go one way: each file of the crate imports only from layers above its own in the list of
//! `ARCHITECTURE.md`, so that there is no circle, and a reader can begin at the top.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The layers in order, as `ARCHITECTURE.md` lists them: each line of its block is a layer, and its
/// words are files below `src`, or folders that count as one.
fn layers() -> Vec<Vec<String>> {
    let page = read(&project().join("ARCHITECTURE.md"));
    let block = page.split("```layers\n").nth(1).expect("a block of layers");
    let block = block.split("```").next().unwrap();
    let words = |line: &str| -> Vec<String> {
        let files = line.split("  # ").next().unwrap();
        files.split_whitespace().map(str::to_owned).collect()
    };
    block.lines().map(words).collect()
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Rust file of the crate, by its name below `src` without the ending.
fn files() -> BTreeMap<String, PathBuf> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![project().join("src")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let below = path.strip_prefix(project().join("src")).unwrap();
                let name = below
                    .with_extension("")
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                found.insert(name, path);
            }
        }
    }
    found
}

/// The layer of a file, from 0: that of the longest name in the list which it is or lies in.
fn layer_of(file: &str, layers: &[Vec<String>]) -> Option<usize> {
    let covers = |name: &String| file == name || file.starts_with(&format!("{name}/"));
    let fits = layers.iter().enumerate().filter_map(|(layer, names)| {
        let longest = names.iter().filter(|name| covers(name)).map(String::len);
        longest.max().map(|length| (length, layer))
    });
    fits.max().map(|(_, layer)| layer)
}

/// The paths that `use` lines of a text import from the crate: `memory::slice::Slice` for
/// `use super::slice::Slice` in `memory/buffer`.
fn imports(file: &str, text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut found = Vec::new();
    for statement in code.split(';') {
        let Some(at) = statement.rfind("use ") else {
            continue;
        };
        let path: String = statement[at + 4..].split_whitespace().collect();
        let mut module: Vec<&str> = file.split('/').collect();
        let path = if let Some(path) = path.strip_prefix("crate::") {
            module.clear();
            path
        } else if let Some(mut path) = path.strip_prefix("super::") {
            if module.pop() == Some("mod") {
                module.pop();
            }
            while let Some(rest) = path.strip_prefix("super::") {
                module.pop();
                path = rest;
            }
            path
        } else {
            continue;
        };
        let mut expanded = Vec::new();
        expand("", path, &mut expanded);
        let prefix = module.join("::");
        let full = |path: String| match prefix.is_empty() {
            true => path,
            false => format!("{prefix}::{path}"),
        };
        found.extend(expanded.into_iter().map(full));
    }
    found
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn expand(prefix: &str, path: &str, found: &mut Vec<String>) {
    let Some((head, group)) = path.split_once('{') else {
        found.push(format!("{prefix}{path}"));
        return;
    };
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if start < at {
                    expand(&format!("{prefix}{head}"), &group[start..at], found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The file in which an imported path lives: through the `pub use` and `pub(crate) use` lines of
/// the modules on the way.
fn home(path: &str, files: &BTreeMap<String, PathBuf>) -> Option<String> {
    let words: Vec<&str> = path.split("::").collect();
    for length in (1..=words.len()).rev() {
        let module = words[..length].join("/");
        if files.contains_key(&module) {
            return Some(module);
        }
        let folder = format!("{module}/mod");
        let Some(file) = files.get(&folder) else {
            continue;
        };
        let Some(name) = words.get(length) else {
            return Some(folder);
        };
        return Some(re_exported(&read(file), name).map_or(folder, |from| {
            let below = format!("{module}/{from}");
            match files.contains_key(&below) {
                true => below,
                false => format!("{below}/mod"),
            }
        }));
    }
    None
}

/// The module from which a `mod.rs` re-exports `name`.
fn re_exported(text: &str, name: &str) -> Option<String> {
    text.split(';').find_map(|statement| {
        let at = statement.rfind("use ")?;
        let path: String = statement[at + 4..].split_whitespace().collect();
        let mut paths = Vec::new();
        expand("", &path, &mut paths);
        let found = paths
            .iter()
            .find(|path| path.rsplit("::").next() == Some(name))?;
        let first = found.split("::").next()?;
        (first != "crate" && first != "super").then(|| first.to_owned())
    })
}

#[test]
fn every_file_has_a_layer_and_every_layer_has_its_files() {
    let (files, layers) = (files(), layers());
    for file in files.keys() {
        let is_list = file.ends_with("/mod");
        assert!(
            is_list || layer_of(file, &layers).is_some(),
            "src/{file}.rs is in no layer"
        );
    }
    for name in layers.iter().flatten() {
        let is_there = |file: &String| file == name || file.starts_with(&format!("{name}/"));
        assert!(
            files.keys().any(is_there),
            "{name} is in the list of layers, and in src is no such file"
        );
    }
}

#[test]
fn no_file_imports_from_a_layer_below_its_own() {
    let (files, layers) = (files(), layers());
    let mut upward = Vec::new();
    for (file, path) in &files {
        let Some(own) = layer_of(file, &layers).filter(|_| !file.ends_with("mod")) else {
            continue;
        };
        for import in imports(file, &read(path)) {
            let Some(home) = home(&import, &files) else {
                continue;
            };
            if layer_of(&home, &layers).is_some_and(|layer| layer > own) {
                upward.push(format!(
                    "src/{file}.rs imports {import}, which lives in src/{home}.rs"
                ));
            }
        }
    }
    assert!(
        upward.is_empty(),
        "arrows that run back up:\n{}",
        upward.join("\n")
    );
}

/// The files of one layer that import from each other are a circle when the arrows close.
#[test]
fn files_of_one_layer_form_no_circle() {
    let (files, layers) = (files(), layers());
    let mut arrows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, path) in files.iter().filter(|(file, _)| !file.ends_with("mod")) {
        let homes = imports(file, &read(path))
            .into_iter()
            .filter_map(|import| home(&import, &files));
        let own = layer_of(file, &layers);
        let beside = homes.filter(|home| home != file && layer_of(home, &layers) == own);
        arrows.insert(
            file.clone(),
            beside.filter(|home| !home.ends_with("/mod")).collect(),
        );
    }
    // Takes away what imports nothing that is left, until nothing is left or a circle is.
    loop {
        let free: Vec<String> = arrows
            .iter()
            .filter(|(_, to)| to.iter().all(|to| !arrows.contains_key(to)))
            .map(|(file, _)| file.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        free.iter().for_each(|file| drop(arrows.remove(file)));
    }
    assert!(arrows.is_empty(), "a circle is among {arrows:#?}");
}
