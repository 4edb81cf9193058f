//! Device memory in rows, at rest: values, regions, strides of host memory. Claims C2, C3, C6, C7,
//! C9.

use crate::common::rows::{CANARY, numbers, part};
use crate::common::{in_context, in_two_contexts, stack};
use scoped_cuda::memory::{Axis, HostLayout};
use scoped_cuda::{Context, Error, Extent, HostRows, HostRowsMut, Result};

/// Odd sizes, a single row, a single column, rows that are exactly one pitch long and one element
/// more.
fn extents() -> Vec<Extent> {
    vec![
        Extent::new(1, 1),
        Extent::new(7, 5),
        Extent::new(1, 300),
        Extent::new(1000, 1),
        Extent::new(128, 3),
        Extent::new(129, 3),
        Extent::new(5, 4).slices(3),
        Extent::new(1, 1).slices(9),
        Extent::new(131, 1).slices(4),
        Extent::new(257, 65).slices(17),
    ]
}

#[test]
fn upload_comes_back() {
    in_context(|ctx| {
        for extent in extents() {
            let host = numbers(extent);
            let pitched = ctx.upload_rows(&host, extent)?;
            assert_eq!(pitched.extent(), extent);
            assert_eq!(pitched.pitch_bytes() % 512, 0);
            assert!(pitched.pitch_bytes() >= 4 * extent.width);
            assert_eq!(pitched.pitch_elements(), Some(pitched.pitch_bytes() / 4));
            assert_eq!(pitched.slice_rows(), extent.height);
            assert_eq!(pitched.to_vec()?, host, "{extent}");
            let mut back = vec![0; host.len()];
            pitched.read(&mut back)?;
            assert_eq!(back, host, "{extent}");
        }
        Ok(())
    });
}

#[test]
fn zeros_are_zero_and_filled_rows_are_full() {
    in_context(|ctx| {
        for extent in extents() {
            let len = extent.elements().unwrap();
            // Leave something behind that a missing fill would show.
            drop(ctx.filled(4096, 0xAAu8)?);
            let mut words = ctx.zeros_rows::<u32>(extent)?;
            assert_eq!(words.to_vec()?, vec![0; len]);
            words.fill(CANARY)?;
            assert_eq!(words.to_vec()?, vec![CANARY; len]);
            let mut halves = ctx.zeros_rows::<i16>(extent)?;
            halves.fill(-3)?;
            assert_eq!(halves.to_vec()?, vec![-3; len]);
            let mut bytes = ctx.zeros_rows::<u8>(extent)?;
            bytes.fill(9)?;
            assert_eq!(bytes.to_vec()?, vec![9; len]);
        }
        Ok(())
    });
}

/// Elements whose size does not divide the pitch.
#[test]
fn elements_of_any_size() {
    in_context(|ctx| {
        let extent = Extent::new(50, 3).slices(2);
        let host: Vec<[u8; 3]> = (0..300).map(|i| [i as u8, (i >> 8) as u8, 7]).collect();
        let pitched = ctx.upload_rows(&host, extent)?;
        assert_eq!(
            (pitched.pitch_bytes(), pitched.pitch_elements()),
            (512, None)
        );
        assert_eq!(pitched.to_vec()?, host);
        let column = pitched.region(49.., .., 1..)?.to_vec()?;
        assert_eq!(column, [host[199], host[249], host[299]]);
        let doubles = ctx.upload_rows(&[1.0f64, 2.0], Extent::new(1, 2))?;
        assert_eq!(doubles.to_vec()?, [1.0, 2.0]);
        Ok(())
    });
}

/// B123: nothing without elements asks the driver.
#[test]
fn empty_boxes_are_ordinary() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let machine = ctx.driver().machine();
        let calls = |at: &str| {
            machine.map_or(0, |machine| {
                let calls = machine.trace().into_iter().filter(|call| call.contains(at));
                calls.count()
            })
        };
        let before = (calls("2D"), calls("3D"), calls("Alloc"));
        for extent in [
            Extent::new(0, 5),
            Extent::new(5, 0).slices(2),
            Extent::new(5, 5).slices(0),
            Extent::new(0, usize::MAX).slices(usize::MAX),
        ] {
            let source = ctx.upload_rows::<f32>(&[], extent)?;
            let mut empty = ctx.zeros_rows::<f32>(extent)?;
            assert!(empty.is_empty());
            assert_eq!((empty.as_raw(), empty.size_bytes()), (0, 0));
            empty.write(&[])?;
            empty.fill(1.0)?;
            empty.copy_from(&source)?;
            empty.region_mut(..0, .., ..)?.fill(1.0)?;
            assert_eq!(empty.to_vec()?, []);
            let mut host = [];
            stream.scope(|s| {
                let mut lent = empty.lend(s);
                s.write_rows(&[], &mut lent)?;
                s.fill_rows(&mut lent, 1.0)?;
                s.copy_rows(&source, &mut lent)?;
                assert!(s.zeros_rows::<u32>(extent)?.is_empty());
                s.read_rows(&lent, &mut host)
            })?;
            assert!(empty.close().is_ok());
        }
        let nothing = ctx.upload_rows(&[(); 6], Extent::new(3, 2))?;
        assert_eq!(nothing.to_vec()?.len(), 6);
        assert_eq!(before, (calls("2D"), calls("3D"), calls("Alloc")));
        // A part without elements of memory that has some.
        let pitched = ctx.zeros_rows::<u8>(Extent::new(3, 2))?;
        let part = pitched.region(3.., .., ..)?;
        assert_eq!((part.as_raw(), part.to_vec()?), (0, vec![]));
        Ok(())
    });
}

/// B126: the number of bytes does not wrap.
#[test]
fn huge_extents_are_refused() {
    in_context(|ctx| {
        let overflow = |len, element_bytes| Error::SizeOverflow { len, element_bytes };
        let many = Extent::new(1 << 40, 1 << 40);
        let error = ctx.zeros_rows::<u32>(many).unwrap_err();
        assert_eq!(error, overflow(usize::MAX, 4));
        // The elements would fit, the rows do not.
        let narrow = Extent::new(1, 1 << 30).slices(1 << 30);
        let error = ctx.zeros_rows::<u8>(narrow).unwrap_err();
        assert_eq!(error, overflow(1 << 60, 1));
        let limit = i32::MAX as usize;
        let error = ctx.zeros_rows::<u8>(Extent::new(limit, 1)).unwrap_err();
        let bytes = limit + 1;
        assert_eq!(error, Error::PitchTooLarge { bytes, limit });
        let stream = ctx.new_stream()?;
        let error = stream.scope(|s| s.zeros_rows::<u32>(many).map(drop));
        assert_eq!(error, Err(overflow(usize::MAX, 4)));
        Ok(())
    });
}

/// Rows of the host that are further apart than the device copies: the element type is large, so
/// that few elements are needed.
#[test]
fn host_rows_too_far_apart_are_refused() {
    in_context(|ctx| {
        let limit = i32::MAX as usize;
        // Never touched, so it takes no memory.
        let host: Vec<u8> = vec![0; limit + 2];
        let extent = Extent::new(1, 2);
        let mut pitched = ctx.zeros_rows::<u8>(extent)?;
        let bytes = limit + 1;
        let error = pitched.write(HostRows::strided(&host, extent, bytes)?);
        assert_eq!(error, Err(Error::PitchTooLarge { bytes, limit }));
        // A single row has no stride.
        let row = HostRows::strided(&host, Extent::new(1, 1), usize::MAX)?;
        pitched.region_mut(.., ..1, ..)?.write(row)
    });
}

#[test]
fn regions_are_boxes() {
    in_context(|ctx| {
        let whole = Extent::new(67, 9).slices(5);
        let host = numbers(whole);
        let pitched = ctx.upload_rows(&host, whole)?;
        for (from, extent) in [
            ([0, 0, 0], whole),
            ([1, 2, 3], Extent::new(3, 4)),
            ([66, 0, 0], Extent::new(1, 9).slices(5)),
            ([0, 8, 0], Extent::new(67, 1).slices(5)),
            ([0, 0, 4], Extent::new(67, 9)),
            ([66, 8, 4], Extent::new(1, 1)),
            ([5, 1, 1], Extent::new(60, 7).slices(3)),
        ] {
            let [x, y, z] = from;
            let region = pitched.region(
                x..x + extent.width,
                y..y + extent.height,
                z..z + extent.depth,
            )?;
            assert_eq!(region.extent(), extent);
            let expected = part(whole, &host, from, extent);
            assert_eq!(region.to_vec()?, expected, "{extent} at {from:?}");
        }
        let out = |start, end, len| Error::OutOfRange { start, end, len };
        let error = pitched.region(60..68, .., ..).unwrap_err();
        assert_eq!(error, out(60, 68, 67));
        let error = pitched.region(.., 10.., ..).unwrap_err();
        assert_eq!(error, out(10, 9, 9));
        let inner = pitched.region(.., .., 1..3)?;
        assert_eq!(inner.region(.., .., 2..=2).unwrap_err(), out(2, 3, 2));
        Ok(())
    });
}

/// Writes and fills touch the elements of their region and no other.
#[test]
fn writes_stay_within_their_region() {
    in_context(|ctx| {
        let whole = Extent::new(67, 9).slices(5);
        let inner = Extent::new(60, 7).slices(3);
        let outside = |host: &[u32], changed: &[u32]| {
            for (i, (before, after)) in host.iter().zip(changed).enumerate() {
                let (x, y, z) = (i % 67, i / 67 % 9, i / 67 / 9);
                let is_inside = (5..65).contains(&x) && (1..8).contains(&y) && (1..4).contains(&z);
                assert!(is_inside || before == after, "{x}, {y}, {z}");
            }
        };
        let host = numbers(whole);
        let mut pitched = ctx.upload_rows(&host, whole)?;
        let news = vec![CANARY; inner.elements().unwrap()];
        pitched.region_mut(5..65, 1..8, 1..4)?.write(&news)?;
        let written = pitched.to_vec()?;
        outside(&host, &written);
        assert_eq!(part(whole, &written, [5, 1, 1], inner), news);

        let mut pitched = ctx.upload_rows(&host, whole)?;
        pitched.region_mut(5..65, 1..8, 1..4)?.fill(7)?;
        let filled = pitched.to_vec()?;
        outside(&host, &filled);
        assert_eq!(part(whole, &filled, [5, 1, 1], inner), vec![7; news.len()]);

        let source = ctx.upload_rows(&numbers(inner), inner)?;
        let mut pitched = ctx.upload_rows(&host, whole)?;
        pitched.region_mut(5..65, 1..8, 1..4)?.copy_from(&source)?;
        let copied = pitched.to_vec()?;
        outside(&host, &copied);
        assert_eq!(part(whole, &copied, [5, 1, 1], inner), numbers(inner));
        Ok(())
    });
}

/// Halves along a row alternate in memory; each is written without the other.
#[test]
fn halves_share_nothing() {
    in_context(|ctx| {
        let extent = Extent::new(7, 4).slices(3);
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            let mut pitched = ctx.zeros_rows::<u32>(extent)?;
            let (mut head, mut tail) = pitched.as_mut_slice().split_at_mut(axis, 2)?;
            head.fill(1)?;
            tail.fill(2)?;
            let (mut middle, _) = tail.split_at_mut(axis, 1)?;
            middle.copy_from(&match axis {
                Axis::X => head.as_slice().region(..1, .., ..)?,
                Axis::Y => head.as_slice().region(.., ..1, ..)?,
                Axis::Z => head.as_slice().region(.., .., ..1)?,
            })?;
            let expected: Vec<u32> = (0..84)
                .map(|i| match axis {
                    Axis::X => i % 7,
                    Axis::Y => i / 7 % 4,
                    Axis::Z => i / 28,
                })
                .map(|place| if place < 3 { 1 } else { 2 })
                .collect();
            assert_eq!(pitched.to_vec()?, expected, "{axis:?}");
            let error = pitched.as_mut_slice().split_at_mut(axis, 8).unwrap_err();
            assert!(matches!(error, Error::OutOfRange { start: 8, .. }));
        }
        Ok(())
    });
}

/// What lies between the rows of host memory is neither read into the device's elements nor
/// written.
#[test]
fn host_memory_has_strides_of_its_own() {
    in_context(|ctx| {
        for extent in [Extent::new(5, 4), Extent::new(5, 4).slices(3)] {
            let layout = HostLayout {
                row_stride: 300,
                slice_rows: 6,
            };
            let elements = numbers(extent);
            let mut host = vec![CANARY; 300 * 6 * 3];
            for (i, element) in elements.iter().enumerate() {
                let (x, y, z) = (i % 5, i / 5 % 4, i / 20);
                host[x + (z * 6 + y) * 300] = *element;
            }
            let mut pitched = ctx.zeros_rows::<u32>(extent)?;
            pitched.write(HostRows::new(&host, extent, layout)?)?;
            assert_eq!(pitched.to_vec()?, elements);
            let mut back = vec![CANARY; host.len()];
            pitched.read(HostRowsMut::new(&mut back, extent, layout)?)?;
            assert_eq!(back, host, "what lies between the rows is as it was");
            // A part of the host's box, and one of the device's.
            let rows = HostRows::new(&host, extent, layout)?.region(1..3, 2.., ..)?;
            let mut other = ctx.zeros_rows::<u32>(extent)?;
            other.region_mut(..2, ..2, ..)?.write(rows)?;
            let mut corner = vec![CANARY; host.len()];
            let part = HostRowsMut::new(&mut corner, extent, layout)?.region(1..3, 2.., ..)?;
            other.region(..2, ..2, ..)?.read(part)?;
            for (i, element) in corner.iter().enumerate() {
                let (x, y, z) = (i % 300, i / 300 % 6, i / 1800);
                let is_inside = (1..3).contains(&x) && (2..4).contains(&y) && z < extent.depth;
                let expected = if is_inside { host[i] } else { CANARY };
                assert_eq!(*element, expected, "{x}, {y}, {z}");
            }
        }
        Ok(())
    });
}

#[test]
fn extents_have_to_agree() {
    in_context(|ctx| {
        let extent = Extent::new(4, 3);
        let length = |source_len, destination_len| {
            Err(Error::LengthMismatch {
                source_len,
                destination_len,
            })
        };
        let mismatch = |source_extent, destination_extent| {
            Err(Error::ExtentMismatch {
                source_extent,
                destination_extent,
            })
        };
        assert_eq!(ctx.upload_rows(&[0; 11], extent).map(drop), length(11, 12));
        let mut pitched = ctx.upload_rows(&[5u32; 12], extent)?;
        assert_eq!(pitched.write(&[0; 13]), length(13, 12));
        assert_eq!(pitched.read(&mut [0; 13]), length(12, 13));
        // As many elements, in other rows.
        let turned = Extent::new(3, 4);
        let host = [0; 12];
        let error = pitched.write(HostRows::packed(&host, turned)?);
        assert_eq!(error, mismatch(turned, extent));
        let mut back = [0; 12];
        let error = pitched.read(HostRowsMut::packed(&mut back, turned)?);
        assert_eq!(error, mismatch(extent, turned));
        let other = ctx.zeros_rows::<u32>(turned)?;
        assert_eq!(pitched.copy_from(&other), mismatch(turned, extent));
        let stream = ctx.new_stream()?;
        stream.scope(|s| {
            let mut lent = pitched.lend(s);
            assert_eq!(s.copy_rows(&other, &mut lent), mismatch(turned, extent));
            assert_eq!(s.write_rows(&[0; 2], &mut lent), length(2, 12));
            assert_eq!(
                s.read_rows(&lent.region(1.., .., ..)?, &mut back),
                length(9, 12)
            );
            Ok(())
        })?;
        assert_eq!(pitched.to_vec()?, [5; 12], "nothing was written");
        Ok(())
    });
}

/// B21: whatever context is current, the rows arrive and the stack stays.
#[test]
fn whatever_is_current() {
    fn both_ways(ctx: Context<'_>) -> Result<()> {
        let before = stack(ctx.driver());
        // Before the memory: compute-sanitizer takes a stream made after a wait for one that did
        // not wait.
        let stream = ctx.new_stream()?;
        for extent in [Extent::new(77, 5), Extent::new(77, 5).slices(3)] {
            let host = numbers(extent);
            let source = ctx.upload_rows(&host, extent)?;
            let mut pitched = ctx.zeros_rows::<u32>(extent)?;
            pitched.copy_from(&source)?;
            pitched.region_mut(..1, .., ..)?.fill(3)?;
            let mut back = vec![0; host.len()];
            stream.scope(|s| {
                let mut scratch = s.zeros_rows::<u32>(extent)?;
                s.copy_rows(&pitched, &mut scratch)?;
                s.fill_rows(&mut scratch.region_mut(1..2, .., ..)?, 4)?;
                s.read_rows(&scratch, &mut back)
            })?;
            for (i, value) in back.iter().enumerate() {
                let expected = match i % 77 {
                    0 => 3,
                    1 => 4,
                    _ => host[i],
                };
                assert_eq!(*value, expected);
            }
        }
        assert_eq!(stack(ctx.driver()), before);
        Ok(())
    }

    in_two_contexts(|a, b| {
        both_ways(a)?; // b's is current
        both_ways(b)?;
        std::thread::scope(|threads| {
            let nothing_current = threads.spawn(|| both_ways(a));
            nothing_current.join().unwrap()
        })
    });
}

/// B80: an upload is complete when it returns, whatever stream uses the memory next, and whoever
/// changes the host memory.
#[test]
fn upload_is_complete_for_every_stream() {
    in_context(|ctx| {
        let stream = ctx.new_stream()?;
        let extent = Extent::new(1 << 9, 1 << 9);
        let mut host = vec![0u32; 1 << 18];
        let mut pitched = ctx.zeros_rows::<u32>(extent)?;
        let mut copy = ctx.zeros_rows::<u32>(extent)?;
        for round in 1..10 {
            host.fill(round);
            pitched.write(&host)?;
            host.fill(0);
            stream.scope(|s| s.copy_rows(&pitched, &mut copy.lend(s)))?;
            assert_eq!(copy.to_vec()?, vec![round; 1 << 18]);
        }
        Ok(())
    });
}

#[test]
fn views_say_what_they_are() {
    in_context(|ctx| {
        let pitched = ctx.zeros_rows::<u32>(Extent::new(3, 2))?;
        let text = format!("{:?}", pitched.region(1.., .., ..)?);
        let address = pitched.as_raw() + 4;
        let expected =
            format!("PitchedSlice(device 0, 2 x 2 x 1 x u32, rows 512 bytes apart, {address:#x})");
        assert_eq!(text, expected);
        assert!(pitched.close().is_ok());
        Ok(())
    });
}
