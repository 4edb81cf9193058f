//! What a text declares under a name.

use super::entry::Reader;
use super::fit::{FITS, Fit};
use super::index::{BYTES_MAX, Declarations, Index, PLACES_MAX, Places};
use super::kind::Kind;
use super::message::Message;
use super::scan::Place;
use super::symbol;
use super::text::Text;
use super::value::Value;
use crate::kernel::params::{KindOf, ParamLayout};
use crate::kernel::ptx::ConstText;

/// The most parameters of a list of Rust.
const PARAMETERS_MAX: usize = 16;

/// A kernel of a text, and whether each of its parameters of Rust fits.
#[derive(Clone, Copy)]
pub struct FoundKernel {
    name: usize,
    /// How long its name is; 0 if there is no such kernel.
    len: usize,
    /// How many parameters are declared in Rust: PTX parameters, of which some types are two.
    parameters: usize,
    /// Whether the kernel has as many.
    is_whole: bool,
    /// Whether the types fit, in their order.
    pub fits: [Fit; PARAMETERS_MAX],
}

/// A variable of a text, and whether its type of Rust fits.
#[derive(Clone, Copy)]
pub struct FoundVariable {
    name: usize,
    /// How long its name is; 0 if there is no such variable.
    len: usize,
    /// Whether the type fits.
    pub fit: Fit,
}

/// The one of `places` that the pattern names, and how many it names. A symbol of the text names
/// itself.
const fn place(text: &Text<'_>, places: &Places, pattern: &str) -> (Option<Place>, usize) {
    let symbol = places.named(text, pattern.as_bytes());
    if symbol.is_some() {
        return (symbol, 1);
    }
    let base = symbol::last_name(pattern);
    let (mut found, mut count) = (None, 0);
    let mut index = places.with_base(text, base, 0);
    while index < places.count() {
        let place = places.get(index);
        if symbol::names(pattern, place.symbol(text)) {
            (found, count) = (Some(place), count + 1);
        }
        index = places.with_base(text, base, index + 1);
    }
    if count == 1 {
        (found, 1)
    } else {
        (None, count)
    }
}

impl FoundKernel {
    /// The kernel that `pattern` names in the text of `T`, whose parameters are compared with
    /// `layout`. `plain` is what each is if it is plain data. [`check`](Self::check) says whether
    /// there is one.
    #[must_use]
    pub const fn find<T: ConstText>(
        pattern: &str,
        layout: &[&[ParamLayout]],
        plain: &[Kind],
    ) -> Self {
        let text = &Text::new(T::TEXT);
        let mut found = Self {
            name: 0,
            len: 0,
            parameters: 0,
            is_whole: true,
            fits: [FITS; PARAMETERS_MAX],
        };
        let (Some(place), _) = place(text, &Declarations::<T>::INDEX.kernels, pattern) else {
            return found;
        };
        (found.name, found.len) = (place.name as usize, place.len as usize);
        let (mut reader, mut index) = (Reader::new(text, place.end()), 0);
        while index < layout.len() {
            let (parts, mut part) = (layout[index], 0);
            while part < parts.len() {
                let passed = &parts[part];
                let kind = match passed.kind {
                    KindOf::Known(kind) => kind,
                    KindOf::Type(_) => plain[index],
                };
                match reader.next(text) {
                    Some(declared) if found.fits[index] == FITS => {
                        let fit = declared.fit_of_parameter(passed.size, passed.align, kind);
                        found.fits[index] = fit;
                    }
                    Some(_) => {}
                    None => found.is_whole = false,
                }
                (part, found.parameters) = (part + 1, found.parameters + 1);
            }
            index += 1;
        }
        if !found.is_whole || reader.next(text).is_some() {
            (found.is_whole, found.fits) = (false, [FITS; PARAMETERS_MAX]);
        }
        found
    }

    /// Whether there is one such kernel, with so many parameters.
    ///
    /// # Panics
    /// While the program is compiled, with what is wrong, if there is not.
    #[track_caller]
    pub const fn check<T: ConstText>(&self, file: &str, pattern: &str) {
        if self.len == 0 {
            let kernels = &Declarations::<T>::INDEX.kernels;
            panic!(
                "{}",
                not_one::<T>(kernels, "kernel", file, pattern).as_str()
            );
        }
        if !self.is_whole {
            panic!("{}", self.other_count::<T>(file, pattern).as_str());
        }
    }

    /// Says that it has another number of parameters, and which.
    const fn other_count<T: ConstText>(&self, file: &str, pattern: &str) -> Message {
        let (text, name_end) = (&Text::new(T::TEXT), self.name + self.len);
        let (mut reader, mut count) = (Reader::new(text, name_end), 0);
        while reader.next(text).is_some() {
            count += 1;
        }
        let mut message = Message::new();
        message.texts(&["kernel `", pattern, "` of ", file, " has "]);
        message.count(count, "parameter");
        message.text(", and ");
        message.number(self.parameters);
        message.text(match self.parameters {
            1 => " is",
            _ => " are",
        });
        message.text(" declared here; the PTX has (");
        let mut reader = Reader::new(text, name_end);
        let mut is_first = true;
        while let Some(parameter) = reader.next(text) {
            message.text(if is_first { "" } else { ", " });
            parameter.describe(text, &mut message);
            is_first = false;
        }
        message.text(")");
        message
    }

    /// Its name in the text of `T`.
    #[must_use]
    pub const fn symbol<T: ConstText>(&self) -> &'static str {
        Text::new(T::TEXT).str(self.name, self.len)
    }
}

impl FoundVariable {
    /// The variable that `pattern` names in the text of `T`, compared with the type `V`, whose
    /// elements are `element`. [`check`](Self::check) says whether there is one.
    #[must_use]
    pub const fn find<T: ConstText, V>(pattern: &str, element: (Kind, usize)) -> Self {
        let text = &Text::new(T::TEXT);
        let (place, _) = place(text, &Declarations::<T>::INDEX.variables, pattern);
        match place {
            Some(place) => Self {
                name: place.name as usize,
                len: place.len as usize,
                fit: Value::variable(text, place).fit_of_variable(
                    size_of::<V>(),
                    align_of::<V>(),
                    element,
                ),
            },
            None => Self {
                name: 0,
                len: 0,
                fit: FITS,
            },
        }
    }

    /// Whether there is one such variable.
    ///
    /// # Panics
    /// As [`FoundKernel::check`].
    #[track_caller]
    pub const fn check<T: ConstText>(&self, file: &str, pattern: &str) {
        if self.len == 0 {
            let variables = &Declarations::<T>::INDEX.variables;
            panic!(
                "{}",
                not_one::<T>(variables, "variable", file, pattern).as_str()
            );
        }
    }

    /// Its name in the text of `T`.
    #[must_use]
    pub const fn symbol<T: ConstText>(&self) -> &'static str {
        Text::new(T::TEXT).str(self.name, self.len)
    }
}

/// Whether the text of `T` is PTX whose declarations can be read.
///
/// # Panics
/// While the program is compiled, with what is wrong, if they cannot.
#[track_caller]
pub const fn check_text<T: ConstText>(file: &str) {
    let text = &Text::new(T::TEXT);
    let mut message = Message::new();
    message.text(file);
    if !text.stands(text.skip_blank(0), b".version") {
        message.text(" is no PTX: it does not begin with a `.version` directive");
        panic!("{}", message.as_str());
    }
    let index: &Index = Declarations::<T>::INDEX;
    if index.is_full {
        message.text(" declares more than ");
        message.number(PLACES_MAX);
        message.text(" kernels or variables");
    } else if !index.is_complete {
        message.text(" has more than ");
        message.number(BYTES_MAX >> 20);
        message.text(" MiB, or very many braces, comments or strings");
    } else {
        return;
    }
    message.text(": too much for `kernels!` to read; `Context::load_ptx` loads it");
    panic!("{}", message.as_str());
}

/// Says that a pattern names no kernel or variable, or several, and which there are.
const fn not_one<T: ConstText>(places: &Places, thing: &str, file: &str, pattern: &str) -> Message {
    let text = &Text::new(T::TEXT);
    let (_, count) = place(text, places, pattern);
    let mut message = Message::new();
    if count > 1 {
        message.texts(&["`", pattern, "` names several ", thing, "s of ", file, ": "]);
    } else {
        message.texts(&[file, " has no ", thing, " `", pattern, "`"]);
        if places.count() == 0 {
            message.texts(&[", and no ", thing, "s"]);
            return message;
        }
        message.texts(&["; its ", thing, "s: "]);
    }
    let (mut index, mut written) = (0, 0);
    while index < places.count() {
        let name = places.get(index).symbol(text);
        if count == 0 || symbol::names(pattern, name) {
            if !message.has_room(2 * name.len() + 80) {
                message.text(", ...");
                break;
            }
            if written > 0 {
                message.text(", ");
            }
            symbol::describe(name, &mut message);
            written += 1;
        }
        index += 1;
    }
    if count > 1 {
        message.text(
            "; more of the path, the arguments of the template, or the whole symbol names one",
        );
    }
    message
}
