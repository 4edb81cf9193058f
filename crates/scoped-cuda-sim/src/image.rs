//! Images: PTX text, and the two kinds of binaries around it.
//!
//! What the simulated linker makes is an ELF file with a section of PTX texts. Machine code is not
//! simulated: an ELF file from elsewhere is code for other devices.

use super::jit::Options;
use super::ptx::{self, DEVICE_TARGET, Entry, Ptx, Refusal};
use scoped_cuda_sys::CUresult;
use std::collections::HashSet;
use std::fmt::Write as _;

/// How binaries begin, and how many bytes their headers have.
pub(super) const HEADERS: [(&[u8], usize); 2] = [(ELF, ELF_HEADER), (FATBIN, FATBIN_HEADER)];

const ELF: &[u8] = b"\x7fELF";
/// The padding in the identification of an ELF file: nobody else writes this there.
const OURS: &[u8] = b"sim-ptx";
const ELF_HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
const SECTIONS: usize = 3;
const NAMES: &[u8] = b"\0.names\0.texts\0";
const FATBIN: &[u8] = b"\x50\xed\x55\xba";
const FATBIN_HEADER: usize = 16;
const ARCHIVE: &[u8] = b"!<arch>\n";
/// Functions that the driver brings along.
const OF_THE_DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// An image that is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused {
    pub(super) code: CUresult,
    pub(super) log: String,
}

/// An image that loads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Loaded {
    pub(super) ptx: Ptx,
    /// The texts that it was compiled from.
    pub(super) texts: Vec<String>,
    /// What the compiler says when it is verbose.
    pub(super) info: String,
}

/// What is in an image.
enum Content<'a> {
    Ptx(&'a [u8]),
    /// Texts that were compiled, for this compute capability.
    Compiled(u32, Vec<&'a [u8]>),
    MachineCode,
    Unknown,
}

/// Loads an image, for a device and as a module.
pub(super) fn load(image: &[u8], newest: (u32, u32), options: &Options) -> Result<Loaded, Refused> {
    match content(image) {
        Content::Ptx(text) => {
            let ptx = compile(text, newest, options)?;
            // Only for this device: the driver looks at what it has compiled, and does not like the
            // rest.
            match options.target {
                Some(target) if target > DEVICE_TARGET => {
                    return Err(Refused::without_log(CUresult::INVALID_SOURCE));
                }
                Some(target) if target < DEVICE_TARGET => {
                    return Err(Refused::without_log(CUresult::NO_BINARY_FOR_GPU));
                }
                _ => {}
            }
            if let Some(name) = Functions::of(text).missing.first() {
                let log = format!("ptxas fatal   : Unresolved extern function '{name}'");
                let code = CUresult::INVALID_PTX;
                return Err(Refused { code, log });
            }
            let ptx = ptx.resolved()?;
            let info = info(&ptx.entries, options);
            let texts = vec![lossy(text)];
            Ok(Loaded { ptx, texts, info })
        }
        Content::Compiled(DEVICE_TARGET, texts) => {
            let parsed = texts.iter().map(|text| ptx::parse(text, newest));
            let ptx = Ptx::linked(parsed.collect::<Result<_, _>>()?);
            let texts = texts.into_iter().map(lossy).collect();
            let info = String::new();
            Ok(Loaded { ptx, texts, info })
        }
        Content::Compiled(..) | Content::MachineCode => {
            Err(Refused::without_log(CUresult::NO_BINARY_FOR_GPU))
        }
        Content::Unknown => Err(Refused::without_log(CUresult::INVALID_IMAGE)),
    }
}

/// The texts of an input of a linker, which are compiled if they were not.
pub(super) fn input(
    data: &[u8],
    newest: (u32, u32),
    options: &Options,
) -> Result<Vec<Vec<u8>>, Refused> {
    match content(data) {
        Content::Ptx(text) => {
            compile(text, newest, options)?;
            Ok(vec![text.to_vec()])
        }
        Content::Compiled(_, texts) => Ok(texts.into_iter().map(<[u8]>::to_vec).collect()),
        Content::MachineCode => Err(Refused::without_log(CUresult::NO_BINARY_FOR_GPU)),
        Content::Unknown => Err(Refusal::NotPtx.into()),
    }
}

/// Puts the texts of all inputs together: the image, and what the linker says when it is verbose.
pub(super) fn link(
    texts: &[Vec<u8>],
    newest: (u32, u32),
    options: &Options,
) -> Result<(Vec<u8>, String), Refused> {
    let functions: Vec<_> = texts.iter().map(|text| Functions::of(text)).collect();
    let is_defined = |name: &str| functions.iter().any(|text| text.defined.contains(name));
    for (number, text) in functions.iter().enumerate() {
        if let Some(name) = text.missing.iter().find(|name| !is_defined(name)) {
            let number = number + 1;
            let log = format!("error   : Undefined reference to '{name}' in 'Input {number}'");
            let code = CUresult::INVALID_SOURCE;
            return Err(Refused { code, log });
        }
    }
    let parsed = texts.iter().map(|text| ptx::parse(text, newest));
    let ptx = Ptx::linked(parsed.collect::<Result<_, _>>()?);
    let mut names = HashSet::new();
    if let Some(twice) = ptx.names().find(|&name| !names.insert(name)) {
        let (code, log) = (
            CUresult::INVALID_SOURCE,
            format!("error   : Multiple definition of '{twice}'"),
        );
        return Err(Refused { code, log });
    }
    let unresolved = Refused::without_log(CUresult::INVALID_SOURCE);
    let ptx = ptx.resolved().map_err(|_| unresolved)?;
    let target = options.target.unwrap_or(DEVICE_TARGET);
    Ok((elf(texts, target), info(&ptx.entries, options)))
}

fn compile(text: &[u8], newest: (u32, u32), options: &Options) -> Result<Ptx, Refused> {
    let ptx = ptx::parse(text, newest)?;
    let code = CUresult::INVALID_PTX;
    if !options.is_possible() {
        let log = "ptxas fatal   : these options do not go together".to_owned();
        return Err(Refused { code, log });
    }
    if options
        .target
        .is_some_and(|target| Functions::of(text).target > target)
    {
        let log = "ptxas fatal   : SM version specified by .target is higher than default SM version assumed";
        let log = log.to_owned();
        return Err(Refused { code, log });
    }
    Ok(ptx)
}

/// In the words of ptxas.
fn info(entries: &[Entry], options: &Options) -> String {
    let mut info = String::new();
    let target = options.target.unwrap_or(DEVICE_TARGET);
    if options.is_verbose {
        for entry in entries {
            let name = &entry.name;
            let _ = writeln!(
                info,
                "ptxas info    : Compiling entry function '{name}' for 'sm_{target}'\n\
                 ptxas info    : Used 32 registers, used 0 barriers"
            );
        }
    }
    info.truncate(info.trim_end().len());
    info
}

/// Whether data is taken for text: it does not begin as a binary does.
pub(super) fn is_text(data: &[u8]) -> bool {
    ![ELF, FATBIN, ARCHIVE]
        .iter()
        .any(|magic| data.starts_with(magic))
}

fn until_nul(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|&byte| byte == 0);
    &text[..end.unwrap_or(text.len())]
}

fn content(image: &[u8]) -> Content<'_> {
    if is_text(image) {
        Content::Ptx(until_nul(image))
    } else if image.starts_with(FATBIN) {
        in_fatbin(image.get(FATBIN_HEADER..).unwrap_or_default())
    } else if image.starts_with(ARCHIVE) {
        in_library(image)
    } else {
        texts(image).map_or(Content::MachineCode, |(target, texts)| {
            Content::Compiled(target, texts)
        })
    }
}

/// What the driver takes out of a fatbin: code for the device, else text that it compiles.
fn in_fatbin(mut entries: &[u8]) -> Content<'_> {
    let mut found = Content::MachineCode;
    // Kind, version, bytes of the header, bytes of the content. What is compressed does not begin
    // like text.
    while let (Some(kind), Some(header), Some(bytes)) = (
        number::<2>(entries, 0),
        number::<4>(entries, 4),
        number::<8>(entries, 8),
    ) {
        let end = header.saturating_add(bytes);
        let Some(inside) = entries.get(header..end).filter(|_| end > 0) else {
            return Content::Unknown;
        };
        entries = &entries[end..];
        match kind {
            1 if is_text(inside) => found = Content::Ptx(until_nul(inside)),
            2 => {
                if let Some((DEVICE_TARGET, texts)) = texts(inside) {
                    return Content::Compiled(DEVICE_TARGET, texts);
                }
            }
            _ => {}
        }
    }
    found
}

/// The texts of all members of an archive.
fn in_library(image: &[u8]) -> Content<'_> {
    let (mut all, mut rest) = (Vec::new(), &image[8..]);
    while let Some(header) = rest.get(..60) {
        let bytes = std::str::from_utf8(&header[48..58]).unwrap_or_default();
        let bytes = bytes.trim_end().parse::<usize>().unwrap_or(usize::MAX);
        let Some(member) = rest[60..].get(..bytes) else {
            return Content::Unknown;
        };
        match texts(member) {
            Some((_, texts)) => all.extend(texts),
            None => return Content::MachineCode,
        }
        rest = rest
            .get(60 + bytes.next_multiple_of(2)..)
            .unwrap_or_default();
    }
    Content::Compiled(DEVICE_TARGET, all)
}

/// An ELF file with names and texts in its sections, the section headers last.
fn elf(texts: &[Vec<u8>], target: u32) -> Vec<u8> {
    let mut content = Vec::new();
    for text in texts {
        content.extend_from_slice(text);
        content.push(0);
    }
    let texts_at = ELF_HEADER + NAMES.len();
    let sections_at = (texts_at + content.len()).next_multiple_of(8);
    let mut image = [ELF, &[2, 1, 1, 0x41, 8], OURS].concat();
    let mut put = |bytes: &[u8]| image.extend_from_slice(bytes);
    for half in [2_u16, 190] {
        put(&half.to_le_bytes());
    }
    put(&1_u32.to_le_bytes());
    for long in [0, 0, sections_at as u64] {
        put(&long.to_le_bytes());
    }
    put(&target.to_le_bytes());
    for half in [ELF_HEADER, 56, 0, SECTION_HEADER, SECTIONS, 1] {
        put(&(half as u16).to_le_bytes());
    }
    put(NAMES);
    put(&content);
    put(&vec![0; sections_at - texts_at - content.len()]);
    let sections = [
        [0; 4],
        [1, 3, ELF_HEADER as u64, NAMES.len() as u64],
        [8, 1, texts_at as u64, content.len() as u64],
    ];
    for [name, kind, offset, bytes] in sections {
        for number in [name as u32, kind as u32] {
            put(&number.to_le_bytes());
        }
        // Flags, address, offset, size, link and info, alignment, size of an entry.
        for long in [0, 0, offset, bytes, 0, 1, 0] {
            put(&long.to_le_bytes());
        }
    }
    image
}

/// Target and texts of an ELF file that [`elf`] has made.
fn texts(image: &[u8]) -> Option<(u32, Vec<&[u8]>)> {
    if image.get(9..16)? != OURS {
        return None;
    }
    let target = u32::try_from(number::<4>(image, 48)?).ok()?;
    let section = number::<8>(image, 40)? + 2 * SECTION_HEADER;
    let (offset, bytes) = (
        number::<8>(image, section + 24)?,
        number::<8>(image, section + 32)?,
    );
    let content = image.get(offset..offset.checked_add(bytes)?)?;
    let texts = content.split(|&byte| byte == 0);
    Some((target, texts.filter(|text| !text.is_empty()).collect()))
}

/// How many bytes a binary has, by its header. An ELF file of somebody else's is not looked at any
/// further.
pub(super) fn bytes(header: &[u8]) -> usize {
    if header.starts_with(FATBIN) {
        let header_bytes = number::<2>(header, 6).unwrap_or(0);
        return header_bytes.saturating_add(number::<8>(header, 8).unwrap_or(0));
    }
    match (header.get(9..16), number::<8>(header, 40)) {
        (Some(OURS), Some(sections)) => sections + SECTIONS * SECTION_HEADER,
        _ => header.len(),
    }
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let found = bytes.get(at..at.checked_add(N)?)?;
    let number = found
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte));
    usize::try_from(number).ok()
}

/// What a linker has to know about a text.
#[derive(Default)]
struct Functions {
    /// The number of its `.target`.
    target: u32,
    defined: HashSet<String>,
    /// What it calls and does not define.
    missing: Vec<String>,
}

impl Functions {
    fn of(text: &[u8]) -> Self {
        let tokens = ptx::tokens(text);
        let mut found = Self::default();
        let mut declared: Vec<&[u8]> = Vec::new();
        for (index, &token) in tokens.iter().enumerate() {
            let rest = &tokens[index + 1..];
            match token {
                b".target" if found.target == 0 => found.target = target(rest),
                b".func" => {
                    let (name, is_defined) = function(rest);
                    if is_defined {
                        found.defined.insert(lossy(name));
                    } else if index > 0 && tokens[index - 1] == b".extern" {
                        declared.push(name);
                    }
                }
                _ => {}
            }
        }
        for name in &declared {
            let times = |all: &[&[u8]]| all.iter().filter(|token| *token == name).count();
            let is_used = times(&tokens) > times(&declared);
            let name = lossy(name);
            let is_there = found.defined.contains(&name) || OF_THE_DRIVER.contains(&name.as_str());
            if is_used && !is_there {
                found.missing.push(name);
            }
        }
        found
    }
}

fn target(rest: &[&[u8]]) -> u32 {
    let word = rest.first().copied().unwrap_or_default();
    let digits = word.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u32, &digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    })
}

/// The name of the function whose `.func` was read, and whether its body follows.
fn function<'a>(rest: &[&'a [u8]]) -> (&'a [u8], bool) {
    let mut depth = 0_usize;
    let mut name: &[u8] = b"";
    for &token in rest {
        match token {
            b"(" => depth += 1,
            b")" => depth = depth.saturating_sub(1),
            b"{" => return (name, true),
            b";" => return (name, false),
            _ if depth == 0 && name.is_empty() && !token.starts_with(b".") => name = token,
            _ => {}
        }
    }
    (name, false)
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

impl Refused {
    fn without_log(code: CUresult) -> Self {
        let log = String::new();
        Self { code, log }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal {
            Refusal::NotPtx => CUresult::INVALID_IMAGE,
            Refusal::TooNew { .. } => CUresult::UNSUPPORTED_PTX_VERSION,
            Refusal::Wrong { .. } => CUresult::INVALID_PTX,
        };
        let log = refusal.log().to_owned();
        Self { code, log }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";
    const CALLS: &str = ".extern .func (.param .b32 r) helper(.param .b32 x);\n.extern .func (.param .b32 r) vprintf (.param .b64 a);\n\
        .extern .func unused(.param .b32 x);\n.visible .entry k() { call (r), helper, (x); call (r), vprintf, (x); ret; }";
    const HELPER: &str = ".func (.param .b32 r) helper(.param .b32 x);\n.visible .func (.param .b32 r) helper(.param .b32 x) { ret; }";

    fn text(body: &str) -> Vec<u8> {
        format!("{HEADER}{body}").into_bytes()
    }

    #[test]
    fn functions_are_found() {
        let found = Functions::of(&text(CALLS));
        assert_eq!(
            (found.target, found.missing),
            (75, vec!["helper".to_owned()])
        );
        assert!(found.defined.is_empty());
        let found = Functions::of(&text(HELPER));
        assert_eq!(found.defined, HashSet::from(["helper".to_owned()]));
        assert!(found.missing.is_empty());
        let both = text(&format!("{CALLS}\n{HELPER}"));
        assert!(Functions::of(&both).missing.is_empty());
    }

    #[test]
    fn linked_image_has_the_texts_and_tells_its_length() {
        let options = Options::default();
        let parts = [text(CALLS), text(HELPER)];
        let (image, _) = link(&parts, (9, 0), &options).unwrap();
        assert_eq!(bytes(&image[..ELF_HEADER]), image.len());
        let (target, found) = texts(&image).unwrap();
        assert_eq!(
            (target, found),
            (90, parts.iter().map(Vec::as_slice).collect())
        );
        let loaded = load(&image, (9, 0), &options).unwrap();
        assert_eq!(loaded.ptx.entries[0].name, "k");
        let missing = link(&parts[..1], (9, 0), &options).unwrap_err();
        assert_eq!(missing.code, CUresult::INVALID_SOURCE);
        assert!(
            missing
                .log
                .ends_with("Undefined reference to 'helper' in 'Input 1'"),
            "{}",
            missing.log
        );
        let twice = [parts[0].clone(), parts[0].clone(), parts[1].clone()];
        let twice = link(&twice, (9, 0), &options).unwrap_err();
        assert!(twice.log.contains("Multiple definition of 'k'"));
        let (nothing, _) = link(&[], (9, 0), &options).unwrap();
        assert_eq!(load(&nothing, (9, 0), &options).unwrap().ptx.entries, []);
    }

    #[test]
    fn machine_code_is_for_other_devices() {
        let mut image = vec![0; 64];
        image[..4].copy_from_slice(ELF);
        assert_eq!(bytes(&image), 64);
        let code = load(&image, (9, 0), &Options::default()).unwrap_err().code;
        assert_eq!(code, CUresult::NO_BINARY_FOR_GPU);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let options = Options::default();
        let (image, _) = link(&[text(HELPER)], (9, 0), &options).unwrap();
        let mut entry = vec![0_u8; 64];
        entry[0] = 2;
        entry[4] = 64;
        entry[8..16].copy_from_slice(&(image.len() as u64).to_le_bytes());
        let fatbin = [
            FATBIN,
            &[1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            &entry,
            &image,
        ]
        .concat();
        assert!(load(&fatbin, (9, 0), &options).is_ok());
        let header = format!("!<arch>\n{:<48}{:<10}`\n", "a.o/", image.len());
        let library = [header.as_bytes(), &image].concat();
        assert_eq!(input(&library, (9, 0), &options), Ok(vec![text(HELPER)]));
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..30_000 {
            let mut bytes = [&image, &fatbin, &library][round % 3].clone();
            bytes.truncate(bytes.len() - round % 7 * (round % bytes.len()) / 7);
            for _ in 0..round % 5 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let at = random as usize % bytes.len();
                bytes[at] = (random >> 32) as u8;
            }
            drop(load(&bytes, (9, 0), &options));
            drop(input(&bytes, (9, 0), &options));
        }
    }
}
