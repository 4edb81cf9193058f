//! Variables at module scope: names, sizes and what they hold at first.

use super::lexer::{Parser, Token};
use super::value::{Holds, Type, float_bits, is_too_large};
use super::{Parsed, Refusal, type_size};

/// A `.global` or `.const` variable of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// 0 when it is only declared here, with its length left open.
    pub(crate) bytes: usize,
    pub(super) alignment: usize,
    pub(super) is_constant: bool,
    /// It is declared here, and may be another module's.
    pub(crate) is_extern: bool,
    /// Values other than zero, each with its first byte and as many bytes as an element has.
    values: Vec<(usize, u128)>,
    element_bytes: usize,
}

impl Variable {
    /// Gives `bytes`, as many as the variable has, the initial values.
    pub(crate) fn initialise(&self, bytes: &mut [u8]) {
        bytes.fill(0);
        for &(first, value) in &self.values {
            let value = &value.to_le_bytes()[..self.element_bytes];
            bytes[first..first + value.len()].copy_from_slice(value);
        }
    }
}

/// The most dimensions of an array: initialisers nest as deeply.
const DIMENSIONS_MAX: usize = 64;
/// No variable has more bytes. (The real assembler lets sizes wrap.)
const BYTES_MAX: usize = isize::MAX as usize;

impl Parser<'_> {
    /// What follows `.global` or `.const`: `.align 4 .f32 coef[2] = {0f3F800000, 2.0};` and the
    /// like. None for textures and the like.
    pub(super) fn variables(
        &mut self,
        is_constant: bool,
        is_extern: bool,
    ) -> Parsed<Vec<Variable>> {
        let (mut element, mut lanes, mut alignment) = (None, None, None);
        loop {
            match self.peek()? {
                Token::Word(b".align") => {
                    self.next()?;
                    alignment = Some(self.alignment()?);
                }
                Token::Word(b".attribute") => {
                    self.next()?;
                    self.parentheses()?;
                }
                Token::Word(b".texref" | b".samplerref" | b".surfref") => {
                    self.statement()?;
                    return Ok(Vec::new());
                }
                Token::Word(word) if word.starts_with(b".") => {
                    self.next()?;
                    match word {
                        b".v2" => lanes = Some(2),
                        b".v4" => lanes = Some(4),
                        _ => {
                            element = Some((
                                Holds::of(word),
                                type_size(word).ok_or_else(|| self.wrong(word))?,
                            ))
                        }
                    }
                }
                _ => break,
            }
        }
        let (holds, bytes) = element.ok_or_else(|| self.wrong(b"variable"))?;
        let of = Type {
            holds,
            bytes,
            lanes,
            alignment,
        };
        let mut variables = Vec::new();
        loop {
            let name = self.name()?;
            variables.push(self.variable(name, of, is_constant, is_extern)?);
            if !self.accept(b',')? {
                self.expect(b';')?;
                return Ok(variables);
            }
        }
    }

    /// What follows a name: `[2][3] = {{1, 2, 3}, {4}}`.
    fn variable(
        &mut self,
        name: String,
        of: Type,
        is_constant: bool,
        is_extern: bool,
    ) -> Parsed<Variable> {
        let incomplete = format!("Non-external variable '{name}' has incomplete type");
        let mut shape = Vec::new();
        let mut is_open = false;
        while self.accept(b'[')? {
            if shape.is_empty() && self.accept(b']')? {
                // The initialiser tells, or another module.
                is_open = true;
                shape.push(1);
                continue;
            }
            shape.push(self.number()?);
            self.expect(b']')?;
        }
        shape.extend(of.lanes);
        if shape.contains(&0) {
            return Err(self.refuse(&incomplete));
        }
        let size = |lengths: &[usize]| {
            let mut bytes = of.bytes;
            for &length in lengths {
                bytes = bytes
                    .checked_mul(length)
                    .filter(|&bytes| bytes <= BYTES_MAX)?;
            }
            Some(bytes)
        };
        let (true, Some(one)) = (shape.len() <= DIMENSIONS_MAX, size(&shape)) else {
            return Err(self.refuse("Constant overflow"));
        };
        let mut values = Vec::new();
        let mut length = if is_open { 0 } else { 1 };
        if self.accept(b'=')? {
            if shape.is_empty() {
                values.push((0, self.value(of)?));
            } else {
                if is_open {
                    shape[0] = BYTES_MAX / one;
                }
                self.expect_list()?;
                let items = self.list_of(of, &shape, 0, &mut values)?;
                length = if is_open { items } else { 1 };
            }
        }
        if length == 0 && !is_extern {
            return Err(self.refuse(&incomplete));
        }
        values.retain(|&(_, value)| value != 0);
        Ok(Variable {
            name,
            // Within the limit: of an open array no more items are read.
            bytes: one * length,
            alignment: of.alignment.unwrap_or(of.bytes * of.lanes.unwrap_or(1)),
            is_constant,
            is_extern,
            values,
            element_bytes: of.bytes,
        })
    }

    fn expect_list(&mut self) -> Parsed<()> {
        if self.accept(b'{')? {
            Ok(())
        } else {
            Err(self.mismatch())
        }
    }

    /// The rest of a list whose brace was read, for an array of this shape from byte `start` on.
    /// Says how many items it has.
    fn list_of(
        &mut self,
        of: Type,
        shape: &[usize],
        start: usize,
        values: &mut Vec<(usize, u128)>,
    ) -> Parsed<usize> {
        let Some((&length, inner)) = shape.split_first() else {
            return Err(self.mismatch());
        };
        let step = inner.iter().fold(of.bytes, |bytes, length| bytes * length);
        let mut items = 0;
        if !self.accept(b'}')? {
            loop {
                if items == length {
                    return Err(self.refuse("Greater number of elements in array initializer"));
                }
                let first = start + items * step;
                if inner.is_empty() {
                    values.push((first, self.value(of)?));
                } else {
                    self.expect_list()?;
                    self.list_of(of, inner, first, values)?;
                }
                items += 1;
                if !self.accept(b',')? {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        if inner.is_empty() && of.lanes.is_some_and(|lanes| lanes != items) {
            return Err(self.refuse("Incorrect number of elements in vector initializer"));
        }
        Ok(items)
    }

    fn value(&mut self, of: Type) -> Parsed<u128> {
        let (mut text, mut depth, mut follows_word) = (String::new(), 0_usize, false);
        loop {
            let token = self.peek()?;
            match token {
                Token::Mark(b',' | b'}' | b';') if depth == 0 => break,
                Token::Mark(b'{') => return Err(self.mismatch()),
                Token::Mark(b'}' | b';') | Token::End => return Err(self.wrong(b"")),
                // `0fZZ` is the number 0 and a name.
                Token::Word(word) if follows_word => return Err(self.wrong(word)),
                Token::Word(word) | Token::Text(word) => {
                    let word = String::from_utf8_lossy(word);
                    if is_too_large(&word) {
                        return Err(self.refuse("Constant overflow"));
                    }
                    text.push_str(&word);
                }
                Token::Mark(mark) => {
                    match mark {
                        b'(' => depth += 1,
                        b')' => depth = depth.checked_sub(1).ok_or_else(|| self.wrong(b")"))?,
                        _ => {}
                    }
                    text.push(char::from(mark));
                }
            }
            follows_word = matches!(token, Token::Word(_));
            self.next()?;
        }
        if text.is_empty() || text.strip_prefix('-').and_then(float_bits).is_some() {
            return Err(self.wrong(text.as_bytes()));
        }
        of.value(&text).ok_or_else(|| self.mismatch())
    }

    fn mismatch(&self) -> Refusal {
        self.refuse("Initial value type mismatch")
    }

    /// `( ... )` with whatever is in it.
    fn parentheses(&mut self) -> Parsed<()> {
        self.expect(b'(')?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Token::Mark(b'(') => depth += 1,
                Token::Mark(b')') => depth -= 1,
                Token::End => return Err(self.wrong(b"")),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{log, read};
    use super::*;

    /// The one variable of a text.
    fn variable(text: &str) -> Variable {
        let mut variables = read(text).variables;
        assert_eq!(variables.len(), 1, "{text}");
        variables.remove(0)
    }

    /// What the one variable of a text holds at first.
    fn holds<T: bytemuck::Pod>(text: &str) -> Vec<T> {
        let variable = variable(text);
        let mut bytes = vec![0xAA; variable.bytes];
        variable.initialise(&mut bytes);
        bytes
            .chunks_exact(size_of::<T>())
            .map(bytemuck::pod_read_unaligned)
            .collect()
    }

    #[test]
    fn a_variable_has_name_size_and_zeros() {
        let found = read(
            ".visible .global .align 4 .u32 counter;\n.weak .const .align 8 .b8 data[24];\n.global .v4 .f32 v;\n\
             .visible .global .attribute(.unified(19, 95), .managed) .s64 $m, _n[2];\n.global .texref t = { a = 1 };\n\
             .func f() { .global .u32 inner; }\n.shared .align 4 .f32 s[4];\n.entry k { ret; }",
        );
        let sizes: Vec<(&str, usize)> = found
            .variables
            .iter()
            .map(|variable| (variable.name.as_str(), variable.bytes))
            .collect();
        let expected = [
            ("counter", 4),
            ("data", 24),
            ("v", 16),
            ("$m", 8),
            ("_n", 16),
        ];
        assert_eq!(sizes, expected);
        assert!(found.variables[1].is_constant && !found.variables[0].is_constant);
        assert_eq!(holds::<u8>(".global .b8 b[5];"), [0; 5]);
    }

    #[test]
    fn integers_are_read_in_every_base() {
        assert_eq!(holds::<u32>(".global .u32 x = 7;"), [7]);
        assert_eq!(
            holds::<i32>(".global .s32 x[9] = {-1, 0x10, 0X1fU, 0b101, 017, 0, -0x2, 4294967297};"),
            [-1, 16, 31, 5, 15, 0, -2, 1, 0]
        );
        assert_eq!(
            holds::<u8>(".global .align 8 .b8 x[4] = {255, 0xFE, 1, 300};"),
            [255, 254, 1, 44]
        );
        assert_eq!(
            holds::<u64>(".const .u64 x = 18446744073709551615;"),
            [u64::MAX]
        );
        assert_eq!(holds::<u16>(".global .b16 x = 0x3C00;"), [0x3C00]);
    }

    #[test]
    fn floating_point_numbers_are_bits_or_decimals() {
        assert_eq!(
            holds::<f32>(
                ".const .align 4 .f32 x[5] = {0f3F800000, -2.5, 25e-1, 0d3FF8000000000000};"
            ),
            [1.0, -2.5, 2.5, 1.5, 0.0]
        );
        assert_eq!(
            holds::<f64>(".global .f64 x[4] = {0d3FF0000000000000, -0.25, .5, 0f40000000};"),
            [1.0, -0.25, 0.5, 2.0]
        );
        assert_eq!(
            holds::<f32>(".global .b32 x[2] = {0f3F800000, 1.5};"),
            [1.0, 1.5]
        );
        assert_eq!(holds::<f64>(".global .b64 x = 0f3F800000;"), [1.0]);
        assert_eq!(holds::<u32>(".global .f32 x = 0f7FC00001;"), [0x7FC0_0001]);
    }

    #[test]
    fn expressions_are_zero() {
        assert_eq!(
            holds::<u64>(".global .u64 x[4] = {generic(y), y+4, 0xFF(y), 9};"),
            [0, 0, 0, 9]
        );
        assert_eq!(holds::<f32>(".global .f32 x[2] = {nan, inf};"), [0.0; 2]);
    }

    /// Stricter than C: each dimension has its braces.
    #[test]
    fn lists_fill_arrays() {
        assert_eq!(
            holds::<u8>(".global .u8 x[2][3] = {{1, 2}, {4, 5, 6}};"),
            [1, 2, 0, 4, 5, 6]
        );
        assert_eq!(
            holds::<u8>(".global .u8 x[2][2][2] = {{{1}, {3}}, {{}, {7, 8}}};"),
            [1, 0, 3, 0, 0, 0, 7, 8]
        );
        assert_eq!(holds::<u16>(".const .u16 x[] = {1, 2, 3};"), [1, 2, 3]);
        assert_eq!(
            holds::<u8>(".global .u8 x[][2] = {{1}, {2, 3}};"),
            [1, 0, 2, 3]
        );
        assert_eq!(holds::<u8>(".global .u8 x[2] = {};"), [0; 2]);
        assert_eq!(holds::<f32>(".global .v2 .f32 x = {1.0, 2.0};"), [1.0, 2.0]);
        assert_eq!(
            holds::<u32>(".global .v2 .u32 x[] = {{1, 2}, {3, 4}};"),
            [1, 2, 3, 4]
        );
        assert_eq!(
            holds::<u8>(".global .v2 .u8 x[2] = {{1, 2}};"),
            [1, 2, 0, 0]
        );
    }

    #[test]
    fn a_declaration_gives_way_to_the_variable() {
        for text in [
            ".extern .global .align 4 .u32 x[]; .visible .global .u32 x[2] = {1};",
            ".global .u32 x[2] = {1}; .extern .global .u32 x[2];",
        ] {
            let found = read(text).resolved().unwrap();
            assert_eq!(found.variables, [variable(".global .u32 x[2] = {1};")]);
        }
        assert!(log(".global .u32 x[2]; .extern .global .u32 x[3];").contains("'x'"));
    }

    /// In the words of the real one: "ignoring extern qualifier".
    #[test]
    fn a_declaration_with_a_size_is_a_variable_when_no_other_is_there() {
        let found = read(".extern .global .u32 x; .extern .const .f32 y[3];");
        assert!(found.variables[0].is_extern);
        let sizes =
            |found: &[Variable]| -> Vec<usize> { found.iter().map(|known| known.bytes).collect() };
        assert_eq!(sizes(&found.resolved().unwrap().variables), [4, 12]);
        let Err(refusal) = read(".extern .global .u32 z[];").resolved() else {
            panic!("`z` is nowhere, and nobody knows its size")
        };
        assert_eq!(
            refusal.log(),
            "ptxas fatal   : Unresolved extern variable 'z'"
        );
    }

    #[test]
    fn wrong_variables_are_refused() {
        for (text, why) in [
            (".global x;", "near 'variable'"),
            (".global .u32;", "near"),
            (".global .u32 1x;", "near '1'"),
            (".global .u32 x", "near ''"),
            (".global .u33 x;", "near '.u33'"),
            (".global .v8 .u32 x;", "near '.v8'"),
            (".global .align 3 .u32 x;", "power of two"),
            (".global .align 0 .u32 x;", "power of two"),
            (".global .u32 x[];", "'x' has incomplete type"),
            (".global .u32 x[0];", "'x' has incomplete type"),
            (".global .u32 x[] = {};", "'x' has incomplete type"),
            (".global .u32 x[2][];", "near"),
            (".global .u32 x[2;", "near"),
            (".global .align 4294967296 .b8 x;", "Constant overflow"),
            (".global .u32 x.y;", "near '.y'"),
            (".global .u32 x%y;", "near '%y'"),
            (
                ".global .u32 x = 99999999999999999999;",
                "Constant overflow",
            ),
            (
                ".global .b32 x = 99999999999999999999;",
                "Constant overflow",
            ),
            (".global .b64 x = 0x10000000000000000;", "Constant overflow"),
            (".global .f64 x = 1e999;", "Constant overflow"),
            (".global .f32 x = 0fZZZZZZZZ;", "near 'fZZZZZZZZ'"),
            (".global .b32 x = 0fZZZZZZZZ;", "near 'fZZZZZZZZ'"),
            (".global .f32 x = 0f3F8000;", "near 'f3F8000'"),
            (".global .f32 x = 0f3F80000000;", "near '00'"),
            (".global .f64 x = 0d3F800000;", "near 'd3F800000'"),
            (".global .f64 x = 1.5f;", "near 'f'"),
            (".global .u32 x = 12abc;", "near 'abc'"),
            (".global .u32 x = 0b12;", "near '2'"),
            (".global .u32 x[4.5];", "near '4.5'"),
            (".global .u32 x = ;", "near ''"),
            (".global .u32 x = 1, 2;", "near '2'"),
            (".global .f32 x = -0f3F800000;", "near '-0f3F800000'"),
            (".global .u32 x = {7};", "type mismatch"),
            (".global .u32 x = 1.5;", "type mismatch"),
            (".global .u32 x = 0f3F800000;", "type mismatch"),
            (".global .f32 x = 1;", "type mismatch"),
            (".global .f16 x = 1.0;", "type mismatch"),
            (".global .b8 x = 1.0;", "type mismatch"),
            (".global .u32 x[2] = 1;", "type mismatch"),
            (".global .v2 .u32 x = 1;", "type mismatch"),
            (".global .u32 x[2] = {{1}, {2}};", "type mismatch"),
            (".global .u8 x[2][2] = {1, {4}};", "type mismatch"),
            (".global .u32 x[2] = {1, 2, 3};", "Greater number"),
            (".global .u8 x[2][2] = {{1, 2, 3}};", "Greater number"),
            (".global .u8 x[2][2] = {{1}, {2}, {3}};", "Greater number"),
            (".global .v2 .u8 x = {1};", "Incorrect number"),
            (".global .v2 .u8 x[2] = {{}};", "Incorrect number"),
            (".global .u32 x[2] = {1, };", "near ''"),
            (".global .u32 x[2] = {1", "near ''"),
            (".global .u32 x = (1;", "near ''"),
            (".global .u32 x = 1);", "near ')'"),
            (".global .attribute(.managed .u32 x;", "near ''"),
            (".global .u32 x; .global .u32 x;", "near 'x'"),
            (".entry x { ret; } .global .u32 x;", "near 'x'"),
            (".global .u32 x; .entry x { ret; }", "near 'x'"),
        ] {
            let log = log(text);
            assert!(log.contains(why) && log.contains("fatal"), "{text}: {log}");
        }
    }

    #[test]
    fn sizes_do_not_wrap() {
        for text in [
            ".global .b8 x[99999999999999999999];",
            ".global .b8 x[9223372036854775808];",
            ".global .b64 x[2305843009213693952];",
            ".global .b8 x[4294967296][4294967296];",
            ".global .v4 .b64 x[4611686018427387904];",
            ".global .b8 x[][18446744073709551615] = {{1}, {1}};",
            ".global .b8 x[][9223372036854775807] = {{1}, {1}};",
        ] {
            assert!(log(text).contains("fatal"), "{text}");
        }
        let dimensions = |count| format!(".global .b8 x{};", "[1]".repeat(count));
        assert_eq!(variable(&dimensions(64)).bytes, 1);
        assert!(log(&dimensions(65)).contains("Constant overflow"));
        let large = variable(".global .b8 x[2][4611686018427387903] = {{1}, {2}};");
        assert_eq!(large.bytes, 9_223_372_036_854_775_806);
    }

    #[test]
    fn constants_have_64_kib() {
        let full = ".const .b8 a[65528]; .const .align 8 .b8 b[8]; .global .b8 c[100000];";
        assert_eq!(read(full).variables.len(), 3);
        for (text, bytes) in [
            (".const .b8 a[65536]; .const .b8 b;", "0x10001"),
            (".const .b8 a[65530]; .const .align 8 .b8 b[8];", "0x10008"),
        ] {
            let expected = format!("global constant data ({bytes} bytes, 0x10000 max)");
            assert!(log(text).contains(&expected), "{}", log(text));
        }
    }
}
