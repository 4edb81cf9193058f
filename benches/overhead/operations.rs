//! The operations, each through the crate and through the raw driver.

#![allow(unsafe_code)] // the raw side, and launches

use crate::graphs::{self, Shape};
use crate::measure::{Comparison, Goal, Plan, Sample, repeat};
use crate::owned;
use crate::raw::{LaunchKernel, OldAllocator, RawPool, launch_kernel, succeed};
use scoped_cuda::ffi::{
    CU_EVENT_DISABLE_TIMING, CU_STREAM_NON_BLOCKING, CUcontext, CUevent, CUfunction, CUstream,
    Symbols,
};
use scoped_cuda::{Context, InOut, LaunchConfig, Module, Ptx, Result, Stream, scope};
use std::ffi::c_void;
use std::fmt::Write;
use std::hint::black_box;
use std::ptr;

/// One row of the table.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// Operations between two waits on a real driver: few enough that its queue never makes the
    /// caller wait.
    pub(crate) batch: usize,
    pub(crate) goal: Goal,
    pub(crate) measure: fn(&Lab<'_>, Plan) -> Result<Comparison>,
}

const MIB: usize = 1 << 20;

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation { name: "launch, 1 argument",            batch: 200, goal: Goal::Thin,        measure: launch_1 },
    Operation { name: "launch, 3 arguments",           batch: 200, goal: Goal::Thin,        measure: launch_3 },
    Operation { name: "launch, 8 arguments",           batch: 200, goal: Goal::Thin,        measure: launch_8 },
    Operation { name: "launch, 16 arguments",          batch: 200, goal: Goal::Thin,        measure: launch_16 },
    Operation { name: "safe launch, 3 arguments, 2 preconditions", batch: 200, goal: Goal::Thin, measure: safe_launch },
    Operation { name: "look-up, 16 parameters checked (raw: none)", batch: 200, goal: Goal::Within(5000.0), measure: look_up },
    Operation { name: "fill, 4 B",                     batch: 200, goal: Goal::Thin,        measure: |lab, plan| fill(lab, plan, 4) },
    Operation { name: "fill, 1 MiB",                   batch: 200, goal: Goal::Thin,        measure: |lab, plan| fill(lab, plan, MIB) },
    Operation { name: "copy device to device, 4 B",    batch: 200, goal: Goal::Thin,        measure: copy },
    Operation { name: "write, 4 B, pageable",          batch: 200, goal: Goal::Thin,        measure: |lab, plan| write(lab, plan, &[7]) },
    Operation { name: "write, 4 B, pinned",            batch: 200, goal: Goal::Thin,        measure: write_pinned },
    Operation { name: "write 256 MiB pinned",        batch: 2,   goal: Goal::Same(1.01),  measure: write_large },
    Operation { name: "read 256 MiB pinned",         batch: 2,   goal: Goal::Same(1.01),  measure: read_large },
    Operation { name: "hand-over, there and back",     batch: 100, goal: Goal::Informative, measure: hand_over },
    Operation { name: "event record",                  batch: 200, goal: Goal::Thin,        measure: event_record },
    Operation { name: "empty scope / synchronise",     batch: 100, goal: Goal::Informative, measure: empty_scope },
    Operation { name: "alloc + free 256 B / pool",     batch: 50,  goal: Goal::Informative, measure: |lab, plan| pool(lab, plan, 256) },
    Operation { name: "alloc + free 1 MiB / pool",     batch: 50,  goal: Goal::Informative, measure: |lab, plan| pool(lab, plan, MIB) },
    Operation { name: "alloc + free 64 MiB / pool",    batch: 50,  goal: Goal::Informative, measure: |lab, plan| pool(lab, plan, 64 * MIB) },
    Operation { name: "alloc + free 256 B / cuMemAlloc",  batch: 20, goal: Goal::Faster(8.0), measure: |lab, plan| old(lab, plan, 256) },
    Operation { name: "alloc + free 1 MiB / cuMemAlloc",  batch: 20, goal: Goal::Faster(8.0), measure: |lab, plan| old(lab, plan, MIB) },
    Operation { name: "alloc + free 64 MiB / cuMemAlloc", batch: 20, goal: Goal::Faster(8.0), measure: |lab, plan| old(lab, plan, 64 * MIB) },
    Operation { name: "stream create + drop (raw: no event)", batch: 20, goal: Goal::Informative, measure: stream },
    Operation { name: "owned context, with (raw: push, pop)", batch: 200, goal: Goal::Over(150.0), measure: owned::with },
    Operation { name: "owned context, with, where it is current (raw: current?)", batch: 200, goal: Goal::Over(150.0), measure: owned::with_inside },
    Operation { name: "submit + wait, a fill (raw: fill, event)", batch: 50, goal: Goal::Over(500.0), measure: owned::submit },
    Operation { name: "submit + wait, 100 fills (raw: fills, event)", batch: 5, goal: Goal::Same(1.05), measure: owned::chain },
    Operation { name: "graph launch, 100 kernels",     batch: 20,  goal: Goal::Thin, measure: |lab, plan| graphs::launch(lab, plan, Shape::Chain(100)) },
    Operation { name: "graph launch, 1000 kernels",    batch: 2,   goal: Goal::Thin, measure: |lab, plan| graphs::launch(lab, plan, Shape::Chain(1000)) },
    Operation { name: "graph of 1000 kernels, launch and wait", batch: 2, goal: Goal::Same(1.02), measure: |lab, plan| graphs::replay(lab, plan, Shape::Chain(1000)) },
    Operation { name: "graph of 8 branches of 100 kernels, launch and wait", batch: 2, goal: Goal::Same(1.05), measure: |lab, plan| graphs::replay(lab, plan, Shape::Branches(8, 100)) },
    Operation { name: "with_device (raw: no pool, no stream)", batch: 5, goal: Goal::Informative, measure: with_device },
];

/// What the operations work with. Both sides use the same streams, one after the other.
pub(crate) struct Lab<'ctx> {
    pub(crate) ctx: Context<'ctx>,
    pub(crate) symbols: &'static Symbols,
    pub(crate) stream: Stream<'ctx>,
    other: Stream<'ctx>,
    pub(crate) module: Module<'ctx>,
}

impl<'ctx> Lab<'ctx> {
    pub(crate) fn new(ctx: Context<'ctx>) -> Result<Self> {
        let (stream, other) = (ctx.new_stream()?, ctx.new_stream()?);
        let text = ptx(&[1, 3, 8, 16]);
        // SAFETY: written for this bench, and assembled by every driver that it ran on.
        let module = ctx.load_ptx(unsafe { Ptx::from_compiler(&text) })?;
        Ok(Self {
            ctx,
            symbols: ctx.driver().symbols(),
            stream,
            other,
            module,
        })
    }

    /// Measures `n` raw operations on the stream, then waits for it. The crate's scope does so by
    /// itself; neither wait is measured.
    pub(crate) fn queue(&self, n: usize, raw: impl FnMut() -> Result<()>) -> Result<Sample> {
        let sample = repeat(n, raw)?;
        // SAFETY: the stream is live.
        succeed(unsafe { (self.symbols.cuStreamSynchronize)(self.stream.as_raw()) })?;
        Ok(sample)
    }
}

/// Kernels `take1`, `take3`, ... that return at once; each takes an address and 32-bit numbers.
fn ptx(counts: &[usize]) -> String {
    let mut text = String::from(".version 7.0\n.target sm_75\n.address_size 64\n");
    for count in counts {
        let numbers: String = (1..*count).map(|n| format!(", .param .u32 p{n}")).collect();
        let _ = writeln!(
            text,
            ".visible .entry take{count}(.param .u64 p0{numbers}) {{ ret; }}"
        );
    }
    text
}

/// A number of elements that the compiler does not know.
pub(crate) fn elements() -> usize {
    black_box(1024)
}

/// Measures launches: one function per parameter list, since tuples of different lengths have no
/// function in common.
macro_rules! launches {
    ($($function:ident $kernel:literal ($($value:ident: $type:ty),*);)*) => {$(
        fn $function(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
            let kernel = lab.module.kernel::<(InOut<f32>, $($type,)*)>($kernel)?;
            let mut memory = lab.ctx.zeros::<f32>(elements())?;
            let address = memory.as_raw();
            let call = launch_kernel(lab.ctx.driver());
            $(let $value = black_box(<$type>::default());)*
            let raw = || {
                let mut pointers = [pointer_to(&address), $(pointer_to(&$value)),*];
                // SAFETY: there is a pointer for each parameter of the kernel, to a value of its
                // size.
                unsafe { launch_raw(call, lab.stream.as_raw(), kernel.as_raw(), &mut pointers) }
            };
            plan.compare(
                |n| lab.queue(n, raw),
                |n| lab.stream.scope(|s| {
                    let mut memory = memory.lend(s);
                    repeat(n, || {
                        let config = LaunchConfig::for_elements(elements());
                        // SAFETY: the kernel touches nothing.
                        unsafe { s.launch(&kernel, config, (&mut memory, $($value,)*)) }
                    })
                }),
            )
        }
    )*};
}

launches! {
    launch_1 "take1" ();
    launch_3 "take3" (a: u32, b: u32);
    launch_8 "take8" (a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32);
    launch_16 "take16" (
        a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32, i: u32, j: u32, k: u32, l: u32, m: u32, o: u32, p: u32
    );
}

/// Against a raw launch with the same arguments.
fn safe_launch(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let kernel = lab.module.kernel::<(InOut<f32>, u32, u32)>("take3")?;
    let (function, call) = (kernel.as_raw(), launch_kernel(lab.ctx.driver()));
    // SAFETY: it touches nothing.
    let kernel = unsafe {
        kernel.assert_safe_when([
            ("n is at most the length of x", |_, (x, n, _)| {
                n as usize <= x
            }),
            ("m is at most n", |_, (_, n, m)| m <= n),
        ])
    };
    let mut memory = lab.ctx.zeros::<f32>(elements())?;
    let (address, n, m) = (memory.as_raw(), black_box(9_u32), black_box(5_u32));
    let raw = || {
        let mut pointers = [pointer_to(&address), pointer_to(&n), pointer_to(&m)];
        // SAFETY: there is a pointer for each of the 3 parameters, to a value of its size.
        unsafe { launch_raw(call, lab.stream.as_raw(), function, &mut pointers) }
    };
    plan.compare(
        |n| lab.queue(n, raw),
        |count| {
            lab.stream.scope(|s| {
                let mut memory = memory.lend(s);
                repeat(count, || {
                    let config = LaunchConfig::for_elements(elements());
                    kernel.launch(s, config, (&mut memory, n, m))
                })
            })
        },
    )
}

/// Against `cuModuleGetFunction` alone, which looks at no parameter.
fn look_up(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    type U = u32;
    type Sixteen = (InOut<f32>, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U);
    let module = lab.module.as_raw();
    let raw = || {
        let mut function = CUfunction::NULL;
        // SAFETY: the module is live, the name ends with a NUL, the out-pointer is valid for the
        // call.
        succeed(unsafe {
            (lab.symbols.cuModuleGetFunction)(&raw mut function, module, c"take16".as_ptr())
        })?;
        black_box(function);
        Ok(())
    };
    let ours = || lab.module.kernel::<Sixteen>("take16").map(drop);
    plan.compare(|n| repeat(n, raw), |n| repeat(n, ours))
}

pub(crate) fn pointer_to<T>(value: &T) -> *mut c_void {
    ptr::from_ref(value).cast_mut().cast()
}

/// # Safety
/// `pointers` has one for each parameter of `function`, to a value of its size; the kernel touches
/// nothing.
#[inline]
pub(crate) unsafe fn launch_raw(
    call: LaunchKernel,
    stream: CUstream,
    function: CUfunction,
    pointers: &mut [*mut c_void],
) -> Result<()> {
    let blocks = elements().div_ceil(256) as u32;
    let (pointers, extra) = (pointers.as_mut_ptr(), ptr::null_mut());
    // SAFETY: function and stream are live and of one context; the rest is the caller's promise.
    let code = unsafe {
        call(
            function, blocks, 1, 1, 256, 1, 1, 0, stream, pointers, extra,
        )
    };
    succeed(code)
}

fn fill(lab: &Lab<'_>, plan: Plan, bytes: usize) -> Result<Comparison> {
    let count = bytes / size_of::<u32>();
    let mut memory = lab.ctx.zeros::<u32>(count)?;
    let (address, stream) = (memory.as_raw(), lab.stream.as_raw());
    let raw = || {
        // SAFETY: the memory has `count` numbers and is the benchmark's.
        succeed(unsafe { (lab.symbols.cuMemsetD32Async)(address, 7, count, stream) })
    };
    let ours = |n| {
        lab.stream.scope(|s| {
            let mut memory = memory.lend(s);
            repeat(n, || s.fill(&mut memory, 7))
        })
    };
    plan.compare(|n| lab.queue(n, raw), ours)
}

fn copy(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let (source, mut destination) = (lab.ctx.zeros::<u32>(1)?, lab.ctx.zeros::<u32>(1)?);
    let (from, to, stream) = (source.as_raw(), destination.as_raw(), lab.stream.as_raw());
    let raw = || {
        // SAFETY: both have 4 bytes and are the benchmark's.
        succeed(unsafe { (lab.symbols.cuMemcpyDtoDAsync)(to, from, 4, stream) })
    };
    let ours = |n| {
        lab.stream.scope(|s| {
            let mut destination = destination.lend(s);
            repeat(n, || s.copy(&source, &mut destination))
        })
    };
    plan.compare(|n| lab.queue(n, raw), ours)
}

fn write(lab: &Lab<'_>, plan: Plan, host: &[u32]) -> Result<Comparison> {
    let mut memory = lab.ctx.zeros::<u32>(host.len())?;
    let (to, from, bytes) = (memory.as_raw(), host.as_ptr().cast(), size_of_val(host));
    let stream = lab.stream.as_raw();
    let raw = || {
        // SAFETY: both have `bytes`; `host` stays borrowed until `queue` has waited.
        succeed(unsafe { (lab.symbols.cuMemcpyHtoDAsync)(to, from, bytes, stream) })
    };
    let ours = |n| {
        lab.stream.scope(|s| {
            let mut memory = memory.lend(s);
            repeat(n, || s.write(host, &mut memory))
        })
    };
    plan.compare(|n| lab.queue(n, raw), ours)
}

fn write_pinned(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    write(lab, plan, &lab.ctx.pinned_from(&[7])?)
}

/// Bytes of the copies whose bandwidth is compared.
const LARGE: usize = 256 * MIB;

/// The whole way, the wait included.
fn write_large(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let host = lab.ctx.pinned_zeros::<u8>(LARGE)?;
    let mut memory = lab.ctx.zeros::<u8>(LARGE)?;
    let (to, from, stream) = (memory.as_raw(), host.as_ptr().cast(), lab.stream.as_raw());
    let raw = || {
        // SAFETY: both have as many bytes; `host` lives until the stream has been waited for.
        succeed(unsafe { (lab.symbols.cuMemcpyHtoDAsync)(to, from, LARGE, stream) })?;
        // SAFETY: the stream is live.
        succeed(unsafe { (lab.symbols.cuStreamSynchronize)(stream) })
    };
    let mut ours = || lab.stream.scope(|s| s.write(&host, &mut memory.lend(s)));
    plan.compare(|n| repeat(n, raw), |n| repeat(n, &mut ours))
}

/// As [`write_large`].
fn read_large(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let mut host = lab.ctx.pinned_zeros::<u8>(LARGE)?;
    let memory = lab.ctx.zeros::<u8>(LARGE)?;
    let (to, from, stream) = (
        host.as_mut_ptr().cast(),
        memory.as_raw(),
        lab.stream.as_raw(),
    );
    let raw = || {
        // SAFETY: both have as many bytes; nothing else touches `host` until the stream has been
        // waited for.
        succeed(unsafe { (lab.symbols.cuMemcpyDtoHAsync)(to, from, LARGE, stream) })?;
        // SAFETY: the stream is live.
        succeed(unsafe { (lab.symbols.cuStreamSynchronize)(stream) })
    };
    let mut ours = || lab.stream.scope(|s| s.read(&memory, &mut host));
    plan.compare(|n| repeat(n, raw), |n| repeat(n, &mut ours))
}

fn hand_over(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let mut memory = lab.ctx.zeros::<u32>(1)?;
    let mut event = CUevent::NULL;
    // SAFETY: the out-pointer is valid for the call, and the lab's context is current.
    succeed(unsafe { (lab.symbols.cuEventCreate)(&raw mut event, CU_EVENT_DISABLE_TIMING) })?;
    let (stream, other) = (lab.stream.as_raw(), lab.other.as_raw());
    let raw = || {
        order_raw(lab, event, stream, other)?;
        order_raw(lab, event, other, stream)
    };
    let comparison = plan.compare(
        |n| lab.queue(n, raw),
        |n| {
            scope(|scope| {
                scope.on(&lab.stream, |a| {
                    scope.on(&lab.other, |b| {
                        let mut home = Some(memory.lend(a));
                        repeat(n, || {
                            if let Some(memory) = home.take() {
                                home = Some(memory.hand_over(a, b)?.hand_over(b, a)?);
                            }
                            Ok(())
                        })
                    })
                })
            })
        },
    );
    // SAFETY: live, and not used afterwards.
    succeed(unsafe { (lab.symbols.cuEventDestroy)(event) })?;
    comparison
}

fn event_record(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let event = lab.ctx.new_event()?;
    let raw = || {
        // SAFETY: event and stream are live, of one context.
        succeed(unsafe { (lab.symbols.cuEventRecord)(event.as_raw(), lab.stream.as_raw()) })
    };
    plan.compare(
        |n| lab.queue(n, raw),
        |n| lab.stream.scope(|s| repeat(n, || s.record(&event))),
    )
}

/// Makes stream `after` wait for what `before` has been given.
#[inline]
fn order_raw(lab: &Lab<'_>, event: CUevent, before: CUstream, after: CUstream) -> Result<()> {
    // SAFETY: event and streams are live, of one context.
    succeed(unsafe { (lab.symbols.cuEventRecord)(event, before) })?;
    // SAFETY: as above.
    succeed(unsafe { (lab.symbols.cuStreamWaitEvent)(after, event, 0) })
}

fn empty_scope(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let raw = || {
        // SAFETY: the stream is live.
        succeed(unsafe { (lab.symbols.cuStreamSynchronize)(lab.stream.as_raw()) })
    };
    plan.compare(
        |n| repeat(n, raw),
        |n| repeat(n, || lab.stream.scope(|_| Ok(()))),
    )
}

/// An allocation at rest: usable on every stream when it returns.
fn allocate(lab: &Lab<'_>, bytes: usize) -> Result<()> {
    lab.ctx.uninit::<u8>(bytes).map(drop)
}

/// Against the same three calls on a pool like the crate's.
fn pool(lab: &Lab<'_>, plan: Plan, bytes: usize) -> Result<Comparison> {
    let pool = RawPool::new(lab.symbols, lab.ctx.device().as_raw())?;
    let stream = lab.stream.as_raw();
    let raw = || {
        let mut address = 0;
        // SAFETY: pool and stream are live, the out-pointer is valid for the call.
        succeed(unsafe {
            (lab.symbols.cuMemAllocFromPoolAsync)(&raw mut address, bytes, pool.raw, stream)
        })?;
        // SAFETY: the stream is live.
        succeed(unsafe { (lab.symbols.cuStreamSynchronize)(stream) })?;
        // SAFETY: just allocated, and not used afterwards.
        succeed(unsafe { (lab.symbols.cuMemFreeAsync)(address, stream) })
    };
    plan.compare(
        |n| lab.queue(n, raw),
        |n| repeat(n, || allocate(lab, bytes)),
    )
}

/// Against `cuMemAlloc` and `cuMemFree`.
fn old(lab: &Lab<'_>, plan: Plan, bytes: usize) -> Result<Comparison> {
    let old = OldAllocator::of(lab.ctx.driver());
    let raw = || {
        let mut address = 0;
        // SAFETY: the lab's context is current, the out-pointer is valid for the call.
        succeed(unsafe { (old.allocate)(&raw mut address, bytes) })?;
        // SAFETY: just allocated, and not used afterwards.
        succeed(unsafe { (old.free)(address) })
    };
    plan.compare(|n| repeat(n, raw), |n| repeat(n, || allocate(lab, bytes)))
}

fn stream(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let raw = || {
        let mut stream = CUstream::NULL;
        // SAFETY: the lab's context is current, the out-pointer is valid for the call.
        succeed(unsafe { (lab.symbols.cuStreamCreate)(&raw mut stream, CU_STREAM_NON_BLOCKING) })?;
        // SAFETY: just created, and not used afterwards.
        succeed(unsafe { (lab.symbols.cuStreamDestroy)(stream) })
    };
    plan.compare(
        |n| repeat(n, raw),
        |n| repeat(n, || lab.ctx.new_stream().map(drop)),
    )
}

/// Of a device whose context is retained already, by the lab.
fn with_device(lab: &Lab<'_>, plan: Plan) -> Result<Comparison> {
    let (driver, device) = (lab.ctx.driver(), lab.ctx.device());
    let raw = || {
        let mut context = CUcontext::NULL;
        // SAFETY: the out-pointer is valid for the call.
        succeed(unsafe {
            (lab.symbols.cuDevicePrimaryCtxRetain)(&raw mut context, device.as_raw())
        })?;
        // SAFETY: retained.
        succeed(unsafe { (lab.symbols.cuCtxPushCurrent)(context) })?;
        // SAFETY: pops what was pushed; the out-pointer is valid for the call.
        succeed(unsafe { (lab.symbols.cuCtxPopCurrent)(&raw mut context) })?;
        // SAFETY: gives back the retain of this closure.
        succeed(unsafe { (lab.symbols.cuDevicePrimaryCtxRelease)(device.as_raw()) })
    };
    plan.compare(
        |n| repeat(n, raw),
        |n| repeat(n, || driver.with_device(device.ordinal(), |_| Ok(()))),
    )
}
