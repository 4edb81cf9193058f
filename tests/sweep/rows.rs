//! Rows: memory in two and three dimensions.

use crate::Program;
use scoped_cuda::error::CloseError;
use scoped_cuda::{Context, Extent, HostRows, HostRowsMut, Result, scope};

pub(crate) const PROGRAMS: &[(&str, Program)] = &[
    ("rows at rest", |driver| driver.with_device(0, rows_at_rest)),
    ("rows at rest, another context current", |driver| {
        driver.with_device(0, |ctx| driver.with_device(1, |_| rows_at_rest(ctx)))
    }),
    ("rows in scopes", |driver| {
        driver.with_device(0, rows_in_scopes)
    }),
];

fn rows_at_rest(ctx: Context<'_>) -> Result<()> {
    let (image, volume) = (Extent::new(3, 2), Extent::new(3, 2).slices(2));
    for extent in [image, volume] {
        let host: Vec<u32> = (0..extent.elements().unwrap() as u32).collect();
        let source = ctx.upload_rows(&host, extent)?;
        let mut rows = ctx.zeros_rows::<u32>(extent)?;
        rows.copy_from(&source)?;
        rows.region_mut(..1, 1.., ..)?.fill(9)?;
        let mut strided = vec![7; 10 * extent.height * extent.depth];
        rows.read(HostRowsMut::strided(&mut strided, extent, 10)?)?;
        assert_eq!(strided[..14], [0, 1, 2, 7, 7, 7, 7, 7, 7, 7, 9, 4, 5, 7]);
        rows.write(HostRows::strided(&strided, extent, 10)?)?;
        assert_eq!(rows.to_vec()?[..6], [0, 1, 2, 9, 4, 5]);
    }
    ctx.zeros_rows::<u8>(image)?.fill(1)?;
    ctx.zeros_rows::<u16>(volume)?.fill(1)?;
    let rows = ctx.zeros_rows::<u8>(image)?;
    if let Err(CloseError {
        value: rows, error, ..
    }) = rows.close()
    {
        if ctx.driver().first_fault().is_none() {
            assert_eq!(rows.to_vec()?, [0; 6]);
        }
        return Err(error);
    }
    Ok(())
}

fn rows_in_scopes(ctx: Context<'_>) -> Result<()> {
    let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
    let extent = Extent::new(3, 2).slices(2);
    let (source, mut back) = ([4u32; 12], [0; 12]);
    let mut rows = ctx.zeros_rows::<u32>(extent)?;
    scope(|scope| {
        scope.on(&first, |a| {
            let mut scratch = a.zeros_rows::<u32>(extent)?;
            let mut lent = rows.lend(a);
            a.write_rows(&source, &mut lent)?;
            a.fill_rows(&mut lent.region_mut(.., ..1, ..)?, 5)?;
            a.copy_rows(&lent, &mut scratch)?;
            scope.on(&second, |b| {
                let scratch = scratch.hand_over(a, b)?;
                b.read_rows(&scratch, &mut back)
            })
        })
    })?;
    assert_eq!(back, [5, 5, 5, 4, 4, 4, 5, 5, 5, 4, 4, 4]);
    Ok(())
}
