//! What tests of images share: code to link, and what became of it.

#![allow(dead_code)] // each test binary uses a part
#![allow(unsafe_code)] // launches

use scoped_cuda::{Context, JitOptions, LaunchConfig, LinkedImage, Module, Out, Result};

/// Calls a function that [`HELPER`] has.
pub(crate) const KERNEL: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("link_kernel.ptx");
pub(crate) const HELPER: scoped_cuda::Ptx<'static> = scoped_cuda::include_ptx!("link_helper.ptx");

/// Launches `linked` of a module.
pub(crate) fn assert_linked(module: &Module<'_>) -> Result<()> {
    let ctx = module.context();
    let linked = module.kernel::<(Out<u32>,)>("linked")?;
    let (stream, mut to) = (ctx.new_stream()?, ctx.zeros::<u32>(1)?);
    stream.scope(|s| {
        let mut to = to.lend(s);
        // SAFETY: it stores one element.
        unsafe { s.launch(&linked, LaunchConfig::new([1; 3], [1; 3]), (&mut to,)) }
    })?;
    assert_eq!(to.to_vec()?, [42]);
    Ok(())
}

/// Kernel and function put together.
pub(crate) fn link(ctx: Context<'_>, options: &JitOptions) -> Result<LinkedImage> {
    let mut linker = ctx.linker(options)?;
    linker.add_ptx("kernel.ptx", KERNEL)?;
    linker.add_ptx("helper.ptx", HELPER)?;
    linker.finish()
}

/// A fatbin laid out as `fatbinary --compress=false` does it: an entry for each of the images, text
/// (kind 1) or code (kind 2) for a compute capability.
pub(crate) fn fatbin(images: &[(u16, (u32, u32), &[u8])]) -> Vec<u8> {
    let mut entries = Vec::new();
    for &(kind, (major, minor), image) in images {
        // Text has a place for options, which are empty.
        let options: &[u32] = if kind == 1 { &[0x48, 0, 0, 0] } else { &[] };
        let bytes = image.len().next_multiple_of(8);
        let version = if kind == 1 { [0, 8] } else { [8, 1] };
        let header_bytes = 64 + 4 * options.len() as u32;
        entries.extend([kind, 0x0101].map(u16::to_le_bytes).concat());
        entries.extend(header_bytes.to_le_bytes());
        entries.extend((bytes as u64).to_le_bytes());
        entries.extend(
            [0, if kind == 1 { 64 } else { 0_u32 }]
                .map(u32::to_le_bytes)
                .concat(),
        );
        entries.extend(version.map(u16::to_le_bytes).concat());
        entries.extend([10 * major + minor, 0, 0].map(u32::to_le_bytes).concat());
        entries.extend([0x11, 0, 0_u64].map(u64::to_le_bytes).concat());
        entries.extend(options.iter().flat_map(|number| number.to_le_bytes()));
        entries.extend(image);
        entries.resize(entries.len() + bytes - image.len(), 0);
    }
    let mut fatbin = b"\x50\xed\x55\xba\x01\x00\x10\x00".to_vec();
    fatbin.extend((entries.len() as u64).to_le_bytes());
    fatbin.extend(entries);
    fatbin
}

/// How often the simulated driver was asked to load or link something.
pub(crate) fn asked(ctx: Context<'_>) -> usize {
    let is_about_images = |call: &&&str| {
        matches!(
            **call,
            "cuModuleLoadDataEx" | "cuLinkCreate" | "cuLinkAddData" | "cuLinkComplete"
        )
    };
    let machine = ctx.driver().machine();
    machine.map_or(0, |machine| {
        machine.trace().iter().filter(is_about_images).count()
    })
}
