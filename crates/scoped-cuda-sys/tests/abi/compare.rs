//! The comparisons: each returns the mismatches, so that the tests at the end can show that it
//! finds one.

use crate::header::{Field, Header, HeaderAttribute, Struct, Type};
use scoped_cuda::ffi::{Presence, Symbol};
use std::collections::BTreeMap;
use std::ffi::c_int;

/// CUDA 12.0, the oldest driver that the crate works with.
const OLDEST_DRIVER: c_int = 12_000;

pub(crate) fn symbol_mismatches(header: &Header, symbol: &Symbol) -> Vec<String> {
    let Symbol {
        name,
        version,
        parameters,
        ..
    } = *symbol;
    let Some(versions) = header.functions.get(name) else {
        return vec![format!(
            "{name}: not in the fixture (run tests/abi/extract.py)"
        )];
    };
    let Some(c) = versions.get(&version) else {
        return vec![format!(
            "{name}: no version {version}, the header has {:?}",
            versions.keys()
        )];
    };
    let mut mismatches = Vec::new();
    let rust: Vec<_> = c
        .iter()
        .map(|c| {
            header
                .in_rust(c)
                .unwrap_or_else(|| format!("no Rust type for `{c}`"))
        })
        .collect();
    if rust != parameters {
        mismatches.push(format!(
            "{name} {version}: the header has {rust:?}, the table {parameters:?}"
        ));
    }
    if symbol.presence == Presence::required && version > OLDEST_DRIVER {
        mismatches.push(format!(
            "{name} {version}: required, but a driver of CUDA 12.0 lacks it"
        ));
    }
    // The driver gives the newest version up to the one asked for; to ask for an older one must not
    // happen by oversight.
    if let Some(newer) = versions
        .keys()
        .find(|&&newer| newer > version && newer <= OLDEST_DRIVER)
    {
        mismatches.push(format!(
            "{name} {version}: every driver of CUDA 12.0 has version {newer}"
        ));
    }
    mismatches
}

pub(crate) fn type_mismatches(header: &Header, types: &[(&str, Type)]) -> Vec<String> {
    let differs = |&&(name, rust): &&(&str, Type)| header.types.get(name) != Some(&rust);
    let text = |&(name, rust): &(&str, Type)| {
        format!(
            "{name}: header {:?}, crate {rust:?}",
            header.types.get(name)
        )
    };
    types.iter().filter(differs).map(text).collect()
}

pub(crate) fn struct_mismatches(header: &Header, name: &str, rust: &Struct) -> Vec<String> {
    let Some(c) = header.structs.get(name) else {
        return vec![format!("{name}: not in the fixture")];
    };
    let mut mismatches = Vec::new();
    if (c.size, c.align) != (rust.size, rust.align) {
        let sizes = [c.size, c.align, rust.size, rust.align];
        mismatches.push(format!(
            "{name}: header size and alignment, then the crate's: {sizes:?}"
        ));
    }
    // Field by field, and all of both: no hole but what aligns the next field, and no overlap, so
    // that a field that either side leaves out shows.
    let mut c_fields = c.fields.iter();
    let mut end = 0;
    for field in &rust.fields {
        let mut offset = None;
        let mut kind = "";
        for part in field.name.split(' ') {
            let Some(c) = c_fields
                .next()
                .filter(|c| c.name == part && c.offset == aligned(end, c))
            else {
                mismatches.push(format!("{name}: at byte {end} the header has no `{part}`"));
                return mismatches;
            };
            offset.get_or_insert(c.offset);
            end = c.offset + c.size;
            kind = c.kind;
        }
        let offset = offset.unwrap_or(end);
        let c = Field {
            name: field.name,
            offset,
            size: end - offset,
            kind,
        };
        if *field != c {
            mismatches.push(format!("{name}: header {c:?}, crate {field:?}"));
        }
    }
    if end.next_multiple_of(c.align) != c.size || c_fields.next().is_some() {
        mismatches.push(format!(
            "{name}: the crate's fields end at byte {end} of {}",
            c.size
        ));
    }
    mismatches
}

/// Where a field that comes next after byte `end` starts: numbers and pointers are aligned to their
/// size.
fn aligned(end: usize, field: &Field) -> usize {
    match field.kind {
        "signed" | "unsigned" | "pointer" => end.next_multiple_of(field.size),
        _ => end,
    }
}

pub(crate) fn value_mismatches(
    header: &BTreeMap<&'static str, u32>,
    values: &[(&'static str, u32)],
) -> Vec<String> {
    let differs = |&&(name, value): &&(&'static str, u32)| header.get(name) != Some(&value);
    let text = |(name, value): &(&'static str, u32)| {
        format!("{name}: header {:?}, crate {value}", header.get(name))
    };
    values.iter().filter(differs).map(text).collect()
}

/// A value with several names in the header must have the current one in the crate.
pub(crate) fn attribute_mismatches(
    header: &[HeaderAttribute],
    ours: &[(String, u32)],
) -> Vec<String> {
    let mut mismatches = Vec::new();
    for (name, value) in ours {
        let all: Vec<_> = header
            .iter()
            .filter(|attribute| attribute.value == *value)
            .collect();
        let current: Vec<_> = all
            .iter()
            .copied()
            .filter(|attribute| !attribute.deprecated)
            .collect();
        let names = if current.is_empty() { all } else { current };
        if !names
            .iter()
            .any(|attribute| normal(attribute.name) == normal(name))
        {
            let names: Vec<_> = names.iter().map(|attribute| attribute.name).collect();
            mismatches.push(format!(
                "{name} = {value}: the header's name for {value} is {names:?}"
            ));
        }
    }
    for HeaderAttribute { name, value, .. } in header {
        match ours
            .iter()
            .filter(|(_, our_value)| our_value == value)
            .count()
        {
            0 => mismatches.push(format!("{name} = {value}: missing in the crate")),
            1 => {}
            n => mismatches.push(format!("{name} = {value}: {n} times in the crate")),
        }
    }
    mismatches
}

/// `CU_DEVICE_ATTRIBUTE_WARP_SIZE` and `WarpSize` are one name.
fn normal(name: &str) -> String {
    name.trim_start_matches("CU_DEVICE_ATTRIBUTE_")
        .replace('_', "")
        .to_lowercase()
}

mod tests {
    use super::*;
    use crate::assert_none;
    use crate::ours::{rust_structs, rust_type};
    use scoped_cuda::ffi::SYMBOLS;
    use std::convert::identity;
    use std::ffi::c_uint;

    fn symbol(name: &str) -> Symbol {
        *SYMBOLS
            .iter()
            .find(|symbol| symbol.name == name)
            .expect("a name of the table")
    }

    /// Exactly one mismatch, and it says `phrase`.
    fn assert_found(mismatches: &[String], phrase: &str) {
        assert!(
            matches!(mismatches, [one] if one.contains(phrase)),
            "{phrase:?} expected in {mismatches:?}"
        );
    }

    #[test]
    fn a_wrong_parameter_is_found() {
        let header = Header::read();
        let right = symbol("cuMemcpyHtoDAsync");
        let wrong = |parameters| {
            symbol_mismatches(
                &header,
                &Symbol {
                    parameters,
                    ..right
                },
            )
        };
        assert_none(&wrong(&[
            "CUdeviceptr",
            "*const c_void",
            "usize",
            "CUstream",
        ]));
        assert_found(
            &wrong(&["CUdeviceptr", "*mut c_void", "usize", "CUstream"]),
            "the header has",
        );
        assert_found(
            &wrong(&["CUdeviceptr", "*const c_void", "c_uint", "CUstream"]),
            "the header has",
        );
        assert_found(
            &wrong(&["CUdeviceptr", "*const c_void", "usize"]),
            "the header has",
        );
        assert_found(
            &wrong(&["*const c_void", "CUdeviceptr", "usize", "CUstream"]),
            "the header has",
        );
    }

    #[test]
    fn a_wrong_version_is_found() {
        let header = Header::read();
        let at = |name, version| {
            symbol_mismatches(
                &header,
                &Symbol {
                    version,
                    ..symbol(name)
                },
            )
        };
        assert_found(&at("cuStreamCreate", 4000), "no version 4000");
        // The same parameters, another behaviour: only 11.4 knows the parts of a divided GPU.
        assert_found(&at("cuDeviceGetUuid", 9020), "has version 11040");
        // 32-bit sizes.
        let old = at("cuMemGetInfo", 2000);
        assert!(
            old.iter()
                .any(|one| one.contains(r#"["*mut c_uint", "*mut c_uint"]"#)),
            "{old:?}"
        );
    }

    #[test]
    fn a_required_symbol_that_is_newer_than_cuda_12_0_is_found() {
        let required = Symbol {
            presence: Presence::required,
            ..symbol("cuFuncGetParamInfo")
        };
        assert_found(
            &symbol_mismatches(&Header::read(), &required),
            "a driver of CUDA 12.0 lacks it",
        );
    }

    #[test]
    fn a_wrong_type_is_found() {
        let header = Header::read();
        let right = rust_type("CUdevice", identity::<c_int>);
        assert_none(&type_mismatches(&header, &[right]));
        assert_found(
            &type_mismatches(&header, &[rust_type("CUdevice", identity::<c_uint>)]),
            "CUdevice",
        );
        assert_found(
            &type_mismatches(&header, &[rust_type("CUdevice", identity::<u64>)]),
            "CUdevice",
        );
        assert_found(
            &type_mismatches(&header, &[("CUnothing", right.1)]),
            "header None",
        );
    }

    #[test]
    fn a_wrong_struct_is_found() {
        let header = Header::read();
        let (name, right) = rust_structs().swap_remove(2);
        let after = |spoil: fn(&mut Struct)| {
            let mut rust = right.clone();
            spoil(&mut rust);
            struct_mismatches(&header, name, &rust)
        };
        assert_none(&after(|_| {}));
        assert_found(&after(|rust| rust.size += 8), "size and alignment");
        assert_found(&after(|rust| rust.fields[4].offset += 4), "maxSize");
        assert_found(&after(|rust| rust.fields[0].kind = "signed"), "allocType");
        assert_found(
            &after(|rust| rust.fields.swap(0, 1)),
            "at byte 0 the header has no `handleTypes`",
        );
        assert_found(
            &after(|rust| {
                rust.fields
                    .retain(|field| field.name != "win32SecurityAttributes")
            }),
            "at byte 16 the header has no `maxSize`",
        );
        assert_found(
            &after(|rust| rust.fields.truncate(6)),
            "end at byte 34 of 88",
        );
    }

    #[test]
    fn a_field_that_the_fixture_lacks_is_found() {
        let mut header = Header::read();
        let (name, rust) = rust_structs().swap_remove(2);
        header
            .structs
            .get_mut(name)
            .expect("in the fixture")
            .fields
            .pop();
        assert!(!struct_mismatches(&header, name, &rust).is_empty());
    }

    #[test]
    fn a_wrong_value_is_found() {
        let results = Header::read().results;
        assert_none(&value_mismatches(
            &results,
            &[("CUDA_ERROR_ILLEGAL_ADDRESS", 700)],
        ));
        assert_found(
            &value_mismatches(&results, &[("CUDA_ERROR_ILLEGAL_ADDRESS", 701)]),
            "header Some(700), crate 701",
        );
        assert_found(
            &value_mismatches(&results, &[("CUDA_ERROR_ILLEGAL_ADRESS", 700)]),
            "header None",
        );
    }

    #[test]
    fn a_wrong_attribute_is_found() {
        let header = [
            ("A_ONE", 1, false),
            ("OLD_ONE", 1, true),
            ("OLD_TWO", 2, true),
        ]
        .map(|(name, value, deprecated)| HeaderAttribute {
            name,
            value,
            deprecated,
        });
        let with = |ours: &[(&str, u32)]| {
            let ours: Vec<_> = ours
                .iter()
                .map(|&(name, value)| (name.to_owned(), value))
                .collect();
            attribute_mismatches(&header, &ours)
        };
        assert_none(&with(&[("AOne", 1), ("OldTwo", 2)]));
        assert_found(&with(&[("AnotherOne", 1), ("OldTwo", 2)]), "A_ONE");
        assert_found(&with(&[("OldOne", 1), ("OldTwo", 2)]), "A_ONE");
        assert_found(&with(&[("AOne", 1)]), "OLD_TWO = 2: missing in the crate");
        assert_found(
            &with(&[("AOne", 1), ("OldTwo", 2), ("OldTwo", 2)]),
            "2 times",
        );
        assert_found(
            &with(&[("AOne", 1), ("OldTwo", 2), ("Three", 3)]),
            "the header's name for 3 is []",
        );
    }
}
