//! Text that is made while the program is compiled.

use super::text::text_of;

const BYTES: usize = 1200;

/// A text that is made of parts. What is too long is cut off, and ends with three dots.
#[derive(Clone, Copy)]
pub(crate) struct Message {
    bytes: [u8; BYTES],
    len: usize,
    is_cut: bool,
}

impl Message {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; BYTES],
            len: 0,
            is_cut: false,
        }
    }

    /// Whether as many bytes still fit.
    pub(crate) const fn has_room(&self, bytes: usize) -> bool {
        !self.is_cut && self.len + bytes + 4 <= BYTES
    }

    pub(crate) const fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Parts that follow each other.
    pub(crate) const fn texts(&mut self, texts: &[&str]) {
        let mut index = 0;
        while index < texts.len() {
            self.text(texts[index]);
            index += 1;
        }
    }

    pub(crate) const fn bytes(&mut self, bytes: &[u8]) {
        if self.is_cut {
            return;
        }
        if !self.has_room(bytes.len()) {
            self.is_cut = true;
            self.put(b" ...");
        } else {
            self.put(bytes);
        }
    }

    /// A name, in the marks of code.
    pub(crate) const fn code(&mut self, name: &[u8]) {
        self.text("`");
        self.bytes(name);
        self.text("`");
    }

    pub(crate) const fn number(&mut self, number: usize) {
        let (mut digits, mut at, mut rest) = ([0; 20], 20, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes(digits.split_at(at).1);
    }

    /// So many of a thing: `1 parameter`, `2 parameters`.
    pub(crate) const fn count(&mut self, count: usize, thing: &str) {
        self.number(count);
        self.texts(&[" ", thing, if count == 1 { "" } else { "s" }]);
    }

    const fn put(&mut self, bytes: &[u8]) {
        let mut index = 0;
        while index < bytes.len() {
            self.bytes[self.len] = bytes[index];
            self.len += 1;
            index += 1;
        }
    }

    pub(crate) const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len).0
    }

    pub(crate) const fn as_str(&self) -> &str {
        text_of(self.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_until_the_message_is_full() {
        let mut message = Message::new();
        message.texts(&["kernel ", "of "]);
        message.code(b"k");
        message.text(", ");
        message.count(1, "parameter");
        message.text(", ");
        message.count(20, "variable");
        message.number(0);
        assert_eq!(
            message.as_str(),
            "kernel of `k`, 1 parameter, 20 variables0"
        );
        for _ in 0..200 {
            message.text("0123456789");
        }
        assert!(message.as_str().ends_with("0123456789 ..."));
        assert!(message.as_str().len() <= BYTES);
    }
}
