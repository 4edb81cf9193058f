//! Single instructions with known results.
//!
//! A row is an instruction, the types of its registers (`b` 16 bits, `w` 32, `l` 64, `p` a
//! predicate; the result first), its operands, and the result. A predicate is 0 or 1.

mod common;

use common::{Device, Parameters};
use scoped_cuda_ptx::Shape;

type Row = (&'static str, &'static str, &'static [u64], u64);

const NAN: u64 = 0x7FFF_FFFF;
const QNAN: u64 = 0x7FC0_0001;
const ONE: u64 = 0x3F80_0000;
const MINUS: u64 = 0x8000_0000;
const M1: u64 = 0xFFFF_FFFF;

const INTEGERS: &[Row] = &[
    ("add.u16", "bbb", &[0xFFFF, 2], 1),
    ("add.sat.s32", "www", &[0x7FFF_FFFF, 1], 0x7FFF_FFFF),
    ("sub.sat.s32", "www", &[0x8000_0000, 1], 0x8000_0000),
    ("sub.u64", "lll", &[0, 1], !0),
    ("mul.hi.s16", "bbb", &[0x8000, 0x8000], 0x4000),
    ("mul.wide.s16", "wbb", &[0xFFFF, 2], 0xFFFF_FFFE),
    ("mul.wide.u32", "lww", &[M1, M1], 0xFFFF_FFFE_0000_0001),
    ("mul.hi.s64", "lll", &[!0, 2], !0),
    ("mul.hi.u64", "lll", &[!0, 2], 1),
    (
        "mad.hi.sat.s32",
        "wwww",
        &[0x7FFF_FFFF, 0x7FFF_FFFF, 0x7FFF_FFFF],
        0x7FFF_FFFF,
    ),
    ("mad.wide.s32", "lwwl", &[M1, 3, 10], 7),
    ("mul24.lo.u32", "www", &[0xFF00_0003, 0xFF00_0005], 15),
    (
        "mul24.hi.s32",
        "www",
        &[0x0080_0000, 0x0000_0002],
        0xFFFF_FF00,
    ),
    ("mad24.lo.s32", "wwww", &[0x00FF_FFFF, 5, 7], 2),
    ("div.s32", "www", &[0xFFFF_FFF9, 2], 0xFFFF_FFFD),
    ("rem.s32", "www", &[0xFFFF_FFF9, 2], M1),
    ("div.s64", "lll", &[1 << 63, !0], 1 << 63),
    ("rem.u64", "lll", &[100, 7], 2),
    ("abs.s32", "ww", &[0xFFFF_FFFB], 5),
    ("neg.s64", "ll", &[5], !4),
    ("min.s16", "bbb", &[0xFFFF, 1], 0xFFFF),
    ("max.u32", "www", &[M1, 1], M1),
    ("min.s16x2", "www", &[0x0001_FFFF, 0xFFFF_0001], 0xFFFF_FFFF),
    ("sad.u32", "wwww", &[3, 10, 100], 107),
    ("sad.s16", "bbbb", &[0xFFFF, 2, 1], 4),
    (
        "dp4a.u32.s32",
        "wwww",
        &[0x0102_03FF, 0xFF01_0101, 1000],
        1000 + 255 + 3 + 2 - 1,
    ),
    (
        "dp2a.lo.s32.u32",
        "wwww",
        &[0xFFFF_0003, 0x0000_0205, 0],
        13,
    ),
    (
        "dp2a.hi.s32.u32",
        "wwww",
        &[0xFFFF_0003, 0x0205_0000, 0],
        13,
    ),
    ("popc.b64", "wl", &[0xFF00_0000_0000_0001], 9),
    ("clz.b64", "wl", &[1], 63),
    ("clz.b32", "ww", &[0], 32),
    ("brev.b32", "ww", &[1], 0x8000_0000),
    ("bfind.u32", "ww", &[0x0001_0000], 16),
    ("bfind.s32", "ww", &[M1], M1),
    ("bfind.shiftamt.u32", "ww", &[1], 31),
    ("bfind.s64", "wl", &[0xFFFF_FFFF_0000_0000], 31),
    ("bfe.u32", "wwww", &[0x1234_5678, 8, 8], 0x56),
    ("bfe.s32", "wwww", &[0x0000_8000, 8, 8], 0xFFFF_FF80),
    ("bfe.s32", "wwww", &[0x8000_0000, 28, 8], 0xFFFF_FFF8),
    ("bfe.s32", "wwww", &[0x8000_0000, 40, 4], M1),
    ("bfe.u32", "wwww", &[M1, 4, 0], 0),
    (
        "bfe.u64",
        "llww",
        &[0x1234_5678_9ABC_DEF0, 32, 64],
        0x1234_5678,
    ),
    ("bfi.b32", "wwwww", &[0xAB, 0x1111_1111, 8, 8], 0x1111_AB11),
    ("bfi.b32", "wwwww", &[0xAB, 0x1111_1111, 32, 8], 0x1111_1111),
    (
        "bfi.b64",
        "lllww",
        &[0xAB, 0, 56, 16],
        0xAB00_0000_0000_0000,
    ),
    ("shl.b32", "www", &[1, 32], 0),
    ("shl.b16", "bbw", &[0x8001, 1], 2),
    ("shr.s32", "www", &[0x8000_0000, 40], M1),
    ("shr.u16", "bbw", &[0x8000, 16], 0),
    ("shr.s64", "llw", &[1 << 63, 63], !0),
    (
        "shf.l.clamp.b32",
        "wwww",
        &[0x1111_1111, 0x2222_2222, 40],
        0x1111_1111,
    ),
    (
        "shf.l.wrap.b32",
        "wwww",
        &[0x8000_0000, 0x2222_2222, 33],
        0x4444_4445,
    ),
    ("shf.r.wrap.b32", "wwww", &[0x2222_2222, 1, 1], 0x9111_1111),
    ("shf.r.clamp.b32", "wwww", &[0x2222_2222, 7, 99], 7),
    (
        "prmt.b32",
        "wwww",
        &[0x3322_1100, 0x7766_5544, 0x7531],
        0x7755_3311,
    ),
    ("prmt.b32", "wwww", &[0x8000_0080, 0, 0x000B], 0x8080_80FF),
    (
        "prmt.b32.f4e",
        "wwww",
        &[0x3322_1100, 0x7766_5544, 2],
        0x5544_3322,
    ),
    (
        "prmt.b32.b4e",
        "wwww",
        &[0x3322_1100, 0x7766_5544, 1],
        0x6677_0011,
    ),
    ("prmt.b32.rc8", "wwww", &[0x3322_1100, 0, 1], 0x1111_1111),
    ("prmt.b32.ecl", "wwww", &[0x3322_1100, 0, 2], 0x3322_2222),
    ("prmt.b32.ecr", "wwww", &[0x3322_1100, 0, 1], 0x1111_1100),
    ("prmt.b32.rc16", "wwww", &[0x3322_1100, 0, 1], 0x3322_3322),
    ("lop3.b32", "wwww#0x80", &[0xF0F0, 0xFF00, 0xAAAA], 0xA000),
    (
        "lop3.b32",
        "wwww#0x96",
        &[0xF0F0, 0xFF00, 0xAAAA],
        0xF0F0 ^ 0xFF00 ^ 0xAAAA,
    ),
    ("cnot.b32", "ww", &[0], 1),
    ("not.b16", "bb", &[0x00FF], 0xFF00),
    ("bmsk.clamp.b32", "www", &[4, 8], 0xFF0),
    ("szext.wrap.s32", "www", &[0x80, 8], 0xFFFF_FF80),
    ("fns.b32", "wwww", &[0b1010_1000, 0, 2], 5),
    ("selp.b32", "wwwp", &[1, 2, 0], 2),
    ("selp.f64", "lllp", &[1, 2, 1], 1),
    ("slct.s32.s32", "wwww", &[5, 6, M1], 6),
    ("slct.u64.f32", "lllw", &[5, 6, MINUS], 5),
    ("set.lt.u32.s32", "www", &[M1, 0], M1),
    ("set.gt.f32.u32", "www", &[M1, 0], ONE),
    ("setp.lo.u32", "pww", &[M1, 0], 0),
    ("setp.lt.s32", "pww", &[M1, 0], 1),
    ("setp.eq.b64", "pll", &[1 << 40, 1 << 40], 1),
    ("setp.ge.and.s32", "pwwp", &[3, 2, 0], 0),
    ("setp.ge.xor.s32", "pwwp", &[3, 2, 0], 1),
];

const FLOATS: &[Row] = &[
    ("add.f32", "www", &[ONE, QNAN], NAN),
    ("sub.f32", "www", &[0x7F80_0000, 0x7F80_0000], NAN),
    ("add.rm.f32", "www", &[ONE, ONE | MINUS], MINUS),
    ("add.ftz.f32", "www", &[1, 1], 0),
    ("mul.ftz.f32", "www", &[0x0080_0000, 0x3F00_0000], 0),
    ("mul.f32", "www", &[0x0080_0000, 0x3F00_0000], 0x0040_0000),
    ("add.sat.f32", "www", &[ONE, ONE], ONE),
    ("mul.sat.f32", "www", &[QNAN, ONE], 0),
    (
        "mul.rp.f32",
        "www",
        &[0x3EAA_AAAB, 0x3EAA_AAAB],
        0x3DE3_8E3A,
    ),
    (
        "mul.rm.f32",
        "www",
        &[0x3EAA_AAAB, 0x3EAA_AAAB],
        0x3DE3_8E39,
    ),
    (
        "fma.rn.f32",
        "wwww",
        &[0x3F80_0001, 0x3F80_0001, 0xBF80_0002],
        0x2880_0000,
    ),
    ("div.rn.f32", "www", &[ONE, 0], 0x7F80_0000),
    ("div.rz.f32", "www", &[ONE, 0x4040_0000], 0x3EAA_AAAA),
    ("rcp.rn.f32", "ww", &[0x4040_0000], 0x3EAA_AAAB),
    ("sqrt.rn.f32", "ww", &[ONE | MINUS], NAN),
    ("sqrt.rp.f32", "ww", &[0x4000_0000], 0x3FB5_04F4),
    ("min.f32", "www", &[QNAN, ONE], ONE),
    ("min.NaN.f32", "www", &[QNAN, ONE], NAN),
    ("min.f32", "www", &[0, MINUS], MINUS),
    ("max.f32", "www", &[MINUS, 0], 0),
    ("max.f32", "www", &[QNAN, QNAN], NAN),
    (
        "min.xorsign.abs.f32",
        "www",
        &[ONE | MINUS, 0x4000_0000],
        ONE | MINUS,
    ),
    ("neg.f32", "ww", &[ONE], ONE | MINUS),
    ("abs.ftz.f32", "ww", &[MINUS | 1], 0),
    ("copysign.f32", "www", &[MINUS, ONE], ONE | MINUS),
    ("ex2.approx.f32", "ww", &[0x4040_0000], 0x4100_0000),
    ("lg2.approx.f32", "ww", &[0x4100_0000], 0x4040_0000),
    ("rsqrt.approx.f32", "ww", &[0x4080_0000], 0x3F00_0000),
    ("div.approx.f32", "www", &[ONE, 0x7F00_0000], 0),
    ("div.full.f32", "www", &[0x7F00_0000, 0x7F00_0000], ONE),
    ("testp.subnormal.f32", "pw", &[1], 1),
    ("testp.normal.f32", "pw", &[0], 0),
    ("testp.notanumber.f64", "pl", &[0x7FF0_0000_0000_0001], 1),
    ("setp.ltu.f32", "pww", &[QNAN, ONE], 1),
    ("setp.ne.f32", "pww", &[QNAN, ONE], 0),
    ("setp.neu.f32", "pww", &[QNAN, ONE], 1),
    ("setp.num.f64", "pll", &[0, 0], 1),
    ("setp.eq.ftz.f32", "pww", &[1, MINUS], 1),
    (
        "add.rz.f64",
        "lll",
        &[0x3FF0_0000_0000_0000, 0x3C90_0000_0000_0000],
        0x3FF0_0000_0000_0000,
    ),
    (
        "add.rp.f64",
        "lll",
        &[0x3FF0_0000_0000_0000, 0x3C90_0000_0000_0000],
        0x3FF0_0000_0000_0001,
    ),
    (
        "fma.rn.f64",
        "llll",
        &[
            0x3FF0_0000_0000_0001,
            0x3FF0_0000_0000_0001,
            0xBFF0_0000_0000_0002,
        ],
        0x3970_0000_0000_0000,
    ),
    (
        "sqrt.rm.f64",
        "ll",
        &[0x4000_0000_0000_0000],
        0x3FF6_A09E_667F_3BCC,
    ),
    ("min.f64", "lll", &[0x7FF8_0000_0000_0000, 1], 1),
    ("add.f16", "bbb", &[0x3C00, 0x0001], 0x3C00),
    ("add.ftz.f16", "bbb", &[0x0001, 0x0001], 0),
    ("add.sat.f16", "bbb", &[0x3C00, 0x3C00], 0x3C00),
    ("mul.f16", "bbb", &[0x7BFF, 0x4000], 0x7C00),
    ("sub.f16x2", "www", &[0x4000_3C00, 0x3C00_3C00], 0x3C00_0000),
    ("fma.rn.relu.f16", "bbbb", &[0x3C00, 0xBC00, 0], 0),
    (
        "fma.rn.bf16x2",
        "wwww",
        &[0x4000_3F80, 0x4000_3F80, 0x3F80_0000],
        0x40A0_3F80,
    ),
    ("max.f16", "bbb", &[0x8000, 0], 0),
    ("min.NaN.bf16", "bbb", &[0x7FC0, 0x3F80], 0x7FFF),
    ("neg.bf16", "bb", &[0x3F80], 0xBF80),
    ("ex2.approx.f16", "bb", &[0x4200], 0x4800),
    ("tanh.approx.f16", "bb", &[0x7C00], 0x3C00),
    ("setp.lt.f16", "pbb", &[0x3C00, 0x4000], 1),
];

const CONVERSIONS: &[Row] = &[
    ("cvt.u32.u8", "wb", &[0x1FF], 0xFF),
    ("cvt.s32.s8", "wb", &[0x80], 0xFFFF_FF80),
    ("cvt.u8.u32", "ww", &[0x1FF], 0xFF),
    ("cvt.s16.s8", "bb", &[0x80], 0xFF80),
    ("cvt.u64.s32", "lw", &[M1], !0),
    ("cvt.sat.u8.s32", "ww", &[300], 255),
    ("cvt.sat.s8.s32", "ww", &[0xFFFF_FF00], 0xFFFF_FF80),
    ("cvt.sat.u32.s32", "ww", &[M1], 0),
    ("cvt.sat.s32.u32", "ww", &[M1], 0x7FFF_FFFF),
    ("cvt.rni.s32.f32", "ww", &[0x4020_0000], 2),
    ("cvt.rzi.u32.f32", "ww", &[ONE | MINUS], 0),
    ("cvt.rpi.s64.f32", "lw", &[0x3F00_0000], 1),
    ("cvt.rmi.s32.f64", "wl", &[0xBFE0_0000_0000_0000], M1),
    ("cvt.rzi.s32.f32", "ww", &[QNAN], 0),
    (
        "cvt.rzi.s32.f64",
        "wl",
        &[0x7FF8_0000_0000_0000],
        0x8000_0000,
    ),
    ("cvt.rzi.u64.f32", "lw", &[QNAN], 1 << 63),
    (
        "cvt.rzi.s64.f64",
        "ll",
        &[0x43E0_0000_0000_0000],
        0x7FFF_FFFF_FFFF_FFFF,
    ),
    ("cvt.rn.f32.u64", "wl", &[!0], 0x5F80_0000),
    ("cvt.rz.f32.u64", "wl", &[!0], 0x5F7F_FFFF),
    ("cvt.rp.f32.s32", "ww", &[0x0100_0001], 0x4B80_0001),
    ("cvt.rm.f32.f64", "wl", &[0x3FF0_0000_0000_0001], ONE),
    (
        "cvt.rp.f32.f64",
        "wl",
        &[0x3FF0_0000_0000_0001],
        0x3F80_0001,
    ),
    ("cvt.rn.f16.f32", "bw", &[0x477F_F000], 0x7C00),
    ("cvt.rz.f16.f32", "bw", &[0x477F_F000], 0x7BFF),
    ("cvt.f32.f16", "wb", &[0x0001], 0x3380_0000),
    ("cvt.rn.bf16.f32", "bw", &[0x3F80_8000], 0x3F80),
    ("cvt.rn.bf16.f32", "bw", &[0x3F81_8000], 0x3F82),
    ("cvt.rn.f16x2.f32", "www", &[0x4000_0000, ONE], 0x4000_3C00),
    ("cvt.rn.relu.bf16x2.f32", "www", &[0xC000_0000, ONE], 0x3F80),
    ("cvt.rna.tf32.f32", "ww", &[0x3F80_1000], 0x3F80_2000),
    ("cvt.sat.f32.f32", "ww", &[0xC000_0000], 0),
    ("cvt.rmi.f32.f32", "ww", &[0xBF00_0000], ONE | MINUS),
    (
        "cvt.rni.f64.f64",
        "ll",
        &[0x3FF8_0000_0000_0000],
        0x4000_0000_0000_0000,
    ),
    ("cvt.ftz.f64.f32", "lw", &[1], 0),
    ("cvt.rn.ftz.f32.f64", "wl", &[0x3690_0000_0000_0000], 0),
    ("cvt.rn.f16.s32", "bw", &[M1], 0xBC00),
    ("cvt.rni.s32.f16", "wb", &[0x3E00], 2),
];

/// The declaration, the load and the name of an operand.
fn operand(kind: char, n: usize) -> (String, String, String) {
    let (prefix, declared) = match kind {
        'b' => ("h", ".b16"),
        'w' => ("w", ".b32"),
        'l' => ("l", ".b64"),
        _ => ("p", ".pred"),
    };
    let name = format!("%{prefix}{n}");
    let place = 8 * n;
    let load = match kind {
        'b' => format!("ld.global.b16 {name}, [%in+{place}];"),
        'w' => format!("ld.global.b32 {name}, [%in+{place}];"),
        'l' => format!("ld.global.b64 {name}, [%in+{place}];"),
        _ => format!("ld.global.b64 %x, [%in+{place}]; setp.ne.b64 {name}, %x, 0;"),
    };
    (format!(".reg {declared} {name};"), load, name)
}

fn text(instruction: &str, types: &str) -> String {
    let (kinds, extra) = types.split_once('#').unwrap_or((types, ""));
    let kinds: Vec<char> = kinds.chars().collect();
    let mut body = String::new();
    let mut names = Vec::new();
    for (n, kind) in kinds.iter().enumerate() {
        let (declaration, load, name) = operand(*kind, n);
        body.push_str(&declaration);
        if n > 0 {
            body.push_str(&load);
        }
        body.push('\n');
        names.push(name);
    }
    if !extra.is_empty() {
        names.push(extra.to_owned());
    }
    let operands = names.join(", ");
    let result = &names[0];
    let store = match kinds[0] {
        'b' => format!("cvt.u64.u16 %x, {result};"),
        'w' => format!("cvt.u64.u32 %x, {result};"),
        'l' => format!("mov.b64 %x, {result};"),
        _ => format!("selp.b64 %x, 1, 0, {result};"),
    };
    format!(
        ".version 8.6
.target sm_90
.address_size 64
.visible .entry one(.param .u64 in, .param .u64 out)
{{
.reg .b64 %in, %out, %x;
ld.param.u64 %in, [in];
ld.param.u64 %out, [out];
{body}{instruction} {operands};
{store}
st.global.u64 [%out], %x;
ret;
}}
"
    )
}

fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for (instruction, types, inputs, expected) in rows {
        let text = text(instruction, types);
        let mut device = Device::new(&text);
        let mut bytes = vec![0; 8];
        bytes.extend(inputs.iter().flat_map(|input| input.to_le_bytes()));
        let (input, output) = (device.upload(&bytes, "in"), device.fresh(8, "out"));
        device.run(
            "one",
            Shape::linear(1, 1),
            Parameters::new().pointer(input).pointer(output),
        );
        let found = u64::from_le_bytes(device.read(output, 8).try_into().unwrap());
        if found != *expected {
            wrong.push(format!(
                "{instruction} of {inputs:x?} is {found:x} and not {expected:x}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn integers() {
    check(INTEGERS);
}

#[test]
fn floats() {
    check(FLOATS);
}

#[test]
fn conversions() {
    check(CONVERSIONS);
}
