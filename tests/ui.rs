//! The misuses of `ui-tests` do not compile, each with the message in its `.stderr`; their twins
//! do. See `ui-tests/README.md`.
//!
//! The messages are those of the toolchain that `rust-toolchain.toml` names. After a deliberate
//! change write them anew with `TRYBUILD=overwrite cargo test --test ui`, read what has changed,
//! and bless the catalogue (`tests/catalogue.rs`).

/// Compiled with this test, and that is all.
#[path = "../ui-tests/pass/mod.rs"]
#[allow(dead_code, unsafe_code)] // nobody calls them; some launch kernels
#[allow(clippy::unit_arg, clippy::forget_non_drop, clippy::type_complexity)]
// short; what one of them is about; likewise
mod twins;

#[test]
fn misuses_do_not_compile() {
    trybuild::TestCases::new().compile_fail("ui-tests/fail/*/*.rs");
}
