//! Launches of kernels with inputs and results: one table, for this package and for a device.
//!
//! A case names a text, a kernel, a shape, its arguments and what the buffers hold afterwards.

mod basics;
mod cooperation;
mod numbers;

/// An argument of a kernel.
#[derive(Clone)]
pub(crate) enum Argument {
    /// Memory that is given with these bytes.
    Buffer(Vec<u8>),
    /// Memory that nobody has written, of so many bytes.
    Fresh(usize),
    /// Bytes by value, aligned to their number.
    Value(Vec<u8>),
}

/// How results are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Compare {
    /// Every bit.
    Bits,
    /// Singles, which may be so many units in the last place away.
    Singles(u32),
    /// Doubles, likewise.
    Doubles(u64),
}

/// A launch.
pub(crate) struct Case {
    pub(crate) text: &'static str,
    pub(crate) kernel: &'static str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) cluster: u32,
    pub(crate) shared: u32,
    pub(crate) is_cooperative: bool,
    pub(crate) arguments: Vec<Argument>,
    /// What buffers hold afterwards, by the number of their argument.
    pub(crate) results: Vec<(usize, Vec<u8>, Compare)>,
    pub(crate) printed: &'static str,
}

pub(crate) const KERNELS: &str = include_str!("../cuda/kernels.ptx");
pub(crate) const BLOCKS: &str = include_str!("../cuda/blocks.ptx");
pub(crate) const ASYNCHRONOUS: &str = include_str!("../cuda/asynchronous.ptx");

impl Case {
    fn new(kernel: &'static str, blocks: u32, threads: u32) -> Self {
        Self {
            text: KERNELS,
            kernel,
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: 1,
            shared: 0,
            is_cooperative: false,
            arguments: Vec::new(),
            results: Vec::new(),
            printed: "",
        }
    }

    fn words(mut self, words: &[u32]) -> Self {
        self.arguments.push(Argument::Buffer(bytes(words)));
        self
    }

    fn floats(self, values: &[f32]) -> Self {
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        self.words(&bits)
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.arguments.push(Argument::Buffer(bytes.to_vec()));
        self
    }

    fn fresh(mut self, bytes: usize) -> Self {
        self.arguments.push(Argument::Fresh(bytes));
        self
    }

    fn value(mut self, bytes: &[u8]) -> Self {
        self.arguments.push(Argument::Value(bytes.to_vec()));
        self
    }

    fn number(self, value: u32) -> Self {
        self.value(&value.to_le_bytes())
    }

    /// The last argument is a buffer that holds these words afterwards.
    fn gives(self, words: &[u32]) -> Self {
        let last = self.arguments.len() - 1;
        self.gives_at(last, words)
    }

    fn gives_at(mut self, argument: usize, words: &[u32]) -> Self {
        self.results.push((argument, bytes(words), Compare::Bits));
        self
    }

    fn gives_floats(self, values: &[f32]) -> Self {
        let last = self.arguments.len() - 1;
        self.gives_floats_at(last, values)
    }

    fn gives_floats_at(self, argument: usize, values: &[f32]) -> Self {
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        self.gives_at(argument, &bits)
    }
}

pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Words that look random and are always the same.
pub(crate) fn noise(count: usize, seed: u32) -> Vec<u32> {
    let mut state = u64::from(seed) << 32 | 0x9E37_79B9;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 ^ (state >> 15) as u32
    };
    (0..count).map(next).collect()
}

/// All cases.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = basics::cases();
    cases.extend(cooperation::cases());
    cases.extend(numbers::cases());
    cases
}
