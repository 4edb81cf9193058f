//! An all-reduce over every device through NCCL, on this crate's streams and memory: `cargo run
//! --example nccl_allreduce`.
//!
//! One thread and one `with_device` for each device. NCCL is given the stream and the address as
//! numbers; what makes that sound is that the memory is lent to the scope, and that the scope waits
//! for the stream before the memory is at rest again.
//!
//! Needs the real driver and NCCL: `libnccl.so.2` where the system finds libraries, or its path in
//! `NCCL_LIBRARY`. Without one of them it says so and runs nothing.

#![allow(unsafe_code)] // loads a C library and calls it

use libloading::Library;
use scoped_cuda::{Context, Driver, LentSlice, ScopedStream};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::time::{Duration, Instant};
use std::{env, process, ptr, thread};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// 64 MiB of `f32` on each device.
const N: usize = 16 << 20;
/// All-reduces that are measured.
const ROUNDS: u32 = 20;

fn main() -> Result<(), Failure> {
    // Between devices of one process NCCL would write into the memory of its peers. This crate's
    // memory is reachable for another device only where a `Transfer` made it so; NCCL has this
    // switch for such memory, and then copies through buffers of its own.
    const COPY_THROUGH_BUFFERS: &str = "NCCL_P2P_DIRECT_DISABLE";
    if env::var_os(COPY_THROUGH_BUFFERS).is_none() {
        // SAFETY: the program has no other thread yet.
        unsafe { env::set_var(COPY_THROUGH_BUFFERS, "1") };
    }
    let (driver, ranks) = match Driver::load().and_then(|d| Ok((d, d.device_count()?))) {
        Ok((_, 0)) => return not_run("there is a CUDA driver, but no device"),
        Ok(found) => found,
        Err(error) => return not_run(&error.to_string()),
    };
    let nccl = match Nccl::load() {
        Ok(nccl) => nccl,
        Err(tried) => {
            return not_run(&format!(
                "no NCCL: {tried}\ninstall it (libnccl2 of NVIDIA's package repository, or nvidia-nccl-cu13 with pip and its \
                 lib/libnccl.so.2 in NCCL_LIBRARY)"
            ));
        }
    };
    println!("NCCL {}, devices: {ranks}", nccl.version()?);

    let id = nccl.unique_id()?;
    let times = thread::scope(|threads| {
        let nccl = &nccl;
        let spawned: Vec<_> = (0..ranks)
            .map(|rank| {
                threads.spawn(move || {
                    one_rank(driver, nccl, id, rank, ranks).unwrap_or_else(|error| {
                        // The others would wait for this one for ever.
                        eprintln!("rank {rank}: {error}");
                        process::exit(1)
                    })
                })
            })
            .collect();
        spawned
            .into_iter()
            .map(|thread| thread.join())
            .collect::<Result<Vec<_>, _>>()
    });
    let slowest = times
        .map_err(|_| "a rank panicked")?
        .into_iter()
        .max()
        .unwrap_or_default();

    let bytes = N * size_of::<f32>();
    println!(
        "{} MiB on each of {ranks}: every sum is right on every device",
        bytes >> 20
    );
    let speed = bytes as f64 / 1e9 / (slowest / ROUNDS).as_secs_f64();
    // Each device sends, and receives, 2 (n - 1) / n of the data.
    let links = speed * 2.0 * f64::from(ranks - 1) / f64::from(ranks);
    println!(
        "{ROUNDS} all-reduces in {slowest:.2?}: {speed:.1} GB/s, {links:.1} GB/s over each device's links in each direction"
    );
    Ok(())
}

fn not_run(why: &str) -> Result<(), Failure> {
    println!("{why}");
    println!("this example needs NVIDIA's driver, a GPU and NCCL; nothing was run");
    Ok(())
}

/// What happens on each device, on a thread of its own. Returns how long the measured all-reduces
/// took.
fn one_rank(
    driver: Driver,
    nccl: &Nccl,
    id: UniqueId,
    rank: u32,
    ranks: u32,
) -> Result<Duration, Failure> {
    // Small whole numbers: their sums are exact, in whatever order they are made.
    let value = |rank: u32, i: usize| ((i + 31 * rank as usize) % 1000) as f32;
    driver.try_with_device(rank, |ctx| {
        let values: Vec<f32> = (0..N).map(|i| value(rank, i)).collect();
        let mut buffer = ctx.upload(&values)?;
        let stream = ctx.new_stream()?;
        // NCCL takes the device from the context that is current, which inside `with_device` is
        // `ctx`.
        let communicator = Communicator::new(nccl, ctx, id, rank, ranks)?;

        let mut sums = vec![0.0; N];
        stream.try_scope(|s| {
            let mut memory = buffer.lend(s);
            // SAFETY: every rank makes this call first, with N elements.
            unsafe { communicator.all_reduce_sum(s, &mut memory) }?;
            s.read(&memory, &mut sums)?;
            Ok::<_, Failure>(())
        })?;
        for (i, &sum) in sums.iter().enumerate() {
            let expected: f32 = (0..ranks).map(|rank| value(rank, i)).sum();
            if sum != expected {
                return Err(format!("element {i} is {sum}, not {expected}").into());
            }
        }

        let start = Instant::now();
        stream.try_scope(|s| {
            let mut memory = buffer.lend(s);
            s.fill(&mut memory, 0.0)?;
            for _ in 0..ROUNDS {
                // SAFETY: every rank makes these calls next, with N elements.
                unsafe { communicator.all_reduce_sum(s, &mut memory) }?;
            }
            Ok::<_, Failure>(())
        })?;
        Ok(start.elapsed())
    })
}

/// One rank of a group of devices, which lives in a context.
struct Communicator<'nccl, 'ctx> {
    nccl: &'nccl Nccl,
    /// A raw pointer, so that this stays on the thread on which the context is current.
    raw: *mut c_void,
    _context: Context<'ctx>,
}

impl<'nccl, 'ctx> Communicator<'nccl, 'ctx> {
    /// Waits until all `ranks` have come with the same `id`.
    fn new(
        nccl: &'nccl Nccl,
        context: Context<'ctx>,
        id: UniqueId,
        rank: u32,
        ranks: u32,
    ) -> Result<Self, Failure> {
        let mut raw = ptr::null_mut();
        let (rank, ranks) = (c_int::try_from(rank)?, c_int::try_from(ranks)?);
        // SAFETY: the out-pointer is valid for the call; NCCL checks the numbers.
        nccl.check(unsafe { (nccl.comm_init_rank)(&raw mut raw, ranks, id, rank) })?;
        Ok(Self {
            nccl,
            raw,
            _context: context,
        })
    }

    /// Enqueues: each element becomes the sum of those of all ranks. Borrowed for the scope, the
    /// communicator is destroyed after its wait.
    ///
    /// # Safety
    /// Every rank makes the same calls in the same order, with as many elements, and the
    /// communicator's context is current.
    unsafe fn all_reduce_sum<'s, 'scope>(
        &'scope self,
        s: ScopedStream<'s, 'scope, 'ctx>,
        memory: &mut LentSlice<'s, '_, 'ctx, f32>,
    ) -> Result<(), Failure> {
        const NCCL_FLOAT32: c_int = 7;
        const NCCL_SUM: c_int = 0;
        let (address, count) = (memory.as_raw() as *mut c_void, memory.len());
        let stream = s.stream().as_raw().as_ptr();
        // SAFETY: memory and stream are of the communicator's context (equal brands); the memory
        // has `count` elements in the order of this stream, lent until the scope has waited for it;
        // in place, which NCCL allows. The rest is the caller's promise.
        self.nccl.check(unsafe {
            (self.nccl.all_reduce)(
                address,
                address,
                count,
                NCCL_FLOAT32,
                NCCL_SUM,
                self.raw,
                stream,
            )
        })
    }
}

impl Drop for Communicator<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made in `new` and destroyed once; whatever it was given is complete, because each
        // scope borrowed it and has waited.
        let code = unsafe { (self.nccl.comm_destroy)(self.raw) };
        if let Err(error) = self.nccl.check(code) {
            eprintln!("{error}");
        }
    }
}

/// What the ranks of one group have in common: `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
struct UniqueId([u8; 128]);

/// The functions of NCCL that are needed here, as nccl.h declares them; results, types and
/// operations are C enums.
struct Nccl {
    get_version: unsafe extern "C" fn(*mut c_int) -> c_int,
    get_error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    comm_init_rank: unsafe extern "C" fn(*mut *mut c_void, c_int, UniqueId, c_int) -> c_int,
    comm_destroy: unsafe extern "C" fn(*mut c_void) -> c_int,
    all_reduce: unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        usize,
        c_int,
        c_int,
        *mut c_void,
        *mut c_void,
    ) -> c_int,
}

impl Nccl {
    /// The first of `NCCL_LIBRARY` and `libnccl.so.2` that opens; else what was tried.
    fn load() -> Result<Self, String> {
        let mut tried = Vec::new();
        let names = env::var_os("NCCL_LIBRARY")
            .into_iter()
            .chain(["libnccl.so.2".into()]);
        for name in names {
            // SAFETY: a library of this name is NCCL, whose initialisers may run on any thread.
            match unsafe { Library::new(&name) } {
                // Never unloaded: it has threads of its own.
                Ok(library) => return Self::from_library(Box::leak(Box::new(library))),
                Err(error) => tried.push(error.to_string()),
            }
        }
        Err(tried.join("; "))
    }

    fn from_library(library: &'static Library) -> Result<Self, String> {
        /// # Safety
        /// `T` is the type of the function of this name.
        unsafe fn get<T: Copy>(library: &'static Library, name: &str) -> Result<T, String> {
            // SAFETY: the caller's promise.
            let function = unsafe { library.get::<T>(name.as_bytes()) };
            function
                .map(|function| *function)
                .map_err(|error| error.to_string())
        }
        Ok(Self {
            // SAFETY: `ncclResult_t ncclGetVersion(int *)`.
            get_version: unsafe { get(library, "ncclGetVersion") }?,
            // SAFETY: `const char *ncclGetErrorString(ncclResult_t)`.
            get_error_string: unsafe { get(library, "ncclGetErrorString") }?,
            // SAFETY: `ncclResult_t ncclGetUniqueId(ncclUniqueId *)`.
            get_unique_id: unsafe { get(library, "ncclGetUniqueId") }?,
            // SAFETY: `ncclResult_t ncclCommInitRank(ncclComm_t *, int, ncclUniqueId, int)`.
            comm_init_rank: unsafe { get(library, "ncclCommInitRank") }?,
            // SAFETY: `ncclResult_t ncclCommDestroy(ncclComm_t)`.
            comm_destroy: unsafe { get(library, "ncclCommDestroy") }?,
            // SAFETY: `ncclResult_t ncclAllReduce(const void *, void *, size_t, ncclDataType_t,
            // ncclRedOp_t, ncclComm_t, cudaStream_t)`.
            all_reduce: unsafe { get(library, "ncclAllReduce") }?,
        })
    }

    fn version(&self) -> Result<String, Failure> {
        let mut version = 0;
        // SAFETY: the out-pointer is valid for the call.
        self.check(unsafe { (self.get_version)(&raw mut version) })?;
        let (major, minor, patch) = (version / 10_000, version / 100 % 100, version % 100);
        Ok(format!("{major}.{minor}.{patch}"))
    }

    fn unique_id(&self) -> Result<UniqueId, Failure> {
        let mut id = UniqueId([0; 128]);
        // SAFETY: the out-pointer is valid for the call.
        self.check(unsafe { (self.get_unique_id)(&raw mut id) })?;
        Ok(id)
    }

    /// Turns a result code into an error.
    fn check(&self, code: c_int) -> Result<(), Failure> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: any code may be asked about; the answer is a constant string of the library,
        // which is never unloaded.
        let text = unsafe { (self.get_error_string)(code) };
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(text) };
        Err(format!("NCCL: {} ({code})", text.to_string_lossy()).into())
    }
}
