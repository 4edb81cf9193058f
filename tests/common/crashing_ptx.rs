//! Texts over which a compiler of PTX is known to crash or not to end, and texts that come as close
//! to them as [`load_ptx`](scoped_cuda::Context::load_ptx) lets them. The driver of CUDA 13.0 or
//! ptxas 13.5 was seen to do so.

/// What stands before each of them.
const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

const THREADS: &str = "`.maxntid` or `.reqntid` exceeds 1024 threads";
const DIVISION: &str = "a constant expression divides by";
const ALIGNMENT: &str = "`.align` is not followed by a decimal number of at most 4096";
const INSIDE: &str = "a function is declared inside of braces";
const REGISTER: &str = "a function has the name of a register";

/// Each with the beginning of the reason why it is refused.
pub(crate) fn crashing() -> Vec<(String, &'static str)> {
    let texts = [
        (".visible .entry k() .maxntid 4294967295 { ret; }", THREADS),
        (".visible .entry k() .reqntid 4294967295 { ret; }", THREADS),
        (
            ".visible .entry k() .maxntid 1, 4294967265 { ret; }",
            THREADS,
        ),
        (".visible .entry k() .maxntid 4294967295U { ret; }", THREADS),
        (
            ".visible .entry kernel.maxntid 4294967295 { ret; }",
            THREADS,
        ),
        (
            ".visible .entry k() .maxnreg 0x20.maxntid 4294967295 { ret; }",
            THREADS,
        ),
        (
            ".visible .entry k() .maxntid\x1a4294967295 { ret; }",
            THREADS,
        ),
        (
            ".visible .entry k() { .reg .b64 %r; mov.b64 %r, (-9223372036854775807-1)/-1; ret; }",
            DIVISION,
        ),
        (".visible .global .align 2147483648 .b8 a[4];", ALIGNMENT),
        (".visible .global .align 1073741824 .b8 a[4];", ALIGNMENT),
        (".visible .const .align 0x80000000 .b8 a[4];", ALIGNMENT),
        (".extern .shared .align 020000000000 .b8 s[];", ALIGNMENT),
        (
            ".visible .entry k() { .shared .align 2147483648 .b8 x[4]; ret; }",
            ALIGNMENT,
        ),
        (
            ".visible .entry k() { .local .align 2147483648U .b8 x[4]; ret; }",
            ALIGNMENT,
        ),
        (
            ".visible .entry k() { .reg .b32 %r<6>; .func %r2, [p]; ret; }",
            INSIDE,
        ),
        (
            ".visible .entry k() { .reg .b32 %r<2147483648>; ret; }",
            "a declaration makes more than 9999999 registers",
        ),
        (".visible .entry%ntid.x name() { ret; }", REGISTER),
        (".visible .entry %clock64 k() { ret; }", REGISTER),
        (".visible .func%tid.x name() { ret; }", REGISTER),
        (
            ".visible .func (.reg .b32 %r)%ntid.x name() { ret; }",
            REGISTER,
        ),
        (
            ".visible .entry\x1a%ntid.x name() { ret; }",
            "the text contains a control character",
        ),
    ];
    let dimensions = format!(".visible .global .b32 a{};", "[1]".repeat(200_000));
    let mut all: Vec<_> = texts.map(|(text, why)| (text.to_owned(), why)).into();
    all.push((dimensions, "a statement has more than 64 brackets"));
    let name = format!(".visible .entry {}() {{ ret; }}", "k".repeat(1 << 20));
    all.push((name, "the text contains a name of more than 65536 bytes"));
    let whole = |(text, why)| (format!("{HEADER}{text}\n"), why);
    all.into_iter().map(whole).collect()
}

/// What is not refused, and each of which compiles.
pub(crate) fn close_to_crashing() -> Vec<String> {
    let mut all: Vec<String> = [
        ".visible .entry k() .maxntid 1024 { ret; }",
        ".visible .entry k() .reqntid 1024 { ret; }",
        ".visible .entry kernel.maxntid 1024 { ret; }",
        ".visible .entry k() { .reg .b64 %r; mov.b64 %r, (-9223372036854775807-1)/999999999; ret; }",
        ".visible .global .align 4096 .b8 a[4];",
        ".visible .const .align 4096 .b8 a[4];",
        ".visible .entry k() { .shared .align 4096 .b8 x[4]; ret; }",
        ".visible .entry k() { .local .align 4096 .b8 x[4]; ret; }",
        ".visible .func (.reg .b32 %r) f(.reg .b32 %x) { ret; }",
        ".visible .entry k() { .reg .b32 %r<9999999>; ret; }",
        "// \x1a\n.visible .entry k() { ret; }",
    ]
    .map(str::to_owned)
    .into();
    all.push(format!(".visible .global .b32 a{};", "[1]".repeat(64)));
    all.push(format!(
        ".visible .entry {}() {{ ret; }}",
        "k".repeat(1 << 16)
    ));
    all.iter().map(|text| format!("{HEADER}{text}\n")).collect()
}
