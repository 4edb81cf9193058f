//! PTX, read, executed and checked without a GPU.
//!
//! [`Module::parse`] reads the text form of PTX and lowers it. [`launch`] runs a kernel: warp by
//! warp, each instruction over 32 lanes at once, blocks on as many threads of the host as
//! [`Options`] says. Every access is checked. The first mistake ends the launch as a [`Finding`],
//! which names the kernel, the line of the source, the block, the thread, the address and the
//! allocation nearest to it.
//!
//! The host provides the memory: a [`Memory`] finds the [`Region`] that holds an address. A region
//! keeps its bytes and what is known of each: whether it was written, and who accessed it last in
//! this launch.
//!
//! ```
//! use scoped_cuda_ptx::{Memory, Module, Options, Region, Shape, launch};
//! use std::sync::Arc;
//!
//! let module = Module::parse(
//!     ".version 8.0
//!      .target sm_90
//!      .address_size 64
//!      .visible .entry count(.param .u64 to)
//!      {
//!          .reg .b32 %r<2>;
//!          .reg .b64 %rd<4>;
//!          ld.param.u64 %rd1, [to];
//!          mov.u32 %r1, %tid.x;
//!          mul.wide.u32 %rd2, %r1, 4;
//!          add.s64 %rd3, %rd1, %rd2;
//!          st.global.u32 [%rd3], %r1;
//!          ret;
//!      }",
//! )?;
//!
//! struct OneRegion(Arc<Region>);
//!
//! impl Memory for OneRegion {
//!     fn region(&self, address: u64) -> Option<Arc<Region>> {
//!         let offset = address.wrapping_sub(self.0.base());
//!         (offset < self.0.bytes()).then(|| self.0.clone())
//!     }
//!     fn nearest(&self, _: u64) -> Option<Arc<Region>> {
//!         Some(self.0.clone())
//!     }
//! }
//!
//! let memory = OneRegion(Arc::new(Region::owned(0x1000, 128, 0, "the output")));
//! let kernel = module.kernel("count").ok_or("there is no kernel")?;
//! let parameters = 0x1000u64.to_le_bytes();
//! let options = Options::default();
//!
//! launch(kernel, &Shape::linear(1, 32), &parameters, &[], &memory, &options)?;
//! assert_eq!(memory.0.read(4, 4), [1, 0, 0, 0]);
//!
//! // A block of 64 threads writes beyond the end.
//! let wrong = launch(kernel, &Shape::linear(1, 64), &parameters, &[], &memory, &options);
//! let finding = wrong.expect_err("a finding");
//! assert_eq!(finding.address, Some(0x1080));
//! assert_eq!(finding.thread.thread, [32, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What is not executed is told before a launch: [`Module::check_supported`] names the instruction
//! and its line. These are matrix instructions (`mma`, `wmma`, `wgmma`, `tcgen05`), bulk copies and
//! tensor maps, textures and surfaces, video instructions but for `dp4a` and `dp2a`, `alloca`, and
//! registers of 128 bits.
//!
//! # Where results can differ from a device
//!
//! - Additions, products, fused products, divisions and square roots of every rounding mode,
//!   conversions and comparisons give the bits that IEEE 754 asks for. Functions that the ISA calls
//!   approximate are computed in double precision and rounded; a device may give another number
//!   within the ISA's error.
//! - `mul` and `add` of floats without a rounding modifier are rounded one by one here. ptxas may
//!   fuse them into one `fma`; with `.rn` it does not.
//! - Lanes that part at a branch meet again at the first step where they can. A device may keep
//!   them apart for longer, so `activemask` may differ.
//! - The order of atomics of several threads is fixed for one host thread, and free for several, as
//!   it is on a device.
//!
//! # Data races
//!
//! Two accesses of two threads to the same bytes are a race when one is a write and nothing orders
//! them. Barriers, `bar.warp.sync`, cluster barriers and `mbarrier` order. A fence or a release
//! orders what came before it with what comes after a later acquire, atomic or volatile load of
//! another block. Accesses that are both atomic, volatile, relaxed, acquire or release do not race
//! with each other, and neither do two writes of the same value. What is told is a race. Some races
//! are not told: a word remembers one writer and two readers, and an acquire counts for every
//! release before it.

#![forbid(unsafe_code)]

mod check;
mod exec;
mod memory;
mod program;
mod text;

pub use check::{Access, Class, Finding, Nearest, Thread};
pub use exec::{Options, Shape, launch};
pub use memory::{Memory, Region, Storage};
pub use program::{Kernel, Module, ModuleVariable, NotSimulated, Parameter, Pointer, Relocation};
pub use text::position::ParseError;
pub use text::types::{Space, Type};
