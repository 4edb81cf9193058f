//! Images: loading with options, and linking.

#![allow(unsafe_code)] // binary images

use crate::Program;
use crate::common::PTX;
use scoped_cuda::{Context, JitOptions, LinkedImage, Out, Result};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("images", |driver| driver.with_device(0, images)),
    ("linking", |driver| driver.with_device(0, linking)),
    ("linking for another device", |driver| {
        let linked = driver.with_device(1, link)?;
        driver.with_device(0, |ctx| ctx.load_linked(&linked).map(drop))
    }),
];

const KERNEL: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("../common/link_kernel.ptx");
const HELPER: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("../common/link_helper.ptx");

fn images(ctx: Context<'_>) -> Result<()> {
    let options = JitOptions::default().line_info(true).verbose(true);
    let module = ctx.load_ptx_with(PTX, &options)?;
    assert!(module.log().contains("'scale'"));
    module.kernel::<()>("nothing")?;
    Ok(())
}

fn link(ctx: Context<'_>) -> Result<LinkedImage> {
    let mut linker = ctx.linker(&JitOptions::default())?;
    linker.add_ptx("helper.ptx", HELPER)?;
    linker.add_ptx("kernel.ptx", KERNEL)?;
    linker.finish()
}

fn linking(ctx: Context<'_>) -> Result<()> {
    let linked = link(ctx)?;
    drop(ctx.linker(&JitOptions::default())?);
    let module = ctx.load_linked(&linked)?;
    module.kernel::<(Out<u32>,)>("linked")?;
    // SAFETY: the linker's, unchanged.
    let again = unsafe { ctx.load_cubin(linked.bytes()) }?;
    again.kernel::<(Out<u32>,)>("linked")?;
    Ok(())
}
