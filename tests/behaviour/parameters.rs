//! Kernel parameters: what each type passes, and what is compared at look-up. Claims C2, C9, C12.

#![allow(unsafe_code)] // launches

use crate::common::in_context;
use crate::common::launches::{Float4, PTX, Pair};
use scoped_cuda::{
    Error, In, InOut, LaunchConfig, Null, Optional, Out, PinnedBuffer, PtrLen, SharedBytes, WithLen,
};

/// One thread.
const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);

/// The number of elements is that of the argument: of a whole buffer, of a part, and of nothing.
#[test]
fn length_is_passed_beside_the_pointer() {
    in_context(|ctx| {
        let fill = ctx
            .load_ptx(PTX)?
            .kernel::<(WithLen<Out<f32>, u32>, f32)>("fill_counted")?;
        let (stream, mut x) = (ctx.new_stream()?, ctx.zeros::<f32>(6)?);
        stream.scope(|s| {
            let mut x = x.lend(s);
            // SAFETY: it writes as many elements as it is told, which is what the argument has.
            unsafe { s.launch(&fill, ONE, (&mut x, 1.0)) }?;
            // SAFETY: as above.
            unsafe { s.launch(&fill, ONE, (&mut x.slice_mut(2..4)?, 2.0)) }?;
            // SAFETY: as above.
            unsafe { s.launch(&fill, ONE, (&mut x.slice_mut(6..)?, 3.0)) }
        })?;
        assert_eq!(x.to_vec()?, [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]);
        Ok(())
    });
}

#[test]
fn length_has_the_type_that_the_kernel_declares() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let count = module.kernel::<(WithLen<In<f32>, i64>, Out<u64>)>("count_64")?;
        let (stream, x, mut out) = (
            ctx.new_stream()?,
            ctx.zeros::<f32>(5)?,
            ctx.zeros::<u64>(1)?,
        );
        stream.scope(|s| {
            // SAFETY: it writes one element.
            unsafe { s.launch(&count, ONE, (x.slice(1..)?, &mut out.lend(s))) }
        })?;
        assert_eq!(out.to_vec()?, [4]);
        let error = module
            .kernel::<(WithLen<In<f32>, u32>, Out<u64>)>("count_64")
            .unwrap_err();
        let (kernel, index) = ("count_64".into(), 1);
        assert_eq!(
            error,
            Error::ArgSize {
                kernel,
                index,
                want: 4,
                got: 8
            }
        );
        Ok(())
    });
}

/// B126: 5 billion elements (of no bytes) are not 705 million.
#[test]
fn length_that_the_parameter_does_not_hold_is_refused() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let kernel = module.kernel::<(WithLen<In<[u32; 0]>, u32>, Out<u32>)>("count_or_null")?;
        let len = 5_000_000_000;
        let (stream, x, mut out) = (
            ctx.new_stream()?,
            ctx.zeros::<[u32; 0]>(len)?,
            ctx.zeros(1)?,
        );
        let error = stream.scope(|s| {
            // SAFETY: it writes one element.
            unsafe { s.launch(&kernel, ONE, (&x, &mut out.lend(s))) }
        });
        let limit = u64::from(u32::MAX);
        assert_eq!(error, Err(Error::CountTooLarge { len, limit }));
        assert_eq!(out.to_vec()?, [0], "nothing was launched");
        Ok(())
    });
}

#[test]
fn pointer_and_length_go_as_one_struct() {
    in_context(|ctx| {
        let sum = ctx
            .load_ptx(PTX)?
            .kernel::<(PtrLen<In<f32>>, Out<f32>)>("sum_span")?;
        let (stream, x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0, 4.0, 8.0])?);
        let mut sums = ctx.zeros::<f32>(3)?;
        stream.scope(|s| {
            let mut sums = sums.lend(s);
            for (at, part) in [x.slice(..)?, x.slice(1..3)?, x.slice(4..)?]
                .into_iter()
                .enumerate()
            {
                // SAFETY: it reads the elements of the first, and writes the one of the second.
                unsafe { s.launch(&sum, ONE, (part, &mut sums.slice_mut(at..=at)?)) }?;
            }
            Ok(())
        })?;
        assert_eq!(sums.to_vec()?, [15.0, 6.0, 0.0]);
        Ok(())
    });
}

#[test]
fn optional_pointer_is_an_option_or_null() {
    in_context(|ctx| {
        let copy = ctx
            .load_ptx(PTX)?
            .kernel::<(Optional<In<f32>>, f32, Out<f32>, u32)>("copy_or")?;
        let (stream, x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0])?);
        let mut outs = [
            ctx.zeros::<f32>(2)?,
            ctx.zeros::<f32>(2)?,
            ctx.zeros::<f32>(2)?,
        ];
        let [some, none, null] = &mut outs;
        let (there, not_there) = (Some(&x), None::<&scoped_cuda::Buffer<'_, f32>>);
        stream.scope(|s| {
            // SAFETY: it reads and writes 2 elements, which all have.
            unsafe { s.launch(&copy, ONE, (there, 7.0, &mut some.lend(s), 2)) }?;
            // SAFETY: as above.
            unsafe { s.launch(&copy, ONE, (not_there, 8.0, &mut none.lend(s), 2)) }?;
            // SAFETY: as above.
            unsafe { s.launch(&copy, ONE, (Null, 9.0, &mut null.lend(s), 2)) }
        })?;
        assert_eq!(outs[0].to_vec()?, [1.0, 2.0]);
        assert_eq!(outs[1].to_vec()?, [8.0, 8.0]);
        assert_eq!(outs[2].to_vec()?, [9.0, 9.0]);
        Ok(())
    });
}

#[test]
fn null_has_length_0() {
    in_context(|ctx| {
        let kernel = ctx
            .load_ptx(PTX)?
            .kernel::<(WithLen<Optional<In<f32>>, u32>, Out<u32>)>("count_or_null")?;
        let (stream, x, mut out) = (
            ctx.new_stream()?,
            ctx.zeros::<f32>(3)?,
            ctx.zeros::<u32>(2)?,
        );
        stream.scope(|s| {
            let (mut first, mut second) = out.lend(s).split_at_mut(1)?;
            // SAFETY: it writes one element.
            unsafe { s.launch(&kernel, ONE, (Some(&x), &mut first)) }?;
            // SAFETY: as above.
            unsafe { s.launch(&kernel, ONE, (Null, &mut second)) }
        })?;
        assert_eq!(out.to_vec()?, [3, 1000]);
        Ok(())
    });
}

/// The kernel is told how much shared memory there is, and there is that much.
#[test]
fn shared_memory_is_told_as_it_is_given() {
    in_context(|ctx| {
        let kernel = ctx
            .load_ptx(PTX)?
            .kernel::<(SharedBytes, Out<u32>)>("shared_bytes")?;
        let (stream, mut out) = (ctx.new_stream()?, ctx.zeros::<u32>(4)?);
        stream.scope(|s| {
            let (mut some, mut none) = out.lend(s).split_at_mut(2)?;
            let config = ONE.dynamic_shared_bytes(4096);
            // SAFETY: it writes two elements, and one of shared memory if there is any.
            unsafe { s.launch(&kernel, config, (SharedBytes, &mut some)) }?;
            // SAFETY: as above.
            unsafe { s.launch(&kernel, ONE, (SharedBytes, &mut none)) }
        })?;
        assert_eq!(out.to_vec()?, [4096, 4096, 0, 0]);
        Ok(())
    });
}

#[test]
fn structs_and_small_types_go_by_value() {
    in_context(|ctx| {
        let kernel = ctx
            .load_ptx(PTX)?
            .kernel::<(i8, Float4, Pair, i16, Out<f64>)>("structs")?;
        let (stream, mut out) = (ctx.new_stream()?, ctx.zeros::<f64>(4)?);
        stream.scope(|s| {
            let pair = Pair {
                a: 1.5,
                hole: u32::MAX,
                b: 2.25,
            };
            let v = Float4([1.0, 2.0, 3.0, 4.0]);
            let arguments = (-5, v, pair, -300, &mut out.lend(s));
            // SAFETY: it writes four elements.
            unsafe { s.launch(&kernel, ONE, arguments) }
        })?;
        assert_eq!(out.to_vec()?, [-5.0, 4321.0, 3.75, -300.0]);
        Ok(())
    });
}

/// `[f32; 4]` has the size of a `float4` and not its alignment: the mistake shows in where the
/// parameter begins.
#[test]
fn type_of_another_alignment_is_refused() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let error = module
            .kernel::<(i8, [f32; 4], Pair, i16, Out<f64>)>("structs")
            .unwrap_err();
        let kernel = "structs".to_owned();
        assert_eq!(
            error,
            Error::ArgOffset {
                kernel,
                index: 1,
                want: 4,
                got: 16
            }
        );
        assert_eq!(
            error.to_string(),
            "parameter 1 of kernel `structs` is at byte 16 of its parameters, the Rust types put it at 4: is each aligned as in C?"
        );
        // At byte 32 either alignment is right, but the text tells.
        let error = module
            .kernel::<(i8, Float4, [u32; 4], i16, Out<f64>)>("structs")
            .unwrap_err();
        let (kernel, index, want) = ("structs".to_owned(), 2, 4);
        let got = ".align 8 .b8[16]".to_owned();
        assert_eq!(
            error,
            Error::ArgAlign {
                kernel,
                index,
                want,
                got
            }
        );
        Ok(())
    });
}

#[test]
fn sixteen_parameters() {
    type U = u32;
    in_context(|ctx| {
        let kernel = ctx
            .load_ptx(PTX)?
            .kernel::<(Out<U>, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U)>("sixteen")?;
        let (stream, mut out) = (ctx.new_stream()?, ctx.zeros::<u32>(15)?);
        stream.scope(|s| {
            let mut out = out.lend(s);
            let arguments = (&mut out, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            // SAFETY: it writes 15 elements.
            unsafe { s.launch(&kernel, ONE, arguments) }
        })?;
        assert_eq!(out.to_vec()?, (1..16).collect::<Vec<u32>>());
        Ok(())
    });
}

/// Mapped page-locked memory, at rest to read and lent to write.
#[test]
fn pinned_memory_is_an_argument() {
    in_context(|ctx| {
        let copy = ctx
            .load_ptx(PTX)?
            .kernel::<(Optional<In<f32>>, f32, Out<f32>, u32)>("copy_or")?;
        let stream = ctx.new_stream()?;
        let from: PinnedBuffer<'_, f32> = ctx.pinned_from(&[3.0f32, 4.0])?;
        let mut to = ctx.pinned_zeros::<f32>(2)?;
        stream.scope(|s| {
            let mut to = to.lend(s);
            // SAFETY: it reads and writes 2 elements, which both have.
            unsafe { s.launch(&copy, ONE, (Some(from.device_view()), 0.0, &mut to, 2)) }
        })?;
        assert_eq!(*to, [3.0, 4.0]);
        Ok(())
    });
}

/// The look-up compares the parameters that a type stands for, not the types.
#[test]
fn parameters_that_a_type_stands_for_are_counted() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let count = |want, got| Error::ArgCount {
            kernel: "fill_counted".into(),
            want,
            got,
        };
        type Counter = WithLen<InOut<f32>, u32>;
        let short = module.kernel::<(Counter,)>("fill_counted").unwrap_err();
        assert_eq!(short, count(2, 3));
        let long = module
            .kernel::<(Counter, f32, u32)>("fill_counted")
            .unwrap_err();
        assert_eq!(long, count(4, 3));
        assert!(
            module
                .kernel::<(InOut<f32>, u32, f32)>("fill_counted")
                .is_ok()
        );
        Ok(())
    });
}
