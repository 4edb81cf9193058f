//! A list that needs no heap while it is short.

/// Values in order, the first [`INLINE`] of them in place. A scope over a few streams keeps them in
/// one, so that it allocates nothing.
pub(crate) struct Few<T> {
    first: [Option<T>; INLINE],
    more: Vec<T>,
}

/// How many streams a scope has without the heap.
const INLINE: usize = 8;

impl<T> Few<T> {
    pub(crate) const fn new() -> Self {
        Self {
            first: [const { None }; INLINE],
            more: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, value: T) {
        match self.first.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(value),
            None => self.more.push(value),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().flatten().chain(&self.more)
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<
        std::iter::Flatten<std::array::IntoIter<Option<T>, INLINE>>,
        std::vec::IntoIter<T>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().flatten().chain(self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_their_order() {
        for len in [0, 1, INLINE, INLINE + 3] {
            let mut few = Few::new();
            (0..len).for_each(|value| few.push(value));
            assert!(few.iter().copied().eq(0..len));
            assert!(few.into_iter().eq(0..len));
        }
    }
}
