//! Reads `cuda_13_5.txt`, one fact a line; what a line holds is said above its section in the file.

use std::collections::BTreeMap;

/// The facts of `cuda.h` and `cudaTypedefs.h`.
#[derive(Default)]
pub(crate) struct Header {
    aliases: BTreeMap<&'static str, &'static str>,
    /// Function name -> CUDA version -> C parameter types.
    pub(crate) functions: BTreeMap<&'static str, BTreeMap<i32, Vec<&'static str>>>,
    /// Callback type -> C parameter types.
    pub(crate) callbacks: BTreeMap<&'static str, Vec<&'static str>>,
    pub(crate) types: BTreeMap<&'static str, Type>,
    pub(crate) structs: BTreeMap<&'static str, Struct>,
    pub(crate) constants: BTreeMap<&'static str, u32>,
    pub(crate) results: BTreeMap<&'static str, u32>,
    /// In the order of `cuda.h`: the values are not unique, because old names live on.
    pub(crate) attributes: Vec<HeaderAttribute>,
}

/// A type that is not a struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Type {
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// `signed`, `unsigned` or `pointer`.
    pub(crate) kind: &'static str,
}

/// A struct and its fields in their order.
#[derive(Clone, Default)]
pub(crate) struct Struct {
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) fields: Vec<Field>,
}

/// Some bytes of a struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    /// Of the header; of the Rust struct it is the header's names of the fields that these bytes
    /// are, with a space between.
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    /// As in [`Type`], or `bytes` or `struct`.
    pub(crate) kind: &'static str,
}

/// A `CU_DEVICE_ATTRIBUTE_*` constant.
#[derive(Clone, Copy)]
pub(crate) struct HeaderAttribute {
    pub(crate) name: &'static str,
    pub(crate) value: u32,
    pub(crate) deprecated: bool,
}

impl Header {
    /// The checked-in facts. Panics at a line that it does not understand or that says a thing
    /// twice.
    pub(crate) fn read() -> Self {
        Self::parse(include_str!("cuda_13_5.txt"))
    }

    fn parse(text: &'static str) -> Self {
        let mut header = Self::default();
        for line in text.lines() {
            if !line.is_empty() && !line.starts_with('#') {
                let known = header.line(line);
                assert!(
                    known == Some(()),
                    "cuda_13_5.txt: {line:?} is not understood or said twice"
                );
            }
        }
        header
    }

    fn line(&mut self, line: &'static str) -> Option<()> {
        let (facts, parameters) = line.split_once(" :").unwrap_or((line, ""));
        let parameters = || {
            parameters
                .split(',')
                .map(str::trim)
                .filter(|parameter| !parameter.is_empty())
                .collect()
        };
        let words: Vec<&str> = facts.split(' ').collect();
        let before = match *words.as_slice() {
            ["version", "13050"] => None,
            ["alias", versioned, plain] => self.aliases.insert(versioned, plain).map(drop),
            ["function", name, version] => {
                let versions = self.functions.entry(name).or_default();
                versions
                    .insert(version.parse().ok()?, parameters())
                    .map(drop)
            }
            ["callback", name] => self.callbacks.insert(name, parameters()).map(drop),
            ["type", name, size, align, kind] => {
                let new = Type {
                    size: size.parse().ok()?,
                    align: align.parse().ok()?,
                    kind,
                };
                self.types.insert(name, new).map(drop)
            }
            ["struct", name, size, align] => {
                let new = Struct {
                    size: size.parse().ok()?,
                    align: align.parse().ok()?,
                    fields: Vec::new(),
                };
                self.structs.insert(name, new).map(drop)
            }
            ["field", of, name, offset, size, kind] => {
                let new = Field {
                    name,
                    offset: offset.parse().ok()?,
                    size: size.parse().ok()?,
                    kind,
                };
                self.structs.get_mut(of)?.fields.push(new);
                None
            }
            ["constant", name, value] => self.constants.insert(name, value.parse().ok()?).map(drop),
            ["result", name, value] => self.results.insert(name, value.parse().ok()?).map(drop),
            ["attribute", name, value, ref note @ ..] => {
                let deprecated = matches!(note, ["deprecated"]);
                self.attributes.push(HeaderAttribute {
                    name,
                    value: value.parse().ok()?,
                    deprecated,
                });
                (note.len() > usize::from(deprecated)).then_some(())
            }
            _ => return None,
        };
        before.is_none().then_some(())
    }

    /// A C type in the spelling that the symbol table uses; `None` for one that the crate has no
    /// type for.
    pub(crate) fn in_rust(&self, c: &str) -> Option<String> {
        let pointee = c.trim_end_matches('*');
        let (constant, base) = pointee
            .strip_prefix("const ")
            .map_or((false, pointee), |base| (true, base));
        let mut rust = self.base_in_rust(base)?.to_owned();
        for level in 0..c.len() - pointee.len() {
            // C's leading `const` belongs to what the innermost pointer points to.
            let mutability = if constant && level == 0 {
                "const"
            } else {
                "mut"
            };
            rust = format!("*{mutability} {rust}");
        }
        Some(rust)
    }

    fn base_in_rust<'a>(&self, base: &'a str) -> Option<&'a str> {
        Some(match base {
            "void" => "c_void",
            "char" => "c_char",
            "int" => "c_int",
            "float" => "f32",
            "unsigned char" => "c_uchar",
            "unsigned short" => "c_ushort",
            "unsigned int" => "c_uint",
            "unsigned long long" => "c_ulonglong",
            "size_t" => "usize",
            _ => {
                let name = self.aliases.get(base).copied().unwrap_or(base);
                let known = self.types.contains_key(name) || self.structs.contains_key(name);
                return known.then_some(name);
            }
        })
    }
}

#[test]
fn a_c_type_has_one_rust_spelling_or_none() {
    let header = Header::read();
    let cases = [
        ("const char**", Some("*mut *const c_char")),
        ("void**", Some("*mut *mut c_void")),
        ("const CUmemPoolProps_v1*", Some("*const CUmemPoolProps")),
        ("CUdeviceptr_v2", Some("CUdeviceptr")),
        // 32 bits wide, from before CUDA 3.2.
        ("CUdeviceptr_v1", None),
        ("const char*const*", None),
        ("double", None),
    ];
    for (c, rust) in cases {
        assert_eq!(header.in_rust(c).as_deref(), rust, "{c}");
    }
}

#[test]
#[should_panic(expected = "is not understood or said twice")]
fn a_fact_said_twice_is_refused() {
    Header::parse("function cuInit 2000 : unsigned int\nfunction cuInit 2000 : int");
}

#[test]
#[should_panic(expected = "is not understood or said twice")]
fn a_line_of_unknown_form_is_refused() {
    Header::parse("enum CUresult 4 4");
}
