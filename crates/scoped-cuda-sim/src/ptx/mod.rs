//! Reads PTX text as far as a program outside needs it: the entries, their parameters and their
//! limits, and the variables.
//!
//! Instructions are skipped, not checked. Any bytes may be given.

mod entry;
mod lexer;
mod value;
mod variable;

pub(super) use entry::{Entry, Parameter};
pub(super) use variable::Variable;

use lexer::{Parser, Token, lossy, number};

/// Why an image does not load, in the driver's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// It is something else than PTX text.
    NotPtx,
    /// A newer PTX version than the driver knows.
    TooNew {
        log: String,
    },
    Wrong {
        log: String,
    },
}

impl Refusal {
    pub(super) fn log(&self) -> &str {
        match self {
            Self::NotPtx => "error   : Binary format for key='0', ident='' is not recognized",
            Self::TooNew { log } | Self::Wrong { log } => log,
        }
    }
}

/// The newest `.target` that the driver knows.
const NEWEST_TARGET: usize = 121;
/// The newest `.target` that the devices run: their compute capability.
pub(super) const DEVICE_TARGET: u32 = 90;

type Parsed<T> = Result<T, Refusal>;

/// Bytes of all `.const` variables together, at most.
const CONSTANT_BYTES_MAX: usize = 64 << 10;

/// What a text has.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Ptx {
    pub(super) entries: Vec<Entry>,
    pub(super) variables: Vec<Variable>,
}

/// The words, strings and marks of a text, without what is between them; up to the first that
/// cannot be read.
pub(super) fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let mut parser = Parser::new(text);
    std::iter::from_fn(|| parser.next_text()).collect()
}

/// What is in a PTX text whose version (major, minor) is at most `newest`.
pub(super) fn parse(text: &[u8], newest: (u32, u32)) -> Parsed<Ptx> {
    let mut parser = Parser::new(text);
    if parser.next()? != Token::Word(b".version") {
        return Err(Refusal::NotPtx);
    }
    parser.version(newest)?;
    parser.target()?;
    let mut found = Ptx::default();
    let mut is_extern = false;
    loop {
        match parser.next()? {
            Token::End => return found.within_limits(),
            Token::Word(b".visible" | b".weak" | b".common") => continue,
            Token::Word(b".extern") => {
                is_extern = true;
                continue;
            }
            Token::Word(b".entry") => {
                let entry = parser.entry()?;
                if found.has(&entry.name) {
                    return Err(parser.wrong(entry.name.as_bytes()));
                }
                found.entries.push(entry);
            }
            Token::Word(space @ (b".global" | b".const")) => {
                for variable in parser.variables(space == b".const", is_extern)? {
                    let added = found.add_variable(variable);
                    added.map_err(|name| parser.wrong(name.as_bytes()))?;
                }
            }
            Token::Word(b".address_size") => drop(parser.word()?),
            Token::Word(b".file") => {
                parser.word()?;
                parser.list()?;
            }
            Token::Word(b".section") => {
                parser.word()?;
                parser.statement()?;
            }
            Token::Word(word) if word.starts_with(b".") => parser.statement()?,
            token => return Err(parser.wrong(token.text())),
        }
        is_extern = false;
    }
}

impl Ptx {
    fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|known| known.name == name)
            || self.variables.iter().any(|known| known.name == name)
    }

    /// Adds a variable whose name is new, or was only declared.
    ///
    /// # Errors
    /// The name, when it is taken.
    fn add_variable(&mut self, new: Variable) -> Result<(), String> {
        if self.entries.iter().any(|known| known.name == new.name) {
            return Err(new.name);
        }
        let mut variables = self.variables.iter_mut();
        match variables.find(|known| known.name == new.name) {
            None => self.variables.push(new),
            Some(known) => {
                let agree = known.bytes == new.bytes || known.bytes == 0 || new.bytes == 0;
                if !agree || !(known.is_extern || new.is_extern) {
                    return Err(new.name);
                }
                if known.is_extern && new.bytes > 0 {
                    *known = new;
                }
            }
        }
        Ok(())
    }

    fn within_limits(self) -> Parsed<Self> {
        let constants = self.variables.iter().filter(|known| known.is_constant);
        let bytes = constants.fold(0, |end: usize, known| {
            let start = end.checked_next_multiple_of(known.alignment);
            start.map_or(usize::MAX, |start| start.saturating_add(known.bytes))
        });
        if bytes <= CONSTANT_BYTES_MAX {
            return Ok(self);
        }
        let log = format!(
            "ptxas error   : File uses too much global constant data ({bytes:#x} bytes, {CONSTANT_BYTES_MAX:#x} max)"
        );
        Err(Refusal::Wrong { log })
    }

    /// What several texts have together: a variable that one of them declares and another one
    /// defines is there once.
    pub(super) fn linked(parts: Vec<Self>) -> Self {
        let (mut linked, mut declared) = (Self::default(), Vec::new());
        for part in parts {
            linked.entries.extend(part.entries);
            let (only_declared, defined): (Vec<_>, Vec<_>) = part
                .variables
                .into_iter()
                .partition(|variable| variable.is_extern);
            linked.variables.extend(defined);
            declared.extend(only_declared);
        }
        for variable in declared {
            if linked
                .variables
                .iter()
                .all(|known| known.name != variable.name)
            {
                linked.variables.push(variable);
            }
        }
        linked
    }

    /// The names of all that it has.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter().map(|entry| entry.name.as_str());
        let variables = self.variables.iter();
        entries.chain(variables.map(|variable| variable.name.as_str()))
    }

    /// The same when it is loaded as it is, without other texts: what is only declared is a
    /// variable too, if its size is known.
    pub(super) fn resolved(self) -> Parsed<Self> {
        match self.variables.iter().find(|known| known.bytes == 0) {
            None => Ok(self),
            Some(Variable { name, .. }) => Err(Refusal::Wrong {
                log: format!("ptxas fatal   : Unresolved extern variable '{name}'"),
            }),
        }
    }
}

impl Parser<'_> {
    /// What follows `.version`.
    fn version(&mut self, newest: (u32, u32)) -> Parsed<()> {
        let word = self.word()?;
        let mut numbers = word.split(|&byte| byte == b'.').map(number);
        let (Some(Some(major)), Some(Some(minor)), None) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return Err(self.wrong(word));
        };
        if (major, minor) <= (newest.0 as usize, newest.1 as usize) {
            return Ok(());
        }
        let what = format!(
            "Unsupported .version {}; current version is '{}.{}'",
            lossy(word),
            newest.0,
            newest.1
        );
        Err(Refusal::TooNew {
            log: self.at_line(&what),
        })
    }

    /// `.target` and its list.
    fn target(&mut self) -> Parsed<()> {
        if self.next()? != Token::Word(b".target") {
            return Err(
                self.refuse("Missing .target directive at start of file 'application ptx input'")
            );
        }
        let word = self.word()?;
        let name = lossy(word);
        let model = name.strip_prefix("sm_").unwrap_or("0");
        let model = model.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        match number(model.as_bytes()) {
            Some(model) if model <= DEVICE_TARGET as usize => {}
            Some(model) if model <= NEWEST_TARGET => {
                let log = "ptxas fatal   : SM version specified by .target is higher than default SM version assumed";
                return Err(Refusal::Wrong {
                    log: log.to_owned(),
                });
            }
            _ => return Err(self.refuse(&format!("Unsupported .target '{name}'"))),
        }
        if self.accept(b',')? {
            self.list()?;
        }
        Ok(())
    }
}

fn type_size(word: &[u8]) -> Option<usize> {
    Some(match word {
        b".b8" | b".u8" | b".s8" => 1,
        b".b16" | b".u16" | b".s16" | b".f16" | b".bf16" => 2,
        b".b32" | b".u32" | b".s32" | b".f32" | b".f16x2" | b".bf16x2" => 4,
        b".b64" | b".u64" | b".s64" | b".f64" | b".texref" | b".samplerref" | b".surfref" => 8,
        b".b128" => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ".version 8.0\n.target sm_90, debug\n.address_size 64\n";

    pub(super) fn entries(body: &str) -> Vec<Entry> {
        read(body).entries
    }

    pub(super) fn read(body: &str) -> Ptx {
        parse(format!("{HEADER}{body}").as_bytes(), (9, 0)).unwrap()
    }

    pub(super) fn log(body: &str) -> String {
        match parse(format!("{HEADER}{body}").as_bytes(), (9, 0)) {
            Err(Refusal::Wrong { log }) => log,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_not_an_entry_is_skipped() {
        let found = entries(
            ".file 1 \"x{.cu\", 12, 13\n.global .align 4 .u32 g[2] = {1, 2};\n.extern .func (.param .b32 r) vprintf (.param .b64 a);\n\
             .func f(.reg .u32 x) { { ret; } }\n.extern .shared .align 16 .b8 s[];\n.section .debug_info { .b8 1,2 }\n.entry k { ret; }",
        );
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn other_text_is_not_ptx_and_broken_ptx_is_wrong() {
        assert_eq!(parse(b"fn main() {}", (9, 0)), Err(Refusal::NotPtx));
        assert_eq!(parse(b"", (9, 0)), Err(Refusal::NotPtx));
        assert_eq!(parse(b"\x7fELF\x02\x01", (9, 0)), Err(Refusal::NotPtx));
        for newer in [
            ".version 99.0\n.target sm_90",
            ".version 9.1\n.target sm_90",
        ] {
            assert!(matches!(
                parse(newer.as_bytes(), (9, 0)),
                Err(Refusal::TooNew { .. })
            ));
        }
        for target in ["sm_999", "sm_100", "sm_100a", "sm_", "sm_9x9"] {
            let text = format!(".version 9.0\n.target {target}");
            assert!(matches!(
                parse(text.as_bytes(), (9, 0)),
                Err(Refusal::Wrong { .. })
            ));
        }
        for body in [
            "nonsense",
            ".entry",
            ".entry k(",
            ".entry k(.param .u32)",
            ".entry k(.param .u33 x) {}",
            ".entry k {",
            "}",
            ".entry 1k {}",
            ".entry k(.param .align 3 .b8 x[4]) {}",
            ".entry k(.param .b8 x[99999999999999999999]) {}",
            ".entry k(.param .b64 x[9223372036854775807]) {}",
            ".entry k {} .entry k {}",
            ".global .u32 x",
            "/* open",
            ".file 1 \"open",
        ] {
            assert!(log(body).contains("fatal"), "{body}");
        }
        assert!(
            log("\n\n.entry k(oops)").contains("line 6"),
            "{}",
            log("\n\n.entry k(oops)")
        );
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let whole = format!(
            "{HEADER}.entry k(.param .align 8 .b8 s[24], .param .u64 .ptr .global x) .maxntid 1,2 {{ \"x\" }} \
             .extern .const .u32 d[]; .visible .global .align 8 .f32 v[2][2] = {{{{0f3F800000, -1.5}}, {{generic(v), 0x2}}}};"
        );
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for round in 0..20_000 {
            let mut bytes = whole.clone().into_bytes();
            bytes.truncate(round % (bytes.len() + 1));
            for _ in 0..round % 4 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                if !bytes.is_empty() {
                    let at = random as usize % bytes.len();
                    bytes[at] = (random >> 32) as u8;
                }
            }
            drop(parse(&bytes, (9, 0)));
        }
    }
}
