//! How long a binary image is by its own headers.
//!
//! The driver believes the headers: a cubin that was cut off crashes it (measured). What is checked
//! here is that everything they speak of is in the image, which finds every truncation; that the
//! content is what a CUDA tool made is the promise of the `unsafe` functions.

/// Why an image is refused, in a phrase.
type Checked<T = ()> = Result<T, String>;

const ELF_MAGIC: &[u8] = b"\x7fELF";
/// `e_machine` of device code.
const EM_CUDA: u16 = 190;
const ELF_HEADER: usize = 64;
const SECTION_HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
/// Section types that describe memory and have nothing in the file: `SHT_NOBITS`, and in
/// relocatable code global, local and shared memory.
const WITHOUT_CONTENT: [u32; 4] = [8, 0x7000_0007, 0x7000_0009, 0x7000_000a];
const SECTION_UNUSED: u32 = 0;
const FATBIN_MAGIC: u32 = 0xBA55_ED50;
const FATBIN_HEADER: usize = 16;
const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
const MEMBER_HEADER: usize = 60;

/// A cubin: an ELF file of machine code for devices.
pub(super) fn check_cubin(image: &[u8]) -> Checked {
    if !is_elf(image) {
        return Err("it does not begin as an ELF file does".to_owned());
    }
    check_elf(image, true)
}

/// A fatbin: a header, and as many bytes as it says.
pub(super) fn check_fatbin(image: &[u8]) -> Checked {
    let header = Bytes(image);
    if header.u32(0) != Some(FATBIN_MAGIC) {
        return Err("it does not begin as a fatbin does".to_owned());
    }
    let read = || Some((header.u16(4)?, header.u16(6)?, header.u64(8)?));
    let (version, header_bytes, content) = read().ok_or_else(|| cut_off(image, "its header"))?;
    if version != 1 || usize::from(header_bytes) < FATBIN_HEADER {
        return Err(format!(
            "it is a fatbin of version {version} with a header of {header_bytes} bytes, which this crate does not know"
        ));
    }
    within(image, u64::from(header_bytes), content, || {
        "its content".to_owned()
    })
}

/// An object file of the host: an ELF file, or (on Windows) something of which only the linker
/// knows the length.
pub(super) fn check_object(image: &[u8]) -> Checked {
    match image {
        _ if ELF_MAGIC.starts_with(image) => Err("it is empty, or cut off".to_owned()),
        _ if is_elf(image) => check_elf(image, false),
        _ => Ok(()),
    }
}

/// An archive of object files.
pub(super) fn check_library(image: &[u8]) -> Checked {
    if !image.starts_with(ARCHIVE_MAGIC) {
        return Err("it does not begin as an archive does".to_owned());
    }
    let mut position = ARCHIVE_MAGIC.len();
    while position < image.len() {
        let header = image
            .get(position..)
            .and_then(|rest| rest.get(..MEMBER_HEADER));
        let header = header.ok_or_else(|| cut_off(image, "the header of a member"))?;
        let digits = std::str::from_utf8(&header[48..58]).unwrap_or_default();
        let bytes = digits.trim_end().parse::<usize>();
        let (Ok(bytes), b"`\n") = (bytes, &header[58..]) else {
            return Err(format!(
                "the member at byte {position} has no readable header"
            ));
        };
        position += MEMBER_HEADER;
        within(image, position as u64, bytes as u64, || {
            "a member".to_owned()
        })?;
        // Members begin at even positions.
        position += bytes.next_multiple_of(2);
    }
    Ok(())
}

fn is_elf(image: &[u8]) -> bool {
    image.starts_with(ELF_MAGIC)
}

fn check_elf(image: &[u8], is_for_devices: bool) -> Checked {
    let elf = Bytes(image);
    if image.len() < ELF_HEADER {
        return Err(cut_off(image, "its header"));
    }
    if image[4..6] != [2, 1] {
        return Err("it is not a 64-bit little-endian ELF file".to_owned());
    }
    let part = || Some((elf.u16(18)?, elf.u64(32)?, elf.u64(40)?));
    let sizes = || {
        Some((
            elf.u16(54)?,
            elf.u16(56)?,
            elf.u16(58)?,
            elf.u16(60)?,
            elf.u16(62)?,
        ))
    };
    let (Some((machine, programs_at, sections_at)), Some(sizes)) = (part(), sizes()) else {
        return Err(cut_off(image, "its header"));
    };
    let (program_bytes, programs, section_bytes, sections, names) = sizes;
    if is_for_devices && machine != EM_CUDA {
        return Err(format!(
            "it is an ELF file for machine {machine}, and not for {EM_CUDA}, CUDA devices"
        ));
    }
    if sections_at == 0 || usize::from(section_bytes) != SECTION_HEADER {
        return Err("it is an ELF file without sections".to_owned());
    }
    within(image, sections_at, SECTION_HEADER as u64, || {
        "its section headers".to_owned()
    })?;
    // Numbers that do not fit the header are in the first section's (ELF, "Extended section header
    // indices").
    let first = usize::try_from(sections_at).unwrap_or(usize::MAX);
    let in_first = |offset| u64::from(elf.u32(first.saturating_add(offset)).unwrap_or(u32::MAX));
    let sections = match sections {
        0 => elf.u64(first.saturating_add(32)).unwrap_or(u64::MAX),
        n => u64::from(n),
    };
    let names = match names {
        0xffff => in_first(40),
        n => u64::from(n),
    };
    let programs = match programs {
        0xffff => in_first(44),
        n => u64::from(n),
    };
    if names >= sections {
        return Err(format!(
            "it has {sections} sections and its names are in section {names}"
        ));
    }
    let table = |at: u64, count: u64, each: usize, what: &str| {
        let bytes = count.saturating_mul(each as u64);
        within(image, at, bytes, || what.to_owned())
    };
    table(sections_at, sections, SECTION_HEADER, "its section headers")?;
    for index in 0..sections {
        let at = (sections_at + index * SECTION_HEADER as u64) as usize;
        let section = || Some((elf.u32(at + 4)?, elf.u64(at + 24)?, elf.u64(at + 32)?));
        let (kind, offset, bytes) =
            section().ok_or_else(|| cut_off(image, "its section headers"))?;
        if kind != SECTION_UNUSED && !WITHOUT_CONTENT.contains(&kind) {
            within(image, offset, bytes, || format!("section {index}"))?;
        }
    }
    if programs == 0 {
        return Ok(());
    }
    if usize::from(program_bytes) != PROGRAM_HEADER {
        return Err(format!("it has program headers of {program_bytes} bytes"));
    }
    table(programs_at, programs, PROGRAM_HEADER, "its program headers")?;
    for index in 0..programs {
        let at = (programs_at + index * PROGRAM_HEADER as u64) as usize;
        let program = || Some((elf.u64(at + 8)?, elf.u64(at + 32)?));
        let (offset, bytes) = program().ok_or_else(|| cut_off(image, "its program headers"))?;
        within(image, offset, bytes, || format!("segment {index}"))?;
    }
    Ok(())
}

/// Whether `bytes` from `offset` are in the image.
fn within(image: &[u8], offset: u64, bytes: u64, what: impl Fn() -> String) -> Checked {
    match offset.checked_add(bytes) {
        Some(end) if end <= image.len() as u64 => Ok(()),
        _ => Err(cut_off(image, &what())),
    }
}

fn cut_off(image: &[u8], what: &str) -> String {
    format!(
        "it is cut off: it has {} bytes, and {what} would reach beyond",
        image.len()
    )
}

/// Little-endian numbers.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cubin by hand: section headers in the middle, a section without content that would not
    /// fit, the program headers last, as the CUDA tools have it.
    fn cubin() -> Vec<u8> {
        let mut image = vec![0_u8; 64];
        image[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        let content = b"what is in section 1 and 2";
        let sections_at = 64 + content.len();
        let programs_at = sections_at + 4 * 64;
        image[16..20].copy_from_slice(&[2, 0, 190, 0]);
        image[32..40].copy_from_slice(&(programs_at as u64).to_le_bytes());
        image[40..48].copy_from_slice(&(sections_at as u64).to_le_bytes());
        for (at, value) in [(52, 64_u16), (54, 56), (56, 2), (58, 64), (60, 4), (62, 1)] {
            image[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        image.extend_from_slice(content);
        for (kind, offset, bytes) in [(0_u32, 0, 0), (3, 64, 10), (1, 74, 16), (8, 90, 1 << 40)] {
            let mut header = [0_u8; 64];
            header[4..8].copy_from_slice(&kind.to_le_bytes());
            header[24..32].copy_from_slice(&u64::to_le_bytes(offset));
            header[32..40].copy_from_slice(&u64::to_le_bytes(bytes));
            image.extend_from_slice(&header);
        }
        for (offset, bytes) in [(programs_at as u64, 112_u64), (64, 26)] {
            let mut header = [0_u8; 56];
            header[8..16].copy_from_slice(&offset.to_le_bytes());
            header[32..40].copy_from_slice(&bytes.to_le_bytes());
            image.extend_from_slice(&header);
        }
        image
    }

    fn fatbin(content: &[u8]) -> Vec<u8> {
        let mut image = b"\x50\xed\x55\xba\x01\x00\x10\x00".to_vec();
        image.extend_from_slice(&(content.len() as u64).to_le_bytes());
        image.extend_from_slice(content);
        image
    }

    fn archive(members: &[&[u8]]) -> Vec<u8> {
        let mut image = ARCHIVE_MAGIC.to_vec();
        for member in members {
            let header = format!("{:<16}{:<32}{:<10}`\n", "a.o/", "0", member.len());
            image.extend_from_slice(header.as_bytes());
            image.extend_from_slice(member);
            image.resize(image.len().next_multiple_of(2), b'\n');
        }
        image
    }

    fn assert_whole(check: fn(&[u8]) -> Checked, image: &[u8]) {
        assert_eq!(check(image), Ok(()));
        let longer = [image, &[0; 7]].concat();
        assert!(check(&longer).is_ok() || image.starts_with(ARCHIVE_MAGIC));
        for bytes in 0..image.len() {
            let reason = check(&image[..bytes]).expect_err("a part is refused");
            assert!(
                reason.contains("cut off") || reason.contains("begin"),
                "{bytes}: {reason}"
            );
        }
    }

    #[test]
    fn no_part_of_a_cubin_passes() {
        assert_whole(check_cubin, &cubin());
    }

    #[test]
    fn no_part_of_a_fatbin_passes() {
        assert_whole(check_fatbin, &fatbin(b"whatever"));
        assert_whole(check_fatbin, &fatbin(b""));
    }

    /// Between two members nobody can see that more were meant to come.
    #[test]
    fn no_part_of_a_library_passes_but_whole_members() {
        let library = archive(&[b"one", b"", b"three.."]);
        let ends = [8, 8 + 60 + 4, 8 + 60 + 4 + 60];
        for bytes in 0..library.len() - 1 {
            let passes = check_library(&library[..bytes]).is_ok();
            // The filling after a member of odd length may be missing.
            assert_eq!(
                passes,
                ends.contains(&bytes) || bytes == ends[1] - 1,
                "{bytes}"
            );
        }
        assert_eq!(check_library(&library), Ok(()));
    }

    #[test]
    fn object_is_checked_when_it_is_an_elf_file() {
        let mut object = cubin();
        object[18] = 62;
        for bytes in 0..object.len() {
            assert!(check_object(&object[..bytes]).is_err(), "{bytes}");
        }
        assert_eq!(check_object(&object), Ok(()));
        assert_eq!(check_object(b"\x64\x86 of Windows"), Ok(()));
        let reason = check_cubin(&object).unwrap_err();
        assert_eq!(
            reason,
            "it is an ELF file for machine 62, and not for 190, CUDA devices"
        );
    }

    #[test]
    fn headers_that_mean_something_else_are_refused() {
        let with = |at: usize, bytes: &[u8]| {
            let mut image = cubin();
            image[at..at + bytes.len()].copy_from_slice(bytes);
            check_cubin(&image)
        };
        assert_eq!(
            with(0, b"hello"),
            Err("it does not begin as an ELF file does".to_owned())
        );
        let wrong: [(usize, &[u8]); 8] = [
            (4, &[1]),           // 32 bits
            (5, &[2]),           // big-endian
            (40, &[0; 8]),       // no sections
            (40, &[0xff; 8]),    // section headers at the end of the address space
            (54, &[32]),         // short program headers
            (58, &[40]),         // short section headers
            (60, &[0xff, 0xfe]), // more sections than bytes
            (62, &[4]),          // names in a section that is not there
        ];
        for (at, bytes) in wrong {
            assert!(with(at, bytes).is_err(), "byte {at}");
        }
        for (at, value) in [(4, 2), (6, 8)] {
            let mut image = fatbin(b"content");
            image[at] = value;
            let reason = check_fatbin(&image).unwrap_err();
            assert!(reason.contains("does not know"), "{reason}");
        }
        let mut wrapper = fatbin(b"content");
        wrapper[..4].copy_from_slice(&0x4662_43b1_u32.to_le_bytes());
        let begins = Err("it does not begin as a fatbin does".to_owned());
        assert_eq!(
            check_fatbin(&wrapper),
            begins,
            "it would be followed by a pointer"
        );
    }

    /// What does not fit 16 bits is in the first section header.
    #[test]
    fn numbers_outside_the_header_are_found() {
        let mut image = cubin();
        let first = 64 + 26;
        for at in [56, 57, 62, 63] {
            image[at] = 0xff;
        }
        image[60] = 0;
        image[first + 32..][..8].copy_from_slice(&4_u64.to_le_bytes());
        image[first + 40..][..4].copy_from_slice(&1_u32.to_le_bytes());
        image[first + 44..][..4].copy_from_slice(&2_u32.to_le_bytes());
        assert_whole(check_cubin, &image);
        image[first + 44] = 3;
        assert!(check_cubin(&image).is_err());
        image[first + 39] = 0xff;
        assert!(check_cubin(&image).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let images = [cubin(), fatbin(&cubin()), archive(&[&cubin(), b"x"])];
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..60_000 {
            let mut image = images[round % 3].clone();
            for _ in 0..=round % 5 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let at = random as usize % image.len();
                image[at] = (random >> 32) as u8;
            }
            for check in [check_cubin, check_fatbin, check_object, check_library] {
                drop(check(&image));
            }
        }
    }
}
