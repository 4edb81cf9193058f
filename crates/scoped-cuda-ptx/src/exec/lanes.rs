//! Registers of a warp, and functions over all their lanes.
//!
//! A register is a row of 32 lanes. Registers of up to 32 bits are rows of `u32`, those of 64 bits
//! are rows of `u64`, and a predicate is a mask with a bit per lane. `run!` makes an instruction
//! out of a function of one lane: its argument types say which rows are read and how the bits are
//! taken.

use crate::text::types::Type;

/// How many threads a warp has.
pub(crate) const WARP: usize = 32;
/// The number of a register within its bank.
pub(crate) type Slot = u32;

/// The registers of a function's frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    pub(crate) words: Vec<[u32; WARP]>,
    pub(crate) longs: Vec<[u64; WARP]>,
    pub(crate) predicates: Vec<u32>,
}

static NO_WORDS: [u32; WARP] = [0; WARP];
static NO_LONGS: [u64; WARP] = [0; WARP];

impl Registers {
    pub(crate) fn word(&self, slot: Slot) -> &[u32; WARP] {
        self.words.get(slot as usize).unwrap_or(&NO_WORDS)
    }

    pub(crate) fn long(&self, slot: Slot) -> &[u64; WARP] {
        self.longs.get(slot as usize).unwrap_or(&NO_LONGS)
    }

    pub(crate) fn predicate(&self, slot: Slot) -> u32 {
        self.predicates.get(slot as usize).copied().unwrap_or(0)
    }

    pub(crate) fn set_words(&mut self, slot: Slot, row: &[u32; WARP], mask: u32) {
        let Some(to) = self.words.get_mut(slot as usize) else {
            return;
        };
        if mask == !0 {
            *to = *row;
        } else {
            for (lane, (to, from)) in to.iter_mut().zip(row).enumerate() {
                let keep = (mask >> lane & 1).wrapping_sub(1);
                *to = *to & keep | from & !keep;
            }
        }
    }

    pub(crate) fn set_longs(&mut self, slot: Slot, row: &[u64; WARP], mask: u32) {
        let Some(to) = self.longs.get_mut(slot as usize) else {
            return;
        };
        if mask == !0 {
            *to = *row;
        } else {
            for (lane, (to, from)) in to.iter_mut().zip(row).enumerate() {
                let keep = u64::from(mask >> lane & 1).wrapping_sub(1);
                *to = *to & keep | from & !keep;
            }
        }
    }

    pub(crate) fn set_predicate(&mut self, slot: Slot, bits: u32, mask: u32) {
        if let Some(to) = self.predicates.get_mut(slot as usize) {
            *to = *to & !mask | bits & mask;
        }
    }
}

/// The registers that an instruction reads and writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    /// The destination.
    pub(crate) d: Slot,
    /// A second destination.
    pub(crate) q: Slot,
    pub(crate) a: Slot,
    pub(crate) b: Slot,
    pub(crate) c: Slot,
    pub(crate) e: Slot,
}

/// An instruction over all lanes.
pub(crate) type Run = fn(&mut Registers, &Args, u32);

/// An instruction with the types of its operands, the destination first.
#[derive(Clone, Copy)]
pub(crate) struct Plain {
    pub(crate) run: Run,
    pub(crate) types: &'static [Type],
}

/// What a lane of a register can be taken for.
pub(crate) trait Lane: Copy {
    const TYPE: Type;
    type Row;
    fn row(registers: &Registers, slot: Slot) -> &Self::Row;
    fn get(row: &Self::Row, lane: usize) -> Self;
    fn blank() -> Self::Row;
    fn put(self, row: &mut Self::Row, lane: usize);
    fn store(registers: &mut Registers, slot: Slot, row: &Self::Row, mask: u32);
}

macro_rules! word_lane {
    ($lane:ty, $kind:ident, |$bits:ident| $get:expr, |$value:ident| $put:expr) => {
        impl Lane for $lane {
            const TYPE: Type = Type::$kind;
            type Row = [u32; WARP];
            #[inline(always)]
            fn row(registers: &Registers, slot: Slot) -> &Self::Row {
                registers.word(slot)
            }
            #[inline(always)]
            fn get(row: &Self::Row, lane: usize) -> Self {
                let $bits = row[lane];
                $get
            }
            #[inline(always)]
            fn blank() -> Self::Row {
                [0; WARP]
            }
            #[inline(always)]
            fn put(self, row: &mut Self::Row, lane: usize) {
                let $value = self;
                row[lane] = $put;
            }
            #[inline(always)]
            fn store(registers: &mut Registers, slot: Slot, row: &Self::Row, mask: u32) {
                registers.set_words(slot, row, mask);
            }
        }
    };
}

macro_rules! long_lane {
    ($lane:ty, $kind:ident, |$bits:ident| $get:expr, |$value:ident| $put:expr) => {
        impl Lane for $lane {
            const TYPE: Type = Type::$kind;
            type Row = [u64; WARP];
            #[inline(always)]
            fn row(registers: &Registers, slot: Slot) -> &Self::Row {
                registers.long(slot)
            }
            #[inline(always)]
            fn get(row: &Self::Row, lane: usize) -> Self {
                let $bits = row[lane];
                $get
            }
            #[inline(always)]
            fn blank() -> Self::Row {
                [0; WARP]
            }
            #[inline(always)]
            fn put(self, row: &mut Self::Row, lane: usize) {
                let $value = self;
                row[lane] = $put;
            }
            #[inline(always)]
            fn store(registers: &mut Registers, slot: Slot, row: &Self::Row, mask: u32) {
                registers.set_longs(slot, row, mask);
            }
        }
    };
}

/// A single whose subnormals count as zero, as `.ftz` asks.
#[derive(Clone, Copy)]
pub(crate) struct Ftz(pub(crate) f32);
/// The bits of a half.
#[derive(Clone, Copy)]
pub(crate) struct F16(pub(crate) u16);
/// The bits of a bfloat16.
#[derive(Clone, Copy)]
pub(crate) struct Bf16(pub(crate) u16);
/// The bits of two halves.
#[derive(Clone, Copy)]
pub(crate) struct F16x2(pub(crate) u32);
/// The bits of two bfloat16.
#[derive(Clone, Copy)]
pub(crate) struct Bf16x2(pub(crate) u32);
/// The bits of a single, which pass unchanged.
#[derive(Clone, Copy)]
pub(crate) struct Raw32(pub(crate) u32);
/// The bits of a double, which pass unchanged.
#[derive(Clone, Copy)]
pub(crate) struct Raw64(pub(crate) u64);

/// What every NaN becomes that an instruction on singles makes.
pub(crate) const NAN32: u32 = 0x7FFF_FFFF;

/// The bits of a single, with the one NaN.
#[inline(always)]
pub(crate) fn bits32(value: f32) -> u32 {
    if value.is_nan() {
        NAN32
    } else {
        value.to_bits()
    }
}

/// Zero for a subnormal, with its sign.
#[inline(always)]
pub(crate) fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    if bits & 0x7F80_0000 == 0 {
        f32::from_bits(bits & 0x8000_0000)
    } else {
        value
    }
}

word_lane!(u8, U8, |bits| bits as u8, |value| u32::from(value));
word_lane!(i8, S8, |bits| bits as i8, |value| value as u32);
word_lane!(u16, U16, |bits| bits as u16, |value| u32::from(value));
word_lane!(i16, S16, |bits| bits as i16, |value| u32::from(
    value as u16
));
word_lane!(u32, U32, |bits| bits, |value| value);
word_lane!(i32, S32, |bits| bits as i32, |value| value as u32);
word_lane!(f32, F32, |bits| f32::from_bits(bits), |value| bits32(value));
word_lane!(Ftz, F32, |bits| Ftz(flush(f32::from_bits(bits))), |value| {
    bits32(flush(value.0))
});
word_lane!(Raw32, F32, |bits| Raw32(bits), |value| value.0);
word_lane!(F16, F16, |bits| F16(bits as u16), |value| u32::from(
    value.0
));
word_lane!(Bf16, Bf16, |bits| Bf16(bits as u16), |value| u32::from(
    value.0
));
word_lane!(F16x2, F16x2, |bits| F16x2(bits), |value| value.0);
word_lane!(Bf16x2, Bf16x2, |bits| Bf16x2(bits), |value| value.0);
long_lane!(u64, U64, |bits| bits, |value| value);
long_lane!(i64, S64, |bits| bits as i64, |value| value as u64);
long_lane!(f64, F64, |bits| f64::from_bits(bits), |value| value
    .to_bits());
long_lane!(Raw64, F64, |bits| Raw64(bits), |value| value.0);

impl Lane for bool {
    const TYPE: Type = Type::Pred;
    type Row = u32;
    #[inline(always)]
    fn row(registers: &Registers, slot: Slot) -> &u32 {
        registers.predicates.get(slot as usize).unwrap_or(&0)
    }
    #[inline(always)]
    fn get(row: &u32, lane: usize) -> Self {
        row >> lane & 1 == 1
    }
    #[inline(always)]
    fn blank() -> u32 {
        0
    }
    #[inline(always)]
    fn put(self, row: &mut u32, lane: usize) {
        *row |= u32::from(self) << lane;
    }
    #[inline(always)]
    fn store(registers: &mut Registers, slot: Slot, row: &u32, mask: u32) {
        registers.set_predicate(slot, *row, mask);
    }
}

#[inline(always)]
pub(crate) fn map1<A: Lane, D: Lane>(r: &mut Registers, x: &Args, mask: u32, f: impl Fn(A) -> D) {
    let mut out = D::blank();
    let a = A::row(r, x.a);
    for lane in 0..WARP {
        f(A::get(a, lane)).put(&mut out, lane);
    }
    D::store(r, x.d, &out, mask);
}

#[inline(always)]
pub(crate) fn map2<A: Lane, B: Lane, D: Lane>(
    r: &mut Registers,
    x: &Args,
    mask: u32,
    f: impl Fn(A, B) -> D,
) {
    let mut out = D::blank();
    let (a, b) = (A::row(r, x.a), B::row(r, x.b));
    for lane in 0..WARP {
        f(A::get(a, lane), B::get(b, lane)).put(&mut out, lane);
    }
    D::store(r, x.d, &out, mask);
}

#[inline(always)]
pub(crate) fn map3<A: Lane, B: Lane, C: Lane, D: Lane>(
    r: &mut Registers,
    x: &Args,
    mask: u32,
    f: impl Fn(A, B, C) -> D,
) {
    let mut out = D::blank();
    let (a, b, c) = (A::row(r, x.a), B::row(r, x.b), C::row(r, x.c));
    for lane in 0..WARP {
        f(A::get(a, lane), B::get(b, lane), C::get(c, lane)).put(&mut out, lane);
    }
    D::store(r, x.d, &out, mask);
}

#[inline(always)]
pub(crate) fn map4<A: Lane, B: Lane, C: Lane, E: Lane, D: Lane>(
    r: &mut Registers,
    x: &Args,
    mask: u32,
    f: impl Fn(A, B, C, E) -> D,
) {
    let mut out = D::blank();
    let (a, b) = (A::row(r, x.a), B::row(r, x.b));
    let (c, e) = (C::row(r, x.c), E::row(r, x.e));
    for lane in 0..WARP {
        let value = f(
            A::get(a, lane),
            B::get(b, lane),
            C::get(c, lane),
            E::get(e, lane),
        );
        value.put(&mut out, lane);
    }
    D::store(r, x.d, &out, mask);
}

/// Makes an instruction out of a function of one lane.
macro_rules! run {
    (|$a:ident: $A:ty| -> $D:ty $body:block) => {{
        fn run(r: &mut $crate::exec::lanes::Registers, x: &$crate::exec::lanes::Args, mask: u32) {
            $crate::exec::lanes::map1::<$A, $D>(r, x, mask, |$a| $body);
        }
        use $crate::exec::lanes::Lane;
        $crate::exec::lanes::Plain {
            run,
            types: &[<$D as Lane>::TYPE, <$A as Lane>::TYPE],
        }
    }};
    (|$a:ident: $A:ty, $b:ident: $B:ty| -> $D:ty $body:block) => {{
        fn run(r: &mut $crate::exec::lanes::Registers, x: &$crate::exec::lanes::Args, mask: u32) {
            $crate::exec::lanes::map2::<$A, $B, $D>(r, x, mask, |$a, $b| $body);
        }
        use $crate::exec::lanes::Lane;
        $crate::exec::lanes::Plain {
            run,
            types: &[<$D as Lane>::TYPE, <$A as Lane>::TYPE, <$B as Lane>::TYPE],
        }
    }};
    (|$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty| -> $D:ty $body:block) => {{
        fn run(r: &mut $crate::exec::lanes::Registers, x: &$crate::exec::lanes::Args, mask: u32) {
            $crate::exec::lanes::map3::<$A, $B, $C, $D>(r, x, mask, |$a, $b, $c| $body);
        }
        use $crate::exec::lanes::Lane;
        $crate::exec::lanes::Plain {
            run,
            types: &[
                <$D as Lane>::TYPE,
                <$A as Lane>::TYPE,
                <$B as Lane>::TYPE,
                <$C as Lane>::TYPE,
            ],
        }
    }};
    (
        |$a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty, $e:ident: $E:ty| -> $D:ty $body:block
    ) => {{
        fn run(r: &mut $crate::exec::lanes::Registers, x: &$crate::exec::lanes::Args, mask: u32) {
            $crate::exec::lanes::map4::<$A, $B, $C, $E, $D>(r, x, mask, |$a, $b, $c, $e| $body);
        }
        use $crate::exec::lanes::Lane;
        $crate::exec::lanes::Plain {
            run,
            types: &[
                <$D as Lane>::TYPE,
                <$A as Lane>::TYPE,
                <$B as Lane>::TYPE,
                <$C as Lane>::TYPE,
                <$E as Lane>::TYPE,
            ],
        }
    }};
}
pub(crate) use run;
