//! The hand-written driver types and the symbol table say what NVIDIA's headers say.
//!
//! The headers' side is `abi/cuda_13_5.txt`, made by `python3 tests/abi/extract.py` from the
//! headers of CUDA 13.5. Neither a GPU nor an installation of CUDA is needed to run this. After a
//! new symbol: run the script. After a new type, constant or result code: add it to `abi/ours.rs`
//! too. The tests say which of the two was forgotten.

#[path = "abi/compare.rs"]
mod compare;
#[path = "abi/header.rs"]
mod header;
#[path = "abi/ours.rs"]
mod ours;

use compare::{
    attribute_mismatches, struct_mismatches, symbol_mismatches, type_mismatches, value_mismatches,
};
use header::Header;
use ours::{rust_constants, rust_results, rust_structs, rust_types};
use scoped_cuda::Attribute;
use scoped_cuda::ffi::{CUhostFn, SYMBOLS};
use std::collections::BTreeSet;
use std::ffi::c_void;

#[test]
fn every_symbol_has_the_signature_of_its_version_in_the_header() {
    let header = Header::read();
    let mismatches: Vec<_> = SYMBOLS
        .iter()
        .flat_map(|symbol| symbol_mismatches(&header, symbol))
        .collect();
    assert_none(&mismatches);
}

#[test]
fn the_fixture_has_the_names_of_the_symbol_table_and_no_others() {
    let table: Vec<_> = SYMBOLS.iter().map(|symbol| symbol.name).collect();
    let names: BTreeSet<_> = table.iter().copied().collect();
    assert_eq!(names.len(), table.len(), "a name occurs twice in the table");
    assert_eq!(
        names,
        Header::read().functions.into_keys().collect(),
        "left: the table, right: the fixture"
    );
}

#[test]
fn scalars_handles_and_enums_have_the_size_alignment_and_kind_of_the_header() {
    assert_none(&type_mismatches(&Header::read(), &rust_types()));
}

#[test]
fn host_functions_have_the_signature_of_the_header() {
    const _: Option<CUhostFn> = None::<unsafe extern "C" fn(*mut c_void)>;
    let header = Header::read();
    let parameters: Vec<_> = header.callbacks["CUhostFn"]
        .iter()
        .map(|c| header.in_rust(c))
        .collect();
    assert_eq!(parameters, [Some("*mut c_void".to_owned())]);
}

#[test]
fn structs_have_the_fields_of_the_header_in_the_same_bytes() {
    let header = Header::read();
    let mismatches: Vec<_> = rust_structs()
        .iter()
        .flat_map(|(name, rust)| struct_mismatches(&header, name, rust))
        .collect();
    assert_none(&mismatches);
}

#[test]
fn constants_have_the_values_of_the_header() {
    assert_none(&value_mismatches(
        &Header::read().constants,
        &rust_constants(),
    ));
}

#[test]
fn result_codes_have_the_values_of_the_header() {
    assert_none(&value_mismatches(&Header::read().results, &rust_results()));
}

#[test]
fn attributes_have_the_names_and_values_of_the_header_and_none_is_missing() {
    let ours: Vec<_> = Attribute::ALL
        .iter()
        .map(|&attribute| (format!("{attribute:?}"), attribute as u32))
        .collect();
    assert_none(&attribute_mismatches(&Header::read().attributes, &ours));
}

#[test]
fn every_name_that_the_sources_declare_is_compared() {
    let structs = rust_structs().into_iter().map(|(name, _)| name);
    let types = rust_types()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|&name| name != "size_t");
    assert_same_names(ours::declared_types(), types.chain(structs));
    assert_same_names(
        ours::declared_constants(),
        rust_constants().into_iter().map(|(name, _)| name),
    );
    assert_same_names(
        ours::declared_results(),
        rust_results().into_iter().map(|(name, _)| name),
    );
}

fn assert_same_names(declared: BTreeSet<String>, compared: impl Iterator<Item = &'static str>) {
    let compared: BTreeSet<_> = compared.map(String::from).collect();
    let missing: Vec<_> = declared.symmetric_difference(&compared).collect();
    assert!(
        missing.is_empty(),
        "either declared in src or compared in tests/abi/ours.rs, not both: {missing:?}"
    );
}

fn assert_none(mismatches: &[String]) {
    assert!(
        mismatches.is_empty(),
        "{} mismatches with the headers:\n{}",
        mismatches.len(),
        mismatches.join("\n")
    );
}
