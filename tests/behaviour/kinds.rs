//! What the PTX declares beyond sizes: the kinds of parameters. Structs with padding. Claim C9.

#![allow(unsafe_code)] // launches, a struct of its own

use crate::common::{in_context, ptx, simulated};
use bytemuck::{AnyBitPattern, Zeroable};
use scoped_cuda::sim::Simulation;
use scoped_cuda::{Error, In, InOut, LaunchConfig, Out, Result};

const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

#[test]
fn kinds_are_compared_with_the_text() {
    in_context(|ctx| {
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 .ptr .align 1 k_0, .param .u32 k_1, .param .f32 k_2)
             {{ ret; }}"
        );
        let module = ctx.load_ptx(ptx(&text))?;
        module.kernel::<(In<f32>, u32, f32)>("k")?;
        module.kernel::<(u64, i32, f32)>("k")?;
        let refused = |index, want: &str, got: &str| Error::ArgKind {
            kernel: "k".into(),
            index,
            want: want.into(),
            got: got.into(),
        };
        let error = module.kernel::<(In<f32>, f32, f32)>("k").unwrap_err();
        assert_eq!(error, refused(1, "a floating-point number", ".u32"));
        assert_eq!(
            error.to_string(),
            "parameter 1 of kernel `k` is declared `.u32`, the Rust type is a floating-point number"
        );
        let error = module.kernel::<(InOut<f32>, u32, u32)>("k").unwrap_err();
        assert_eq!(error, refused(2, "an integer", ".f32"));
        let error = module.kernel::<(f64, u32, f32)>("k").unwrap_err();
        assert_eq!(
            error,
            refused(0, "a floating-point number", ".u64 .ptr .align 1")
        );
        Ok(())
    });
}

/// `struct { float f; double d; unsigned u; }` as C lays it out, with its padding.
#[derive(Clone, Copy)]
#[repr(C)]
struct Mixed {
    f: f32,
    d: f64,
    u: u32,
}

// SAFETY: every field is valid with all bits zero.
unsafe impl Zeroable for Mixed {}
// SAFETY: every field is valid with any bits.
unsafe impl AnyBitPattern for Mixed {}

/// A struct with padding goes by value.
#[test]
fn padding_of_a_struct_is_no_obstacle() {
    let text = format!(
        "{HEADER}.visible .entry unpack(.param .u64 to, .param .align 8 .b8 from[24])
        {{
            .reg .f32 %f1;
            .reg .f64 %d<3>;
            .reg .b64 %a<3>;
            .reg .b32 %r1;
            ld.param.u64 %a1, [to];
            cvta.to.global.u64 %a2, %a1;
            ld.param.f32 %f1, [from];
            cvt.f64.f32 %d1, %f1;
            st.global.f64 [%a2], %d1;
            ld.param.f64 %d2, [from+8];
            st.global.f64 [%a2+8], %d2;
            ld.param.u32 %r1, [from+16];
            cvt.rn.f64.u32 %d1, %r1;
            st.global.f64 [%a2+16], %d1;
            ret;
        }}"
    );
    in_context(|ctx| {
        if let Some(machine) = ctx.driver().machine() {
            machine.kernel("unpack", |call| {
                let bytes = call.scalar::<[u8; 24]>(1);
                let f = f32::from_le_bytes(bytes[..4].try_into().unwrap());
                let d = f64::from_le_bytes(bytes[8..16].try_into().unwrap());
                let u = u32::from_le_bytes(bytes[16..20].try_into().unwrap());
                call.store(0, &[f64::from(f), d, f64::from(u)]);
            });
        }
        let unpack = ctx
            .load_ptx(ptx(&text))?
            .kernel::<(Out<f64>, Mixed)>("unpack")?;
        let (stream, mut to) = (ctx.new_stream()?, ctx.zeros::<f64>(3)?);
        let mixed = Mixed {
            f: 1.5,
            d: -2.5,
            u: 7,
        };
        stream.scope(|s| {
            let one = LaunchConfig::for_elements(1);
            // SAFETY: `unpack` writes three numbers.
            unsafe { s.launch(&unpack, one, (&mut to.lend(s), mixed)) }
        })?;
        assert_eq!(to.to_vec()?, [1.5, -2.5, 7.0]);
        Ok(())
    });
}

/// The launch says why a kernel cannot run without a GPU.
#[test]
fn a_simulated_kernel_that_cannot_run_says_what_is_missing() {
    let driver = simulated(Simulation::default());
    let result: Result<()> = driver.with_device(0, |ctx| {
        let text = format!("{HEADER}.visible .entry unheard_of() {{ .reg .b32 %r<5>;
            wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {{%fd1}}, {{%fd2}}, {{%fd3}}, {{%fd4}}; ret; }}");
        let kernel = ctx.load_ptx(ptx(&text))?.kernel::<()>("unheard_of")?;
        let stream = ctx.new_stream()?;
        // SAFETY: it does nothing.
        stream.scope(|s| unsafe { s.launch(&kernel, LaunchConfig::for_elements(1), ()) })
    });
    assert_eq!(
        result.unwrap_err().to_string(),
        "the simulated driver cannot run this: kernel `unheard_of` was launched, no body was \
         registered for it, and `wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64` in line 5 \
         is not simulated; register a body with `Machine::kernel`"
    );
}
