//! Which modifiers and types an instruction may have, in the manner of the ISA manual.
//!
//! A row is `opcode : types : how many types : one of these must stand : these may stand`. An
//! opcode may have several rows. `-` stands for none. An opcode without a row may have any
//! modifiers.

use crate::text::ast::Instruction;
use std::collections::HashMap;
use std::sync::OnceLock;

const ROWS: &str = "
add : u16 u32 u64 s16 s32 s64 u16x2 s16x2 : 1 : - : sat cc
add : HALVES f32 f64 : 1 : - : rn rz rm rp ftz sat
sub : u16 u32 u64 s16 s32 s64 : 1 : - : sat cc
sub : HALVES f32 f64 : 1 : - : rn rz rm rp ftz sat
addc : u32 u64 s32 s64 : 1 : - : cc
subc : u32 u64 s32 s64 : 1 : - : cc
mul : u16 u32 s16 s32 : 1 : lo hi wide : -
mul : u64 s64 : 1 : lo hi : -
mul : HALVES f32 f64 : 1 : - : rn rz rm rp ftz sat
mad : u16 u32 s16 s32 : 1 : lo hi wide : sat cc
mad : u64 s64 : 1 : lo hi : cc
mad : f32 f64 : 1 : rn rz rm rp : ftz sat
madc : u32 u64 s32 s64 : 1 : lo hi : cc
mul24 : u32 s32 : 1 : lo hi : -
mad24 : u32 s32 : 1 : lo hi : sat
fma : HALVES f32 f64 : 1 : rn rz rm rp : ftz sat relu oob
div : u16 u32 u64 s16 s32 s64 : 1 : - : -
div : f32 : 1 : rn rz rm rp approx full : ftz
div : f64 : 1 : rn rz rm rp : -
rem : u16 u32 u64 s16 s32 s64 : 1 : - : -
abs : s16 s32 s64 HALVES f32 f64 : 1 : - : ftz
neg : s16 s32 s64 HALVES f32 f64 : 1 : - : ftz
min : u16 u32 u64 s16 s32 s64 u16x2 s16x2 : 1 : - : relu
max : u16 u32 u64 s16 s32 s64 u16x2 s16x2 : 1 : - : relu
min : HALVES f32 f64 : 1 : - : ftz NaN xorsign abs
max : HALVES f32 f64 : 1 : - : ftz NaN xorsign abs
sad : u16 u32 u64 s16 s32 s64 : 1 : - : -
dp4a : u32 s32 : 2 : - : -
dp2a : u32 s32 : 2 : lo hi : -
rcp : f32 : 1 : rn rz rm rp approx : ftz
rcp : f64 : 1 : rn rz rm rp : -
rcp : f64 : 1 : approx : ftz
sqrt : f32 : 1 : rn rz rm rp approx : ftz
sqrt : f64 : 1 : rn rz rm rp : -
rsqrt : f32 f64 : 1 : approx : ftz
sin : f32 : 1 : approx : ftz
cos : f32 : 1 : approx : ftz
lg2 : f32 : 1 : approx : ftz
ex2 : f32 HALVES : 1 : approx : ftz
tanh : f32 HALVES : 1 : approx : -
copysign : f32 f64 : 1 : - : -
testp : f32 f64 : 1 : finite infinite number notanumber normal subnormal : -
and : pred b16 b32 b64 : 1 : - : -
or : pred b16 b32 b64 : 1 : - : -
xor : pred b16 b32 b64 : 1 : - : -
not : pred b16 b32 b64 : 1 : - : -
cnot : b16 b32 b64 : 1 : - : -
lop3 : b32 : 1 : - : and or
shl : b16 b32 b64 : 1 : - : -
shr : b16 b32 b64 u16 u32 u64 s16 s32 s64 : 1 : - : -
shf : b32 : 1 : wrap clamp : l r
popc : b32 b64 : 1 : - : -
clz : b32 b64 : 1 : - : -
brev : b32 b64 : 1 : - : -
bfind : u32 u64 s32 s64 : 1 : - : shiftamt
bfe : u32 u64 s32 s64 : 1 : - : -
bfi : b32 b64 : 1 : - : -
bmsk : b32 : 1 : clamp wrap : -
szext : u32 s32 : 1 : clamp wrap : -
fns : b32 : 1 : - : -
prmt : b32 : 1 : - : f4e b4e rc8 ecl ecr rc16
mov : b16 b32 b64 b128 u16 u32 u64 s16 s32 s64 f32 f64 pred : 1 : - : v2 v4
selp : b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 : 1 : - : -
slct : b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 : 2 : - : ftz
setp : NUMBERS HALVES f32 f64 : 1 : ORDERS : and or xor ftz
set : NUMBERS HALVES f32 f64 : 2 : ORDERS : and or xor ftz
cvta : u32 u64 : 1 : const global local shared param shared::cta shared::cluster param::entry : to
isspacep : - : 0 : const global local shared param shared::cta shared::cluster param::entry : -
ld : BYTES NUMBERS b128 f32 f64 : 1 : - : ACCESS nc unified mmio
ldu : BYTES NUMBERS f32 f64 : 1 : - : global v2 v4
st : BYTES NUMBERS b128 f32 f64 : 1 : - : ACCESS mmio ASYNC
atom : b16 b32 b64 b128 u32 u64 s32 s64 HALVES f32 f64 : 1 : exch cas CHANGES : ACCESS noftz
red : b32 b64 u32 u64 s32 s64 HALVES f32 f64 : 1 : CHANGES : ACCESS noftz ASYNC
bra : - : 0 : - : uni
brx : - : 0 : idx : uni
call : - : 0 : - : uni
ret : - : 0 : - : uni
exit : - : 0 : - : -
trap : - : 0 : - : -
brkpt : - : 0 : - : -
nanosleep : u32 : 1 : - : -
activemask : b32 : 1 : - : -
membar : - : 0 : cta gl sys proxy : alias async generic
bar : pred u32 : 1 : red : popc and or cta
bar : - : 0 : sync arrive : cta warp
barrier : pred u32 : 1 : red : popc and or cta aligned
barrier : - : 0 : sync arrive wait : cta cluster aligned acquire release relaxed
shfl : b32 : 1 : up down bfly idx : sync
vote : pred b32 : 1 : all any uni ballot : sync
match : b32 b64 : 1 : any all : sync
redux : u32 s32 b32 f32 : 1 : add min max and or xor : sync abs NaN
elect : - : 0 : sync : -
griddepcontrol : - : 0 : launch_dependents wait : -
prefetchu : - : 0 : L1 : -
mapa : u32 u64 : 1 : - : shared::cluster
getctarank : u32 u64 : 1 : - : shared::cluster
";

/// The words behind a name in capitals.
fn group(name: &str) -> Option<&'static str> {
    Some(match name {
        "BYTES" => "b8 u8 s8",
        "NUMBERS" => "b16 b32 b64 u16 u32 u64 s16 s32 s64",
        "HALVES" => "f16 f16x2 bf16 bf16x2",
        "ORDERS" => "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan",
        "CHANGES" => "and or xor add inc dec min max",
        "ASYNC" => "async mbarrier::complete_tx::bytes",
        "ACCESS" => {
            "const global local param shared shared::cta shared::cluster param::entry param::func \
             weak volatile relaxed acquire release acq_rel cta cluster gpu sys \
             ca cg cs lu cv wb wt v2 v4 v8"
        }
        _ => return None,
    })
}

struct Row {
    types: Vec<&'static str>,
    count: usize,
    required: Vec<&'static str>,
    allowed: Vec<&'static str>,
}

fn list(text: &'static str) -> Vec<&'static str> {
    let words = text.split_whitespace().filter(|word| *word != "-");
    words
        .flat_map(|word| group(word).unwrap_or(word).split_whitespace())
        .collect()
}

fn rows() -> &'static HashMap<&'static str, Vec<Row>> {
    static ALL: OnceLock<HashMap<&'static str, Vec<Row>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: HashMap<&str, Vec<Row>> = HashMap::new();
        for line in ROWS.lines() {
            let mut fields = line.split(" : ");
            let mut next = || fields.next().unwrap_or("").trim();
            let opcode = next();
            let row = Row {
                types: list(next()),
                count: next().parse().unwrap_or(0),
                required: list(next()),
                allowed: list(next()),
            };
            all.entry(opcode).or_default().push(row);
        }
        all
    })
}

impl Row {
    fn admits(&self, i: &Instruction) -> bool {
        let (mut types, mut has_required) = (0, self.required.is_empty());
        for word in i.modifiers.iter().map(String::as_str) {
            let is_hint = word.starts_with("L1::") || word.starts_with("L2::");
            if self.types.contains(&word) {
                types += 1;
            } else if self.required.contains(&word) {
                has_required = true;
            } else if !self.allowed.contains(&word) && !is_hint {
                return false;
            }
        }
        types == self.count && has_required
    }
}

/// Whether the modifiers fit the opcode.
pub(super) fn admits(i: &Instruction) -> bool {
    let known = rows().get(i.opcode.as_str());
    let fits = known.is_none_or(|rows| rows.iter().any(|row| row.admits(i)));
    fits && (i.opcode != "cvt" || conversion_rounds(i)) && has_one_space(i)
}

fn has_one_space(i: &Instruction) -> bool {
    let spaces = i
        .modifiers
        .iter()
        .filter(|word| crate::text::types::Space::of(word).is_some());
    spaces.count() <= 1 || i.opcode == "cp" || i.opcode.starts_with("fence")
}

/// Types that only conversions have.
const OTHER_TYPES: [&str; 11] = [
    "tf32", "e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2", "e4m3x4",
    "e5m2x4", "e2m1x4",
];

/// A conversion rounds when, and only when, something can be lost.
fn conversion_rounds(i: &Instruction) -> bool {
    use crate::text::types::Type;
    if i.has("pack") {
        return true;
    }
    let types: Vec<Type> = i.types().collect();
    let [to, from] = types.as_slice() else {
        // Other types are read, though not simulated.
        let others = i
            .modifiers
            .iter()
            .filter(|word| OTHER_TYPES.contains(&word.as_str()));
        return types.len() + others.count() >= 2;
    };
    let has = |words: &[&str]| words.iter().any(|word| i.has(word));
    let (whole, near) = (
        has(&["rni", "rzi", "rmi", "rpi"]),
        has(&["rn", "rz", "rm", "rp", "rna"]),
    );
    let is_float = |kind: Type| {
        use Type::{Bf16, Bf16x2, F16, F16x2, F32, F64};
        matches!(kind, F16 | Bf16 | F16x2 | Bf16x2 | F32 | F64)
    };
    match (is_float(*to), is_float(*from)) {
        (false, true) => whole && !near || *from == Type::Bf16,
        (true, false) => near && !whole,
        (true, true) if to.bytes() < from.bytes() || matches!(to, Type::F16x2 | Type::Bf16x2) => {
            near
        }
        (true, true) if to.bytes() == from.bytes() => to != from || !near,
        (true, true) => !near && !whole,
        (false, false) => !near && !whole && !i.has("ftz"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::position::Position;

    fn fits(name: &str) -> bool {
        let mut words = name.split('.').map(str::to_owned);
        admits(&Instruction {
            guard: None,
            opcode: words.next().unwrap(),
            modifiers: words.collect(),
            operands: Vec::new(),
            at: Position::default(),
        })
    }

    #[test]
    fn modifiers_fit_their_opcode_or_not() {
        for name in [
            "add.s32",
            "mul.wide.u16",
            "ld.global.nc.L1::no_allocate.v4.f32",
            "bar.sync",
        ] {
            assert!(fits(name), "{name}");
        }
        for name in [
            "cvt.rn.f32.s32",
            "cvt.rzi.s32.f32",
            "cvt.f64.f32",
            "cvt.u64.u32",
            "cvt.rmi.f32.f32",
        ] {
            assert!(fits(name), "{name}");
        }
        for name in [
            "add",
            "add.wide.s32",
            "mul.s32",
            "mul.wide.u64",
            "ld.global.shared.u32",
            "div.f32",
        ] {
            assert!(!fits(name), "{name}");
        }
        for name in [
            "cvt.f32.s32",
            "cvt.s32.f32",
            "cvt.f32.f64",
            "cvt.rn.f64.f32",
            "bar.u32",
        ] {
            assert!(!fits(name), "{name}");
        }
    }
}
