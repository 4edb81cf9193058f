//! The parameters of a kernel, as PTX declares them.

use super::text::Text;
use super::value::Value;

/// Reads the parameters of a kernel, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    at: usize,
    is_done: bool,
}

impl Reader {
    /// The list that follows a kernel's name.
    pub(super) const fn new(text: &Text<'_>, name_end: usize) -> Self {
        let at = text.skip_blank(name_end);
        Self {
            at: at + 1,
            is_done: text.at(at) != b'(',
        }
    }

    pub(super) const fn next(&mut self, text: &Text<'_>) -> Option<Value> {
        if self.is_done {
            return None;
        }
        let at = text.skip_blank(self.at);
        if at >= text.bytes.len() || text.bytes[at] == b')' {
            return None;
        }
        self.at = at;
        Some(self.read(text))
    }

    const fn read(&mut self, text: &Text<'_>) -> Value {
        let at = self.at;
        let value = match Value::usual_parameter(text, at) {
            Some(value) => value,
            None if text.stands(at, b".param") => Value::parameter(text, at + 6),
            None => Value::parameter(text, at),
        };
        // To the end of this one, whatever else it has.
        let mut at = match text.at(value.end()) {
            b',' => value.end(),
            _ => text.any(value.end(), *b",)/"),
        };
        while text.at(at) == b'/' {
            let end = if text.is_comment(at) {
                text.comment_end(at)
            } else {
                at + 1
            };
            at = text.any(end, *b",)/");
        }
        self.is_done = text.at(at) != b',';
        self.at = at + 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::super::message::Message;
    use super::*;

    fn read(list: &str) -> Vec<(Kind, Option<usize>, usize, String)> {
        let text = &Text::new(list);
        let mut reader = Reader::new(text, 0);
        let all: Vec<_> = std::iter::from_fn(|| reader.next(text)).collect();
        let words = |value: &Value| {
            let mut message = Message::new();
            value.describe(text, &mut message);
            message.as_str().to_owned()
        };
        let describe = |value: &Value| (value.kind, value.size, value.align, words(value));
        all.iter().map(describe).collect()
    }

    #[test]
    fn parameters_are_read_as_compilers_write_them() {
        let list =
            "(.param .u64 .ptr .align 1 k_param_0, .param .u64 k_param_1,\n\t.param .f32 k_param_2,
            .param .align 4 .b8 k_param_3[12], .param .u32 k_param_4 /* ) */, .param .b32 k_param_5,
            .param .u64 .ptr .global .align 4 x, .param .s8 c, .param.align 16.b8 y[2] [ 8 ],
            .param .u64 .ptr .shared .align 4 z, .param .texref t, .param .f16 h)";
        let want = [
            (Kind::Pointer, Some(8), 8, ".u64 .ptr .align 1"),
            (Kind::Integer, Some(8), 8, ".u64"),
            (Kind::Float, Some(4), 4, ".f32"),
            (Kind::Bytes, Some(12), 4, ".align 4 .b8[12]"),
            (Kind::Integer, Some(4), 4, ".u32"),
            (Kind::Any, Some(4), 4, ".b32"),
            (Kind::Pointer, Some(8), 8, ".u64 .ptr .global .align 4"),
            (Kind::Integer, Some(1), 1, ".s8"),
            (Kind::Bytes, Some(16), 16, ".align 16 .b8[2][8]"),
            (Kind::OtherPointer, Some(8), 8, ".u64 .ptr .shared .align 4"),
            (Kind::Any, None, 0, ".texref"),
            (Kind::Float, Some(2), 2, ".f16"),
        ];
        let want = want.map(|(kind, size, align, text)| (kind, size, align, text.to_owned()));
        assert_eq!(read(list), want);
        assert_eq!(read("()"), []);
        assert_eq!(read(" { ret; }"), []);
    }

    #[test]
    fn any_list_has_an_end() {
        for list in [
            "(",
            "(,,)",
            "(.param",
            "(.param )",
            "(.param [ ] x)",
            "(.param .u32 x[",
            "(.param .align",
            "(.param .u32 x[0x10])",
            "(.param .b8 x[99999999999999999999999999])",
            "(/*",
        ] {
            let _ = read(list);
        }
        let many = ".param .u32 x, ".repeat(100);
        assert_eq!(read(&format!("({many} .param .u32 y)")).len(), 101);
    }
}
