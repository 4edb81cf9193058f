//! Variables of modules, at rest, in flight and used by kernels. Claims C1, C2, C4, C5, C6, C9.

#![allow(unsafe_code)] // launches

use crate::common::{
    Gate, PTX, in_context, in_two_contexts, is_busy, on_driver, ptx, real, simulated,
};
use scoped_cuda::error::ImageError;
use scoped_cuda::sim::{KernelCall, Simulation};
use scoped_cuda::{
    Context, Error, Global, In, InOut, LaunchConfig, Module, Out, Result, Stream, Transfer, scope,
};
use std::mem;

const ONE: LaunchConfig = LaunchConfig::new([1; 3], [1; 3]);
const HEADER: &str = ".version 8.0\n.target sm_75\n.address_size 64\n";

/// `__device__ struct { double n, sum, squares; } moments;`
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
struct Moments {
    n: f64,
    sum: f64,
    squares: f64,
}

// SAFETY: three numbers.
unsafe impl bytemuck::Zeroable for Moments {}
// SAFETY: as above, without padding.
unsafe impl bytemuck::Pod for Moments {}

/// Runs a test with the module of the tests.
fn with_module(test: impl for<'ctx> FnOnce(Context<'ctx>, Module<'ctx>) -> Result<()>) {
    in_context(|ctx| test(ctx, ctx.load_ptx(PTX)?));
}

/// Counts with as many threads.
fn count<'ctx>(module: &Module<'ctx>, stream: &Stream<'ctx>, threads: u32) -> Result<()> {
    let count = module.kernel::<()>("count")?;
    // SAFETY: the callers use the counter through nothing else meanwhile.
    stream.scope(|s| unsafe { s.launch(&count, LaunchConfig::new([1; 3], [threads, 1, 1]), ()) })
}

#[test]
fn variable_has_the_value_that_its_module_gives_it() {
    with_module(|ctx, module| {
        let mut weights = module.global::<f32>("weights", 4)?;
        assert_eq!(weights.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!((weights.len(), weights.size_bytes()), (4, 16));
        assert_eq!(weights.name(), "weights");
        assert_eq!(weights.context().as_raw(), ctx.as_raw());
        assert!(!weights.is_empty() && weights.as_raw() != 0);
        weights.write(&[4.0, 3.0, 2.0, 1.0])?;
        let mut host = [0.0; 4];
        weights.read(&mut host)?;
        assert_eq!(host, [4.0, 3.0, 2.0, 1.0]);
        assert_eq!(weights.as_slice().slice(1..3)?.to_vec()?, [3.0, 2.0]);
        let mut counter = module.global::<u32>("counter", 1)?;
        assert_eq!(counter.get()?, 7);
        counter.set(8)?;
        assert_eq!(counter.get()?, 8);
        let moments = module.global::<Moments>("moments", 1)?;
        assert_eq!(moments.get()?, bytemuck::Zeroable::zeroed());
        Ok(())
    });
}

/// A `__constant__` table, before and between launches.
#[test]
fn kernel_reads_what_was_written_to_a_constant() {
    with_module(|ctx, module| {
        let weigh = module.kernel::<(InOut<f32>, u32)>("weigh")?;
        let (stream, mut x) = (ctx.new_stream()?, ctx.filled(6, 10.0f32)?);
        let mut weights = module.global::<f32>("weights", 4)?;
        for expected in [
            [10.0, 20.0, 30.0, 40.0, 10.0, 20.0],
            [5.0, 0.0, -30.0, 40.0, 5.0, 0.0],
        ] {
            stream.scope(|s| {
                // SAFETY: `weigh` stays below 6, which x has; nobody writes the weights.
                unsafe { s.launch(&weigh, LaunchConfig::for_elements(6), (&mut x.lend(s), 6)) }
            })?;
            assert_eq!(x.to_vec()?, expected);
            weights.write(&[0.5, 0.0, -1.0, 1.0])?;
            x.write(&[10.0, 20.0, 30.0, 40.0, 10.0, 20.0])?;
        }
        Ok(())
    });
}

#[test]
fn kernel_counts_in_a_variable() {
    with_module(|ctx, module| {
        let stream = ctx.new_stream()?;
        let mut counter = module.global::<u32>("counter", 1)?;
        count(&module, &stream, 100)?;
        assert_eq!(counter.get()?, 107);
        counter.set(1)?;
        count(&module, &stream, 2)?;
        assert_eq!(counter.get()?, 3);
        Ok(())
    });
}

#[test]
fn struct_is_one_element_or_an_array_of_its_numbers() {
    with_module(|ctx, module| {
        let tally = module.kernel::<(f64,)>("tally")?;
        let stream = ctx.new_stream()?;
        stream.scope(|s| {
            for value in [1.5, -2.0, 4.0] {
                // SAFETY: one thread, and one after the other; nobody else uses the moments.
                unsafe { s.launch(&tally, ONE, (value,)) }?;
            }
            Ok(())
        })?;
        let expected = Moments {
            n: 3.0,
            sum: 3.5,
            squares: 22.25,
        };
        assert_eq!(module.global::<Moments>("moments", 1)?.get()?, expected);
        let mut moments = module.global::<f64>("moments", 3)?;
        assert_eq!(moments.to_vec()?, [3.0, 3.5, 22.25]);
        moments.as_mut_slice().slice_mut(1..2)?.write(&[0.0])?;
        assert_eq!(moments.to_vec()?, [3.0, 0.0, 22.25]);
        Ok(())
    });
}

/// Everything that a lent buffer does, in the order of the stream, kernels of the module included.
#[test]
fn variable_is_lent_to_a_stream() {
    with_module(|ctx, module| {
        let count = module.kernel::<()>("count")?;
        let (stream, source) = (ctx.new_stream()?, [40u32]);
        let mut counter = module.global::<u32>("counter", 1)?;
        let (mut copy, mut seen) = (ctx.zeros::<u32>(1)?, [0; 1]);
        stream.scope(|s| {
            let gate = Gate::close(&stream);
            let (mut counter, mut copy) = (counter.as_mut_slice().lend(s), copy.lend(s));
            s.write(&source, &mut counter)?;
            // SAFETY: one thread; the counter is in the order of this stream.
            unsafe { s.launch(&count, ONE, ()) }?;
            s.copy(&counter, &mut copy)?;
            s.fill(&mut counter, 5)?;
            // SAFETY: as above.
            unsafe { s.launch(&count, ONE, ()) }?;
            assert!(is_busy(&stream));
            gate.open();
            s.read(&counter, &mut seen)
        })?;
        assert_eq!((copy.to_vec()?, seen, counter.get()?), (vec![41], [6], 6));
        Ok(())
    });
}

/// A kernel gets the address of a variable like that of any memory, of a constant too.
#[test]
fn variable_is_an_argument() {
    with_module(|ctx, module| {
        let add = module.kernel::<(In<u32>, InOut<u32>, u32)>("add")?;
        let store_pair = module.kernel::<(Out<u32>, [u32; 2])>("store_pair")?;
        let stream = ctx.new_stream()?;
        let (primes, mut moments) = (
            module.global::<u32>("primes", 3)?,
            module.global::<u32>("moments", 6)?,
        );
        let mut sums = ctx.filled(3, 10u32)?;
        stream.scope(|s| {
            let (mut sums, mut moments) = (sums.lend(s), moments.as_mut_slice().lend(s));
            // SAFETY: `add` stays below 3, which both have; `primes` is not written.
            unsafe {
                s.launch(
                    &add,
                    LaunchConfig::for_elements(3),
                    (primes.as_slice(), &mut sums, 3),
                )
            }?;
            // SAFETY: it stores two elements.
            unsafe { s.launch(&store_pair, ONE, (&mut moments.slice_mut(4..)?, [8, 9])) }
        })?;
        assert_eq!(sums.to_vec()?, [12, 13, 15]);
        assert_eq!(moments.to_vec()?, [0, 0, 0, 0, 8, 9]);
        assert_eq!(primes.to_vec()?, [2, 3, 5]);
        Ok(())
    });
}

/// From stream to stream, and to rest in the middle of a scope.
#[test]
fn lent_variable_is_handed_over() {
    with_module(|ctx, module| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let mut moments = module.global::<u32>("moments", 6)?;
        scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let gate = Gate::close(&first);
                    let mut memory = moments.as_mut_slice().lend(a);
                    a.fill(&mut memory, 5)?;
                    let mut memory = memory.hand_over(a, b)?;
                    b.fill(&mut memory.slice_mut(1..3)?, 6)?;
                    gate.open();
                    let mut memory = memory.release(b)?;
                    assert_eq!(memory.as_slice().to_vec()?, [5, 6, 6, 5, 5, 5]);
                    memory.slice_mut(5..)?.write(&[7])?;
                    for part in memory.chunks_mut(3)? {
                        a.fill(&mut part.lend(a).slice_mut(..1)?, 8)?;
                    }
                    Ok(())
                })
            })
        })?;
        assert_eq!(moments.to_vec()?, [8, 6, 6, 8, 5, 7]);
        Ok(())
    });
}

/// It is no pool memory, and no transfer is about pools only.
#[test]
fn transfers_read_and_write_variables() {
    in_two_contexts(|a, b| {
        let (module, near) = (a.load_ptx(PTX)?, b.load_ptx(PTX)?);
        let (mut there, mut here) = (
            module.global::<u32>("moments", 6)?,
            near.global::<u32>("moments", 6)?,
        );
        let (sender, receiver) = (a.new_stream()?, b.new_stream()?);
        let mut buffer = b.zeros::<u32>(6)?;
        for (round, transfer) in [(1, a.transfer_to(b)?), (2, Transfer::staged(a, b)?)] {
            there.write(&[round, 2, 3, 4, 5, 6])?;
            transfer.copy(&there.as_slice(), &mut buffer)?;
            assert_eq!(buffer.to_vec()?, [round, 2, 3, 4, 5, 6]);
            transfer.copy(&there.as_slice(), &mut here.as_mut_slice())?;
            assert_eq!(here.to_vec()?, [round, 2, 3, 4, 5, 6]);
            scope(|scope| {
                scope.on(&sender, |a| {
                    scope.on(&receiver, |b| {
                        let (mut there, mut here) =
                            (there.as_mut_slice().lend(a), here.as_mut_slice().lend(b));
                        a.fill(&mut there, 10 * round)?;
                        transfer.enqueue(a, &there, b, &mut here)
                    })
                })
            })?;
            assert_eq!(here.to_vec()?, [10 * round; 6]);
        }
        b.transfer_to(a)?
            .copy(&b.filled(6, 9u32)?, &mut there.as_mut_slice())?;
        assert_eq!(there.to_vec()?, [9; 6]);
        Ok(())
    });
}

#[test]
fn another_size_is_refused() {
    with_module(|_, module| {
        let refused = |error: Error| match error {
            Error::GlobalSize {
                name,
                bytes,
                len,
                element_bytes,
            } => {
                assert_eq!(name, "weights");
                (bytes, len, element_bytes)
            }
            other => panic!("{other:?}"),
        };
        let asked = |len| refused(module.global::<f32>("weights", len).unwrap_err());
        assert_eq!(asked(3), (16, 3, 4));
        assert_eq!(asked(5), (16, 5, 4));
        assert_eq!(asked(0), (16, 0, 4));
        assert_eq!(
            refused(module.global::<f64>("weights", 4).unwrap_err()),
            (16, 4, 8)
        );
        assert_eq!(
            refused(module.global::<()>("weights", 4).unwrap_err()),
            (16, 4, 0)
        );
        let error = module.global::<f32>("weights", 3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the variable `weights` has 16 bytes, not 3 elements of 4 bytes"
        );
        let error = module.global::<f32>("weights", usize::MAX).unwrap_err();
        assert_eq!(
            error,
            Error::SizeOverflow {
                len: usize::MAX,
                element_bytes: 4
            }
        );
        // A refusal takes nothing.
        module.global::<u8>("weights", 16)?;
        module.global::<[f32; 4]>("weights", 1)?;
        let weights = module.global::<f32>("weights", 4)?;
        let lengths = Error::LengthMismatch {
            source_len: 4,
            destination_len: 3,
        };
        assert_eq!(weights.read(&mut [0.0; 3]), Err(lengths));
        let lengths = Error::LengthMismatch {
            source_len: 4,
            destination_len: 1,
        };
        assert_eq!(weights.get(), Err(lengths));
        Ok(())
    });
}

#[test]
fn unknown_name_is_named() {
    with_module(|_, module| {
        for name in ["weight", "", "weights\0", "Weights", "count"] {
            let error = module.global::<u32>(name, 1).unwrap_err();
            assert_eq!(error, Error::NoGlobal { name: name.into() });
        }
        let error = module.kernel::<()>("counter").unwrap_err();
        assert_eq!(
            error,
            Error::NoKernel {
                name: "counter".into()
            }
        );
        Ok(())
    });
}

/// Two handles would be two mutable borrows of one place.
#[test]
fn variable_has_one_handle_at_a_time() {
    with_module(|_, module| {
        let counter = module.global::<u32>("counter", 1)?;
        let taken = || Error::GlobalTaken {
            name: "counter".into(),
        };
        assert_eq!(module.global::<u32>("counter", 1).unwrap_err(), taken());
        assert_eq!(module.global::<[u8; 4]>("counter", 1).unwrap_err(), taken());
        let weights = module.global::<f32>("weights", 4)?;
        drop(counter);
        let counter = module.global::<i32>("counter", 1)?;
        assert_eq!(counter.get()?, 7, "the value stays");
        mem::forget(counter);
        assert_eq!(module.global::<u32>("counter", 1).unwrap_err(), taken());
        drop(weights);
        module.global::<f32>("weights", 4).map(drop)
    });
}

#[test]
fn threads_share_out_the_variables() {
    with_module(|_, module| {
        let handles: Vec<_> = std::thread::scope(|threads| {
            let workers: Vec<_> = (0..4)
                .map(|_| threads.spawn(|| module.global::<u32>("counter", 1)))
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap())
                .collect()
        });
        assert_eq!(handles.iter().filter(|handle| handle.is_ok()).count(), 1);
        for counter in handles.into_iter().flatten() {
            // Without a context current.
            let get = || counter.get();
            let seen = std::thread::scope(|threads| threads.spawn(get).join().unwrap())?;
            assert_eq!(seen, 7);
        }
        Ok(())
    });
}

#[test]
fn each_loaded_module_has_its_own() {
    with_module(|ctx, first| {
        let (second, stream) = (ctx.load_ptx(PTX)?, ctx.new_stream()?);
        let mut counters = [
            first.global::<u32>("counter", 1)?,
            second.global("counter", 1)?,
        ];
        assert_ne!(counters[0].as_raw(), counters[1].as_raw());
        counters[1].set(100)?;
        count(&first, &stream, 1)?;
        assert_eq!((counters[0].get()?, counters[1].get()?), (8, 100));
        Ok(())
    });
}

/// The module is gone by name, and its variable still there.
#[test]
fn variable_keeps_its_module_loaded() {
    with_module(|ctx, module| {
        let weigh = module.kernel::<(InOut<f32>, u32)>("weigh")?;
        let mut weights = module.global::<f32>("weights", 4)?;
        drop(module);
        weights.write(&[3.0; 4])?;
        let (stream, mut x) = (ctx.new_stream()?, ctx.upload(&[2.0f32])?);
        stream.scope(|s| {
            // SAFETY: one element; nobody writes the weights.
            unsafe { s.launch(&weigh, ONE, (&mut x.lend(s), 1)) }
        })?;
        drop(weigh);
        assert_eq!((x.to_vec()?, weights.to_vec()?), (vec![6.0], vec![3.0; 4]));
        let modules = || ctx.driver().machine().map(|machine| machine.live().modules);
        assert_eq!(modules(), if real() { None } else { Some(1) });
        drop(weights);
        assert_eq!(modules(), if real() { None } else { Some(0) });
        Ok(())
    });
}

/// B38: whatever is current, and with nothing current.
#[test]
fn variable_is_of_its_own_device() {
    in_two_contexts(|a, b| {
        let module = a.load_ptx(PTX)?;
        assert_eq!(crate::common::current(b.driver()), b.as_raw());
        let mut counter = module.global::<u32>("counter", 1)?;
        counter.set(9)?;
        count(&module, &a.new_stream()?, 3)?;
        assert_eq!(counter.get()?, 12);
        Ok(())
    });
}

#[test]
fn stricter_alignment_than_the_variable_has_is_refused() {
    const BYTES: usize = 4096;

    #[derive(Clone, Copy)]
    #[repr(C, align(4096))]
    struct Page([u8; BYTES]);

    // SAFETY: bytes all through.
    unsafe impl bytemuck::Zeroable for Page {}
    // SAFETY: as above, without padding.
    unsafe impl bytemuck::Pod for Page {}

    in_context(|ctx| {
        let text =
            format!("{HEADER}.visible .global .b8 a[4096];\n.visible .global .b8 b[4096];\n");
        let module = ctx.load_ptx(ptx(&text))?;
        let mut refused = 0;
        for name in ["a", "b"] {
            match module.global::<Page>(name, 1) {
                Ok(page) => {
                    assert_eq!(page.as_raw() % BYTES as u64, 0);
                    assert_eq!(page.get()?.0[BYTES - 1], 0);
                }
                Err(Error::Misaligned { address, align }) => {
                    assert!(align == BYTES && address % BYTES != 0);
                    refused += 1;
                }
                Err(other) => return Err(other),
            }
            // A refusal takes nothing.
            module.global::<u8>(name, BYTES)?;
        }
        assert!(real() || refused > 0);
        Ok(())
    });
}

/// B121: no bytes, no driver call. A handle is none either, when it goes.
#[test]
fn driver_is_asked_for_the_variable_and_its_bytes_only() {
    let driver = simulated(Simulation::default());
    crate::common::on(driver, |driver| {
        driver.with_device(0, |ctx| {
            let module = ctx.load_ptx(PTX)?;
            let machine = driver.machine().unwrap();
            machine.clear_trace();
            let mut weights = module.global::<[f32; 2]>("weights", 2)?;
            assert_eq!(weights.as_slice().slice(2..)?.to_vec()?, [[0.0; 2]; 0]);
            weights.as_mut_slice().slice_mut(..0)?.write(&[])?;
            drop(weights);
            assert_eq!(
                module.global::<u32>("\0", 1).unwrap_err(),
                Error::NoGlobal { name: "\0".into() }
            );
            assert_eq!(machine.trace(), ["cuCtxGetId", "cuModuleGetGlobal"]);
            Ok(())
        })
    });
}

#[test]
fn debug_output_says_what_it_is() {
    with_module(|_, module| {
        let weights = module.global::<f32>("weights", 4)?;
        let expected = format!(
            "Global `weights`(device 0, 4 x f32, {:#x})",
            weights.as_raw()
        );
        assert_eq!(format!("{weights:?}"), expected);
        Ok(())
    });
}

/// An unresolved declaration without a size has no variable behind it.
#[test]
fn module_with_a_variable_of_nobody_does_not_load() {
    in_context(|ctx| {
        let text =
            format!("{HEADER}.extern .global .align 4 .u32 x[];\n.visible .entry k() {{ ret; }}\n");
        let Error::Image(ImageError { log, .. }) = ctx.load_ptx(ptx(&text)).unwrap_err() else {
            panic!("another error")
        };
        assert!(log.contains("Unresolved extern variable 'x'"), "{log}");
        Ok(())
    });
}

type Body = fn(&mut KernelCall<'_>);

/// What a kernel of the simulated driver does wrong with a variable is a fault, told by name.
#[test]
fn simulated_kernel_that_uses_a_variable_wrongly_faults() {
    let wrong: [(&str, Body); 3] = [
        (
            "the variable `nobody`, which its module does not have",
            |call| drop(call.global::<u32>("nobody")),
        ),
        ("the 4 bytes of the variable `counter`", |call| {
            call.update_global::<u64>("counter", |_| ())
        }),
        ("the 16 bytes of the variable `weights`", |call| {
            drop(call.global::<()>("weights"))
        }),
    ];
    for (text, body) in wrong {
        let driver = simulated(Simulation::default());
        let machine = driver.machine().unwrap();
        machine.kernel("count", body);
        let error = driver
            .with_device(0, |ctx| count(&ctx.load_ptx(PTX)?, &ctx.new_stream()?, 1))
            .unwrap_err();
        assert!(error.driver_error().unwrap().code().is_sticky());
        assert!(
            machine.violations()[0].contains(text),
            "{:?}",
            machine.violations()
        );
    }
}

/// Many handles in a collection, of several modules.
#[test]
fn handles_are_values() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let mut kept: Vec<Global<'_, u32>> = Vec::new();
            for value in 0..4 {
                let mut counter = ctx.load_ptx(PTX)?.global("counter", 1)?;
                counter.set(value)?;
                kept.push(counter);
            }
            kept.swap(0, 3);
            let values: Result<Vec<u32>> = kept.iter().map(Global::get).collect();
            assert_eq!(values?, [3, 1, 2, 0]);
            Ok(())
        })
    });
}
