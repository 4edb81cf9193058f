//! Every PTX text of the tree is read, and every kernel in it is simulated.

use scoped_cuda_ptx::Module;
use std::path::{Path, PathBuf};

/// The texts under a directory.
fn texts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_built = path
            .file_name()
            .is_some_and(|name| name == "target" || name == ".git");
        if path.is_dir() && !is_built {
            texts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
}

#[test]
fn every_text_of_the_tree_is_read_and_simulated() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    texts(&root, &mut found);
    assert!(found.len() >= 8, "only {} texts were found", found.len());
    let mut wrong = Vec::new();
    for path in &found {
        let text = std::fs::read_to_string(path).unwrap();
        match Module::parse(&text) {
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
            Ok(module) => {
                // This one calls a function of another text.
                let is_half = path.ends_with("link_kernel.ptx");
                for kernel in module.kernels().filter(|_| !is_half) {
                    if let Err(missing) = module.check_supported(kernel.name()) {
                        wrong.push(format!("{}: {}: {missing}", path.display(), kernel.name()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn texts_that_belong_together_are_read_together() {
    let read = |name: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/common");
        std::fs::read_to_string(root.join(name)).unwrap()
    };
    let (kernel, helper) = (read("link_kernel.ptx"), read("link_helper.ptx"));
    let module = Module::link(&[&kernel, &helper]).unwrap_or_else(|(_, error)| panic!("{error}"));
    assert_eq!(module.check_supported("linked"), Ok(()));
}
