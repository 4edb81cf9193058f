//! What PTX text declares of its kernels, when it is loaded: the kind of each parameter.
//!
//! The driver tells sizes and offsets. The text tells more: an `f32` where the kernel takes an
//! `int`, or memory where it takes a struct, is found at look-up.

use super::entry::Reader;
use super::kind::Kind;
use super::message::Message;
use super::scan::{Next, Scanner};
use super::text::Text;
use std::collections::HashMap;

/// A parameter as PTX declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::kernel) struct Declared {
    pub(in crate::kernel) kind: Kind,
    /// Its alignment in bytes; 0 if the text does not tell.
    pub(in crate::kernel) align: usize,
    /// The declaration's type, as it stands in the text: `.f32`, `.u64 .ptr`, `.align 4 .b8[12]`.
    pub(in crate::kernel) text: String,
}

/// The parameters of every kernel of a text, by its name. One that is not understood keeps its
/// place and admits every kind.
pub(in crate::kernel) fn read(text: &str) -> HashMap<String, Vec<Declared>> {
    let (text, mut scanner, mut kernels) = (&Text::new(text), Scanner::START, HashMap::new());
    loop {
        let place = match scanner.next(text, usize::MAX) {
            Next::Kernel(place) => place,
            Next::Variable(_) => continue,
            Next::Paused | Next::End => return kernels,
        };
        let mut reader = Reader::new(text, place.end());
        let next = || {
            let value = reader.next(text)?;
            let mut message = Message::new();
            value.describe(text, &mut message);
            Some(Declared {
                kind: value.kind,
                align: value.align,
                text: message.as_str().to_owned(),
            })
        };
        let name = text.str(place.name as usize, place.len as usize);
        kernels.insert(name.to_owned(), std::iter::from_fn(next).collect());
    }
}
