//! The declarations of a text, one after the other.

use super::symbol;
use super::text::Text;

/// A kernel or a variable of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// Where its name begins.
    pub(super) name: u32,
    /// How many bytes its name has.
    pub(super) len: u32,
    /// Where the last part of its path begins, if it is mangled, and how many bytes that has.
    pub(super) base: u32,
    pub(super) base_len: u32,
    /// Of a variable, where its type begins: behind `.global` or `.const`.
    pub(super) declared: u32,
}

impl Place {
    /// The name from `name` to `end`.
    const fn new(text: &Text<'_>, name: usize, end: usize, declared: usize) -> Self {
        let (base, base_len) = symbol::base(text.part(name, end - name));
        Self {
            name: name as u32,
            len: (end - name) as u32,
            base: (name + base) as u32,
            base_len: base_len as u32,
            declared: declared as u32,
        }
    }

    /// Its name in the text.
    pub(super) const fn symbol<'a>(self, text: &Text<'a>) -> &'a [u8] {
        text.part(self.name as usize, self.len as usize)
    }

    /// Where its name ends.
    pub(super) const fn end(self) -> usize {
        self.name as usize + self.len as usize
    }
}

/// What comes next.
#[derive(Clone, Copy)]
pub(super) enum Next {
    Kernel(Place),
    Variable(Place),
    /// The limit was reached first.
    Paused,
    End,
}

/// How far a text has been read. Comments, strings and what stands in braces declare nothing.
#[derive(Clone, Copy)]
pub(super) struct Scanner {
    pub(super) position: usize,
    /// Open braces.
    depth: usize,
    /// Where the type begins of the variables that are being declared; 0 outside of such a
    /// statement.
    declared: usize,
    /// After how many more tokens it pauses.
    pub(super) tokens_left: usize,
}

impl Scanner {
    pub(super) const START: Self = Self {
        position: 0,
        depth: 0,
        declared: 0,
        tokens_left: usize::MAX,
    };

    /// The next declaration, if it comes before `limit`.
    pub(super) const fn next(&mut self, text: &Text<'_>, limit: usize) -> Next {
        let bytes = text.bytes;
        loop {
            let mut at = self.position;
            if self.depth > 0 && at < bytes.len() && at < limit {
                at = text.mark(at);
            }
            if at >= bytes.len() {
                return Next::End;
            }
            self.position = at;
            if at >= limit || self.tokens_left == 0 {
                return Next::Paused;
            }
            self.tokens_left -= 1;
            match bytes[at] {
                b'/' if text.is_comment(at) => self.position = text.comment_end(at),
                b'"' => self.position = text.string_end(at),
                b'{' => (self.depth, self.position) = (self.depth + 1, at + 1),
                b'}' => (self.depth, self.position) = (self.depth.saturating_sub(1), at + 1),
                _ if self.depth > 0 => self.position = at + 1,
                b'(' => self.position = text.list_end(at),
                b';' => (self.declared, self.position) = (0, at + 1),
                b',' if self.declared > 0 => return self.variable(text, at + 1),
                b'.' => {
                    let end = text.name_end(at + 1);
                    self.position = end;
                    if end - at == 6 && text.stands(at, b".entry") {
                        return self.kernel(text);
                    }
                    if end - at == 7 && text.stands(at, b".global")
                        || end - at == 6 && text.stands(at, b".const")
                    {
                        self.declared = end;
                        return self.variable(text, end);
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b'=' => self.position = at + 1,
                // A name or a number, or something unknown.
                _ => {
                    let end = text.name_end(at);
                    self.position = if end > at { end } else { at + 1 };
                }
            }
        }
    }

    /// The kernel whose `.entry` was read.
    const fn kernel(&mut self, text: &Text<'_>) -> Next {
        let name = text.skip_blank(self.position);
        let end = text.name_end(name);
        let list = text.skip_blank(end);
        self.position = if text.at(list) == b'(' {
            text.list_end(list)
        } else {
            list
        };
        Next::Kernel(Place::new(text, name, end, 0))
    }

    /// The variable whose type, or name, begins at `from`.
    const fn variable(&mut self, text: &Text<'_>, from: usize) -> Next {
        let name = after_type(text, from);
        let end = text.name_end(name);
        self.position = end;
        Next::Variable(Place::new(text, name, end, self.declared))
    }
}

/// Where the name begins after the words of a type: `.align 4 .b8`.
pub(super) const fn after_type(text: &Text<'_>, from: usize) -> usize {
    let mut at = text.skip_blank(from);
    while text.at(at) == b'.' {
        let end = text.name_end(at + 1);
        let takes_number = end - at == 6 && text.stands(at, b".align");
        at = text.skip_blank(end);
        if takes_number {
            at = text.skip_blank(text.name_end(at));
        }
        if text.at(at) == b'(' {
            at = text.skip_blank(text.list_end(at));
        }
    }
    at
}
