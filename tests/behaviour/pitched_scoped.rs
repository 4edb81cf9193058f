//! Device memory in rows, in scopes and in kernels. Claims C5, C6.

#![allow(unsafe_code)] // launches

use crate::common::rows::{CANARY, numbers, part};
use crate::common::{Gate, in_context, is_busy, on_driver};
use scoped_cuda::memory::{Axis, HostLayout};
use scoped_cuda::{Extent, HostRowsMut, In, InOut, LaunchConfig, Out, PitchedBuffer, Rows, scope};

#[test]
fn operations_in_a_scope() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        for whole in [Extent::new(67, 9), Extent::new(67, 9).slices(4)] {
            let host = numbers(whole);
            let layout = HostLayout {
                row_stride: 70,
                slice_rows: 10,
            };
            let mut pitched = ctx.zeros_rows::<u32>(whole)?;
            let fixed = ctx.upload_rows(&[1u32, 2, 3, 4, 5, 6], Extent::new(3, 2))?;
            let mut strided = vec![CANARY; 70 * 10 * 4];
            let mut corner = [0; 6];
            stream.scope(|s| {
                let mut scratch = s.zeros_rows::<u32>(whole)?;
                let mut lent = pitched.lend(s);
                s.write_rows(&host, &mut scratch)?;
                s.copy_rows(&scratch, &mut lent)?;
                s.fill_rows(&mut lent.region_mut(10..20, 2..4, ..)?, 7)?;
                s.copy_rows(&fixed, &mut lent.region_mut(64.., 7.., ..1)?)?;
                s.copy_rows(
                    fixed.region(.., 1.., ..)?,
                    &mut lent.region_mut(..3, ..1, ..1)?,
                )?;
                s.read_rows(&lent.region(64.., 7.., ..1)?, &mut corner)?;
                s.read_rows(&scratch, HostRowsMut::new(&mut strided, whole, layout)?)
            })?;
            assert_eq!(corner, [1, 2, 3, 4, 5, 6]);
            let now = pitched.to_vec()?;
            for (i, value) in now.iter().enumerate() {
                let (x, y, z) = (i % 67, i / 67 % 9, i / 67 / 9);
                let expected = match (x, y, z) {
                    (64.., 7.., 0) => (x - 64 + 3 * (y - 7) + 1) as u32,
                    (..3, 0, 0) => x as u32 + 4,
                    (10..20, 2..4, _) => 7,
                    _ => host[i],
                };
                assert_eq!(*value, expected, "{x}, {y}, {z}");
            }
            for (i, value) in strided.iter().enumerate() {
                let (x, y, z) = (i % 70, i / 70 % 10, i / 700);
                let is_element = x < 67 && y < 9 && z < whole.depth;
                let expected = match is_element {
                    true => host[(z * 9 + y) * 67 + x],
                    false => CANARY,
                };
                assert_eq!(*value, expected, "{x}, {y}, {z}");
            }
        }
        Ok(())
    });
}

/// B65: what is handed over is ordered after the stream it comes from, and freed on the stream it
/// went to.
#[test]
fn rows_are_handed_over() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let extent = Extent::new(33, 20).slices(3);
        let len = extent.elements().unwrap();
        let mut pitched = ctx.zeros_rows::<u32>(extent)?;
        let mut copy = ctx.zeros_rows::<u32>(extent)?;
        scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let gate = Gate::close(&first);
                    let mut lent = pitched.lend(a);
                    let mut scratch = a.zeros_rows::<u32>(extent)?;
                    a.fill_rows(&mut lent, 6)?;
                    a.copy_rows(&lent, &mut scratch)?;
                    let lent = lent.hand_over(a, b)?;
                    let scratch = scratch.hand_over(a, b)?;
                    b.copy_rows(&scratch, &mut copy.lend(b))?;
                    drop((lent, scratch));
                    assert!(is_busy(&second), "the second stream waits for the first");
                    gate.open();
                    Ok(())
                })
            })
        })?;
        assert_eq!(pitched.to_vec()?, vec![6; len]);
        assert_eq!(copy.to_vec()?, vec![6; len]);
        Ok(())
    });
}

/// Memory that was allocated in a scope leaves it, at rest.
#[test]
fn rows_come_to_rest() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let extent = Extent::new(33, 20).slices(3);
        let host = numbers(extent);
        let mut lent = ctx.zeros_rows::<u32>(extent)?;
        let rows = stream.scope(|s| {
            let mut rows = s.zeros_rows::<u32>(extent)?;
            s.write_rows(&host, &mut rows)?;
            let (head, mut tail) = lent.lend(s).split_at_mut(Axis::X, 16)?;
            s.copy_rows(&rows.region(16.., .., ..)?, &mut tail)?;
            let (rows, mut head) = (rows.release(s)?, head.release(s)?);
            s.fill_rows(&mut tail.region_mut(1.., .., ..)?, 5)?;
            head.copy_from(&rows.region(..16, .., ..)?)?;
            Ok(rows)
        })?;
        assert_eq!(rows.to_vec()?, host);
        for (i, value) in lent.to_vec()?.into_iter().enumerate() {
            let expected = if i % 33 > 16 { 5 } else { host[i] };
            assert_eq!(value, expected, "{i}");
        }
        Ok(())
    });
}

/// Two streams write the two halves of each row at the same time.
#[test]
fn halves_on_two_streams() {
    in_context(|ctx| {
        let (first, second) = (ctx.new_stream()?, ctx.new_stream()?);
        let extent = Extent::new(1001, 50);
        let mut pitched = ctx.zeros_rows::<u32>(extent)?;
        let source = ctx.upload_rows(&numbers(extent), extent)?;
        let (left, right) = pitched.as_mut_slice().split_at_mut(Axis::X, 333)?;
        scope(|scope| {
            scope.on(&first, |a| {
                scope.on(&second, |b| {
                    let gate = Gate::close(&first);
                    let (mut left, mut right) = (left.lend(a), right.lend(b));
                    a.copy_rows(source.region(..333, .., ..)?, &mut left)?;
                    b.copy_rows(source.region(333.., .., ..)?, &mut right)?;
                    assert!(is_busy(&first));
                    gate.open();
                    Ok(())
                })
            })
        })?;
        assert_eq!(pitched.to_vec()?, numbers(extent));
        Ok(())
    });
}

/// void add_to_rows(unsigned *rows, size_t pitch, unsigned width, unsigned height, unsigned value):
/// one block for each row; and the same from one place to another.
const PTX: &str = "
.version 8.0
.target sm_75
.address_size 64

.visible .entry add_to_rows(.param .u64 rows, .param .u64 pitch, .param .u32 width, .param .u32 height, .param .u32 value)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [rows];
    ld.param.u64 %rd2, [pitch];
    ld.param.u32 %r1, [width];
    ld.param.u32 %r2, [height];
    ld.param.u32 %r3, [value];
    mov.u32 %r4, %tid.x;
    mov.u32 %r5, %ctaid.x;
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra DONE;
    setp.ge.u32 %p2, %r5, %r2;
    @%p2 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvt.u64.u32 %rd4, %r5;
    mul.lo.u64 %rd4, %rd4, %rd2;
    add.u64 %rd3, %rd3, %rd4;
    mul.wide.u32 %rd5, %r4, 4;
    add.u64 %rd3, %rd3, %rd5;
    ld.global.u32 %r6, [%rd3];
    add.u32 %r6, %r6, %r3;
    st.global.u32 [%rd3], %r6;
DONE:
    ret;
}

.visible .entry double_rows(.param .u64 from, .param .u64 from_pitch, .param .u64 to, .param .u64 to_pitch, .param .u32 width, .param .u32 height)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<12>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [from_pitch];
    ld.param.u64 %rd6, [to];
    ld.param.u64 %rd7, [to_pitch];
    ld.param.u32 %r1, [width];
    ld.param.u32 %r2, [height];
    mov.u32 %r4, %tid.x;
    mov.u32 %r5, %ctaid.x;
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra DONE;
    setp.ge.u32 %p2, %r5, %r2;
    @%p2 bra DONE;
    cvt.u64.u32 %rd4, %r5;
    mul.wide.u32 %rd5, %r4, 4;
    cvta.to.global.u64 %rd3, %rd1;
    mul.lo.u64 %rd8, %rd4, %rd2;
    add.u64 %rd3, %rd3, %rd8;
    add.u64 %rd3, %rd3, %rd5;
    ld.global.u32 %r6, [%rd3];
    add.u32 %r6, %r6, %r6;
    cvta.to.global.u64 %rd9, %rd6;
    mul.lo.u64 %rd10, %rd4, %rd7;
    add.u64 %rd9, %rd9, %rd10;
    add.u64 %rd9, %rd9, %rd5;
    st.global.u32 [%rd9], %r6;
DONE:
    ret;
}
";

#[test]
fn kernels_are_given_rows() {
    on_driver(|driver| {
        if let Some(machine) = driver.machine() {
            machine.kernel("add_to_rows", |call| {
                let pitch = call.scalar::<u64>(1) as usize / 4;
                let [width, height] = [2, 3].map(|index| call.scalar::<u32>(index) as usize);
                let value = call.scalar::<u32>(4);
                call.update::<u32>(0, |rows| {
                    let elements = (0..height).flat_map(|y| (0..width).map(move |x| y * pitch + x));
                    elements.for_each(|i| rows[i] += value);
                });
            });
            machine.kernel("double_rows", |call| {
                let [from_pitch, to_pitch] =
                    [1, 3].map(|index| call.scalar::<u64>(index) as usize / 4);
                let [width, height] = [4, 5].map(|index| call.scalar::<u32>(index) as usize);
                let from = call.load::<u32>(0);
                call.update::<u32>(2, |to| {
                    for y in 0..height {
                        for x in 0..width {
                            to[y * to_pitch + x] = 2 * from[y * from_pitch + x];
                        }
                    }
                });
            });
        }
        driver.with_device(0, |ctx| {
            let module = ctx.load_ptx(crate::common::ptx(PTX))?;
            let add = module.kernel::<(InOut<Rows<u32>>, u64, u32, u32, u32)>("add_to_rows")?;
            let double = module
                .kernel::<(In<Rows<u32>>, u64, Out<Rows<u32>>, u64, u32, u32)>("double_rows")?;
            // Before the memory: compute-sanitizer takes a stream made after a wait for one that
            // did not wait.
            let stream = ctx.new_stream()?;
            let extent = Extent::new(200, 9);
            let host: Vec<u32> = (0..1800).collect();
            let mut image = ctx.upload_rows(&host, extent)?;
            let at_rest = ctx.upload_rows(&host, extent)?;
            let mut doubled: PitchedBuffer<'_, u32> = ctx.zeros_rows(extent)?;
            let mut scratched = vec![0; 3 * 4];
            let [pitch, to_pitch] = [&image, &doubled].map(|image| image.pitch_bytes() as u64);
            stream.scope(|s| {
                let mut image = image.lend(s);
                let mut doubled = doubled.lend(s);
                let mut part = image.region_mut(3..150, 2..7, ..)?;
                let config = LaunchConfig::new([5, 1, 1], [256, 1, 1]);
                // SAFETY: the kernel stays within 147 elements of 5 rows, which are those of the
                // part.
                unsafe { s.launch(&add, config, (&mut part, pitch, 147, 5, 1000)) }?;
                let mut scratch = s.zeros_rows::<u32>(Extent::new(3, 4))?;
                let scratch_pitch = scratch.pitch_bytes() as u64;
                let from = image.region(2..5, 1..5, ..)?;
                // SAFETY: the kernel stays within 3 elements of 4 rows, which both have.
                unsafe {
                    s.launch(
                        &double,
                        config,
                        (&from, pitch, &mut scratch, scratch_pitch, 3, 4),
                    )
                }?;
                s.read_rows(&scratch, &mut scratched)?;
                let config = LaunchConfig::new([9, 1, 1], [256, 1, 1]);
                // SAFETY: the kernel stays within 200 elements of 9 rows, which both have.
                unsafe {
                    s.launch(
                        &double,
                        config,
                        (&at_rest, pitch, &mut doubled, to_pitch, 200, 9),
                    )
                }?;
                let part = at_rest.region(1.., .., ..)?;
                // SAFETY: the kernel stays within 1 element of 1 row, which both have.
                unsafe { s.launch(&double, config, (part, pitch, &mut doubled, to_pitch, 1, 1)) }
            })?;
            let expected: Vec<u32> = (0..1800)
                .map(|i| {
                    let is_inside = (3..150).contains(&(i % 200)) && (2..7).contains(&(i / 200));
                    if is_inside { i + 1000 } else { i }
                })
                .collect();
            assert_eq!(image.to_vec()?, expected);
            assert_eq!(
                scratched,
                part(extent, &expected, [2, 1, 0], Extent::new(3, 4))
                    .into_iter()
                    .map(|value| 2 * value)
                    .collect::<Vec<u32>>()
            );
            let mut expected: Vec<u32> = host.iter().map(|value| 2 * value).collect();
            expected[0] = 2;
            assert_eq!(doubled.to_vec()?, expected);
            Ok(())
        })
    });
}

/// Page-locked memory is a host side of rows as any other, and keeps the host from waiting.
#[test]
fn page_locked_memory_holds_rows() {
    on_driver(|driver| {
        driver.with_device(0, |ctx| {
            let extent = Extent::new(3, 2);
            let source = ctx.pinned_from(&[1u32, 2, 3, 4, 5, 6])?;
            let mut rows = ctx.upload_rows(&source, extent)?;
            let (stream, mut target) = (ctx.new_stream()?, ctx.pinned_zeros::<u32>(6)?);
            stream.scope(|s| {
                let mut rows = rows.lend(s);
                s.write_rows(&source, &mut rows)?;
                s.read_rows(&rows, &mut target)
            })?;
            assert_eq!(*target, *source);
            let mut short = ctx.pinned_zeros::<u32>(5)?;
            let refused = rows.read(&mut short).unwrap_err();
            assert!(
                matches!(refused, scoped_cuda::Error::LengthMismatch { .. }),
                "{refused}"
            );
            Ok(())
        })
    });
}
