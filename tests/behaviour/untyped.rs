//! Kernels whose parameter list is known when the program runs. Claims C2, C9.

#![allow(unsafe_code)] // launches

use crate::common::{PTX, in_context};
use scoped_cuda::kernel::{ArgumentList, Untyped};
use scoped_cuda::{Error, In, InOut, Kernel, LaunchConfig, Result, ScopedStream};

const CONFIG: LaunchConfig = LaunchConfig::for_elements(3);

/// Launches what `push` makes of an empty list, and says how that ends.
fn launched<'a, 's, 'scope, 'ctx>(
    s: ScopedStream<'s, 'scope, 'ctx>,
    kernel: &'scope Kernel<'ctx, Untyped>,
    config: LaunchConfig,
    push: impl FnOnce(&mut ArgumentList<'a, 's, 'scope, 'ctx>) -> Result<()>,
) -> Result<()> {
    let mut arguments = kernel.arguments(config);
    push(&mut arguments)?;
    // SAFETY: the tests pass the number of elements that their memory has.
    unsafe { arguments.launch(s) }
}

#[test]
fn arguments_are_passed_in_order() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let add = module.untyped_kernel("add")?;
        let nothing = module.untyped_kernel("nothing")?;
        assert_eq!(add.name(), "add");
        assert_eq!(
            format!("{:?}", add.arguments(CONFIG)).split(',').next(),
            Some("ArgumentList { kernel: \"add\"")
        );
        let (stream, x) = (ctx.new_stream()?, ctx.upload(&[1u32, 2, 3])?);
        let mut y = ctx.upload(&[10u32, 20, 30])?;
        drop(module);
        stream.scope(|s| {
            let mut y = y.lend(s);
            for _ in 0..2 {
                launched(s, &add, CONFIG, |list| {
                    list.push::<In<u32>>(&x)?;
                    list.push::<InOut<u32>>(&mut y)?;
                    list.push::<u32>(3)
                })?;
            }
            launched(s, &nothing, CONFIG, |_| Ok(()))
        })?;
        assert_eq!(y.to_vec()?, [12, 24, 36]);
        Ok(())
    });
}

#[test]
fn a_list_that_the_kernel_does_not_declare_is_refused() {
    in_context(|ctx| {
        let module = ctx.load_ptx(PTX)?;
        let scale = module.untyped_kernel("scale")?;
        let kernel = || "scale".to_owned();
        let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[1.0f32, 2.0, 3.0])?);
        stream.scope(|s| {
            let mut x = x.lend(s);
            let short = launched(s, &scale, CONFIG, |list| list.push::<InOut<f32>>(&mut x));
            let (want, got) = (1, 3);
            assert_eq!(
                short,
                Err(Error::ArgCount {
                    kernel: kernel(),
                    want,
                    got
                })
            );
            let wide = launched(s, &scale, CONFIG, |list| {
                list.push::<InOut<f32>>(&mut x)?;
                list.push::<u64>(3)?;
                list.push::<f32>(2.0)
            });
            let (index, want, got) = (1, 8, 4);
            assert_eq!(
                wide,
                Err(Error::ArgSize {
                    kernel: kernel(),
                    index,
                    want,
                    got
                })
            );
            let exchanged = launched(s, &scale, CONFIG, |list| {
                list.push::<InOut<f32>>(&mut x)?;
                list.push::<f32>(2.0)?;
                list.push::<u32>(3)
            });
            assert!(
                matches!(exchanged, Err(Error::ArgKind { index: 1, .. })),
                "{exchanged:?}"
            );
            // An empty problem is compared too, and makes no launch.
            let empty = LaunchConfig::for_elements(0);
            assert!(launched(s, &scale, empty, |_| Ok(())).is_err());
            launched(s, &scale, empty, |list| {
                list.push::<InOut<f32>>(&mut x)?;
                list.push::<u32>(3)?;
                list.push::<f32>(2.0)
            })
        })?;
        assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]);
        let name = "no such kernel".to_owned();
        let missing = module.untyped_kernel(&name).map(drop);
        assert_eq!(missing, Err(Error::NoKernel { name }));
        Ok(())
    });
}
