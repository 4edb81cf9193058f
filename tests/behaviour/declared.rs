//! Kernels and variables that are declared with `kernels!`: loaded, launched, read and written.
//! Claims C5, C9, C12.

#![allow(unsafe_code)] // launches, and vouches for kernels

use crate::common::link::{KERNEL, assert_linked, fatbin, link};
use crate::common::{in_context, ptx};
use bytemuck::{Pod, Zeroable};
use scoped_cuda::kernel::declared;
use scoped_cuda::{Error, In, InOut, JitOptions, LaunchConfig, Out, WithLen, kernels};

/// As `common/kernels.ptx` has it.
const SHORT_X: &str = "n is at most the length of x";

kernels! {
    /// Some kernels of the tests.
    #[derive(Debug)]
    struct Tests<'ctx>;

    // SAFETY: y[i] += x[i] for i below n only, whatever the grid.
    unsafe extern "../common/kernels.ptx" {
        /// y += x
        safe fn add(x: In<u32>, y: InOut<u32>, n: u32) when {
            "n is at most the length of x": n as usize <= x,
            "n is at most the length of y": n as usize <= y,
        };
        unsafe fn "add" as plus(x: In<u32>, y: WithLen<InOut<u32>, u32>);
    }
}

#[derive(Clone, Copy, Pod, Zeroable, PartialEq, Debug)]
#[repr(C)]
struct Line {
    slope: f32,
    intercept: f32,
}

kernels! {
    /// `to[i] = line.slope * table[i] + line.intercept`, and how often that was done.
    struct Lines<'ctx>;

    // SAFETY: one block writes `to[i]` for each of its threads i and reads `table[i]`, of which
    // there are four. It writes no variable.
    unsafe extern ptx!(LINES) {
        safe fn line(line: Line, to: Out<f32>) when |config| {
            "there is one block in one row": config.blocks() == 1
                && config.threads_per_block() == u64::from(config.block()[0]),
            "to and table have an element for each thread":
                config.threads_per_block() <= to.min(4) as u64,
        };
        /// total += 1, by each thread
        unsafe fn "math::count" as count();
        static table: [f32; 4];
        static "shown::total" as total: u32;
    }
}

const LINES: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .const .align 4 .f32 table[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
.visible .global .align 4 .u32 _ZN5shown5totalE = 5;
.visible .entry line(.param .align 4 .b8 line_0[8], .param .u64 .ptr .align 4 line_1)
{
    .reg .f32 %f<5>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<7>;
    ld.param.f32 %f1, [line_0];
    ld.param.f32 %f2, [line_0+4];
    ld.param.u64 %rd1, [line_1];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    mov.u64 %rd4, table;
    add.s64 %rd5, %rd4, %rd3;
    ld.const.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f3, %f2;
    add.s64 %rd6, %rd2, %rd3;
    st.global.f32 [%rd6], %f4;
    ret;
}
.visible .entry _ZN4math5countEv()
{
    .reg .b32 %r<2>;
    atom.global.add.u32 %r1, [_ZN5shown5totalE], 1;
    ret;
}
";

kernels! {
    /// The same in a fatbin, which the driver is given.
    struct LinesOfFatbin<'ctx>;

    // SAFETY: the fatbin holds this text, as `fatbin_beside_its_ptx_is_loaded` sees to.
    unsafe extern ptx!(LINES) with fatbin("declared.fatbin") {
        unsafe fn line(line: Line, to: Out<f32>);
        static table: [f32; 4];
    }
}

const LINE: Line = Line {
    slope: 2.0,
    intercept: 0.5,
};

#[test]
fn declared_kernels_are_loaded_and_launched() {
    in_context(|ctx| {
        let (tests, stream) = (Tests::load(ctx)?, ctx.new_stream()?);
        let (x, mut y) = (ctx.upload(&[1u32, 2, 3])?, ctx.upload(&[10u32, 20, 30])?);
        let config = LaunchConfig::for_elements(3);
        stream.scope(|s| {
            let mut y = y.lend(s);
            tests.add(s, config, &x, &mut y, 3)?;
            // SAFETY: both have three elements.
            unsafe { tests.plus(s, config, &x, &mut y) }
        })?;
        assert_eq!(y.to_vec()?, [12, 24, 36]);

        let error = stream.scope(|s| tests.add(s, config, &x, &mut y.lend(s), 4));
        let (kernel, precondition) = ("add".into(), SHORT_X);
        assert_eq!(
            error,
            Err(Error::Precondition {
                kernel,
                precondition
            })
        );
        Ok(())
    });
}

/// What is declared is there with its types, for what the methods do not do.
#[test]
fn kernels_are_shown_with_their_types() {
    in_context(|ctx| {
        let (tests, stream) = (
            Tests::load_with(ctx, &JitOptions::default())?,
            ctx.new_stream()?,
        );
        let kernels = tests.kernels();
        assert_eq!(kernels.add.kernel().name(), "add");
        assert_eq!(kernels.add.preconditions().next(), Some(SHORT_X));
        assert_eq!(
            kernels.plus.attributes()?,
            kernels.add.kernel().attributes()?
        );
        assert_eq!(tests.module().parameters("add")?.len(), 3);

        let (x, mut y) = (ctx.upload(&[1u32, 2])?, ctx.zeros::<u32>(2)?);
        stream.scope(|s| {
            let arguments = (&x, &mut y.lend(s), 2);
            kernels
                .add
                .launch(s, LaunchConfig::for_elements(2), arguments)
        })?;
        assert_eq!(y.to_vec()?, [1, 2]);
        Ok(())
    });
}

/// A struct by value; variables by their types; symbols by what C++ calls them.
#[test]
fn variables_are_read_and_written_between_launches() {
    in_context(|ctx| {
        let (mut lines, stream) = (Lines::load(ctx)?, ctx.new_stream()?);
        let mut to = ctx.zeros::<f32>(4)?;
        assert_eq!(lines.table().get()?, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(lines.total().get()?, 5);
        let config = LaunchConfig::new([1; 3], [4, 1, 1]);
        stream.scope(|s| lines.line(s, config, LINE, &mut to.lend(s)))?;
        assert_eq!(to.to_vec()?, [2.5, 4.5, 6.5, 8.5]);

        // SAFETY: each thread adds one, atomically.
        stream.scope(|s| unsafe { lines.count(s, LaunchConfig::new([2, 1, 1], [3, 1, 1])) })?;
        assert_eq!(lines.total().get()?, 11);

        let mut variables = lines.variables_mut();
        variables.table.set([0.0, 10.0, 20.0, 30.0])?;
        variables.total.set(7)?;
        assert_eq!(variables.total.get()?, 7);
        stream.scope(|s| lines.line(s, config, LINE, &mut to.lend(s)))?;
        assert_eq!(to.to_vec()?, [0.5, 20.5, 40.5, 60.5]);
        assert_eq!(lines.total().get()?, 7);
        Ok(())
    });
}

/// The header has the one handle of each of its variables, so nobody else writes them.
#[test]
fn variables_of_a_header_are_taken() {
    in_context(|ctx| {
        let lines = Lines::load(ctx)?;
        let error = lines.module().global::<f32>("table", 4).unwrap_err();
        let name = "table".into();
        assert_eq!(error, Error::GlobalTaken { name });
        let table = lines.table().as_slice();
        assert_eq!(
            (table.len(), table.to_vec()?),
            (1, vec![[1.0, 2.0, 3.0, 4.0]])
        );
        Ok(())
    });
}

/// A launch with too few elements behind its variable is refused.
#[test]
fn preconditions_see_the_configuration() {
    in_context(|ctx| {
        let (lines, stream) = (Lines::load(ctx)?, ctx.new_stream()?);
        let mut to = ctx.zeros::<f32>(8)?;
        let config = LaunchConfig::new([1; 3], [5, 1, 1]);
        let error = stream.scope(|s| lines.line(s, config, LINE, &mut to.lend(s)));
        let precondition = "to and table have an element for each thread";
        let kernel = "line".into();
        assert_eq!(
            error,
            Err(Error::Precondition {
                kernel,
                precondition
            })
        );
        Ok(())
    });
}

/// What is loaded when the program runs is compared in the same way.
#[test]
fn alignment_of_a_struct_is_compared_when_text_is_loaded() {
    in_context(|ctx| {
        let module = ctx.load_ptx(ptx(LINES))?;
        module.kernel::<(Line, Out<f32>)>("line")?;
        let error = module.kernel::<(f64, Out<f32>)>("line").unwrap_err();
        assert_eq!(
            error,
            Error::ArgAlign {
                kernel: "line".into(),
                index: 0,
                want: 8,
                got: ".align 4 .b8[8]".into()
            }
        );
        assert_eq!(
            error.to_string(),
            "parameter 0 of kernel `line` is declared `.align 4 .b8[8]`, the Rust type is aligned to 8 bytes"
        );
        Ok(())
    });
}

#[test]
fn fatbin_beside_its_ptx_is_loaded() {
    let made = fatbin(&[(1, (7, 5), LINES.as_bytes())]);
    assert!(
        made == include_bytes!("declared.fatbin"),
        "the file is stale"
    );
    in_context(|ctx| {
        let (lines, stream) = (LinesOfFatbin::load(ctx)?, ctx.new_stream()?);
        let mut to = ctx.zeros::<f32>(3)?;
        stream.scope(|s| {
            let config = LaunchConfig::new([1; 3], [3, 1, 1]);
            // SAFETY: it stores an element for each of three threads, and reads as many.
            unsafe { lines.line(s, config, LINE, &mut to.lend(s)) }
        })?;
        assert_eq!(to.to_vec()?, [2.5, 4.5, 6.5]);
        assert_eq!(lines.table().get()?, [1.0, 2.0, 3.0, 4.0]);
        Ok(())
    });
}

/// Machine code does not tell what is a pointer. The text that it was compiled from does.
#[test]
fn cubin_beside_its_ptx_is_compared_with_it() {
    in_context(|ctx| {
        let options = JitOptions::default();
        let linked = link(ctx, &options)?;
        // SAFETY: the driver has just made it, of this text and another.
        let module = unsafe { declared::cubin(ctx, linked.bytes(), KERNEL, &options) }?;
        assert_linked(&module)?;
        let error = module.kernel::<(f64,)>("linked").unwrap_err();
        assert!(matches!(error, Error::ArgKind { index: 0, .. }), "{error}");
        Ok(())
    });
}
