//! Memory at rest as a whole and in parts: fills, zeros, copies of its own, casts, chunks. Claims
//! C6, C9.

#![allow(unsafe_code)] // an element type of its own

use crate::common::in_context;
use scoped_cuda::{Error, Extent};

#[test]
fn elements_of_any_type_are_set_to_zero() {
    in_context(|ctx| {
        let mut floats = ctx.upload(&[1.5f64, -2.5, 3.5])?;
        floats.slice_mut(1..)?.set_zero()?;
        assert_eq!(floats.to_vec()?, [1.5, 0.0, 0.0]);
        let mut triples = ctx.upload(&[[1u8, 2, 3], [4, 5, 6]])?;
        triples.set_zero()?;
        assert_eq!(triples.to_vec()?, [[0; 3]; 2]);
        ctx.zeros::<f64>(0)?.set_zero()
    })
}

#[test]
fn a_buffer_and_its_parts_are_filled() {
    in_context(|ctx| {
        let mut words = ctx.zeros::<u16>(5)?;
        words.fill(7)?;
        let (mut head, mut tail) = words.split_at_mut(2)?;
        head.fill(1)?;
        tail.slice_mut(1..2)?.fill(9)?;
        assert_eq!(words.to_vec()?, [1, 1, 7, 9, 7]);
        assert_eq!(
            words.split_at_mut(6).unwrap_err(),
            Error::OutOfRange {
                start: 6,
                end: 5,
                len: 5
            }
        );
        Ok(())
    })
}

#[test]
fn a_clone_has_memory_of_its_own() {
    in_context(|ctx| {
        let first = ctx.upload(&[1u32, 2, 3])?;
        let mut second = first.try_clone()?;
        assert_ne!(first.as_raw(), second.as_raw());
        second.write(&[4, 5, 6])?;
        assert_eq!(first.to_vec()?, [1, 2, 3]);
        assert_eq!(second.to_vec()?, [4, 5, 6]);
        assert!(ctx.zeros::<u32>(0)?.try_clone()?.is_empty());
        Ok(())
    })
}

#[test]
fn shared_chunks_are_read_one_after_the_other() {
    in_context(|ctx| {
        let numbers = ctx.upload(&[1u8, 2, 3, 4, 5])?;
        let chunks = numbers.chunks(2)?;
        assert_eq!(chunks.len(), 3);
        let read: Vec<_> = chunks
            .map(|chunk| chunk.to_vec())
            .collect::<Result<_, _>>()?;
        assert_eq!(read, [vec![1, 2], vec![3, 4], vec![5]]);
        assert_eq!(numbers.chunks(0).unwrap_err(), Error::EmptyChunks);
        let (head, tail) = numbers.as_slice().split_at(1)?;
        assert_eq!((head.len(), tail.size_bytes()), (1, 4));
        assert_eq!(tail.as_raw(), numbers.as_raw() + 1);
        Ok(())
    })
}

#[test]
fn bytes_are_seen_as_elements_of_another_type() {
    in_context(|ctx| {
        let mut bytes = ctx.upload(&[1u8, 0, 0, 0, 2, 0, 0, 0, 3])?;
        let words = bytes.slice(..8)?.cast::<u32>()?;
        assert_eq!(words.to_vec()?, [1, 2]);
        bytes.slice_mut(4..8)?.cast::<u32>()?.fill(0x0403_0201)?;
        assert_eq!(bytes.to_vec()?, [1, 0, 0, 0, 1, 2, 3, 4, 3]);
        let address = bytes.as_raw();
        let refused = |bytes, address| Error::BadCast {
            bytes,
            address,
            size: 4,
            align: 4,
        };
        let odd = bytes.slice(..7)?.cast::<u32>().unwrap_err();
        assert_eq!(odd, refused(7, address));
        let crooked = bytes.slice(1..5)?.cast::<u32>().unwrap_err();
        assert_eq!(crooked, refused(4, address + 1));
        assert_eq!(bytes.slice(..0)?.cast::<u32>()?.len(), 0);
        Ok(())
    })
}

/// An element type whose `Clone` says something else than its `Copy`.
#[derive(Copy, PartialEq, Debug)]
#[repr(transparent)]
struct Liar(u64);

// The disagreement is what is tested.
#[allow(clippy::non_canonical_clone_impl)]
impl Clone for Liar {
    fn clone(&self) -> Self {
        panic!("an element was cloned");
    }
}

// SAFETY: a transparent wrapper of a `u64`.
unsafe impl bytemuck::Zeroable for Liar {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Liar {}

#[test]
fn elements_are_copied_bit_by_bit() {
    in_context(|ctx| {
        let liars = ctx.filled(4, Liar(7))?;
        assert_eq!(liars.to_vec()?, [Liar(7), Liar(7), Liar(7), Liar(7)]);
        let rows = ctx.upload_rows(&[Liar(1), Liar(2)], Extent::new(1, 2))?;
        assert_eq!(rows.to_vec()?, [Liar(1), Liar(2)]);
        Ok(())
    })
}
