//! What a graph owns.

#![allow(unsafe_code)] // lends memory for a lifetime that its caller vouches for

use crate::memory::sealed::{Sealed, Token};
use crate::memory::{Buffer, OnStream, PinnedBuffer, SliceMut};
use bytemuck::Pod;
use generativity::Id;
use std::marker::PhantomData;

/// Memory that a graph owns: a [`Buffer`], a [`PinnedBuffer`], a tuple, an array or a vector of
/// such.
///
/// Sealed: whoever is given the memory back for a while has views of it, and cannot exchange it for
/// other memory while the graph has its addresses (claims C11, C12).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that a graph can own",
    note = "move a `Buffer`, a `PinnedBuffer`, a tuple, an array or a `Vec` of such into the graph"
)]
pub trait GraphMemory<'ctx>: Sealed {
    /// The memory in an order: that of the graph's nodes, or that of a stream.
    type Lent<'a, 's>;

    /// The memory at rest.
    type Views<'a>
    where
        Self: 'a;

    /// Puts the memory into the order of a brand. (A bound of `'a` by `self` could not be written:
    /// the closure that builds a graph takes what comes of it for every lifetime.)
    ///
    /// # Safety
    /// The memory stays where it is, and nobody else uses it, during `'a`.
    #[doc(hidden)]
    unsafe fn lent<'a, 's>(&mut self, brand: Id<'s>, token: Token) -> Self::Lent<'a, 's>;

    /// Views of the memory at rest.
    #[doc(hidden)]
    fn views(&mut self, token: Token) -> Self::Views<'_>;
}

/// Page-locked host memory of a graph: what its nodes copy from and to. The host reaches it at rest
/// only, with [`Graph::memory_mut`](crate::Graph::memory_mut).
#[derive(Debug)]
pub struct GraphPinned<'a, 'ctx, T> {
    first: usize,
    len: usize,
    _borrow: PhantomData<&'a mut [T]>,
    /// Invariant in the context's brand.
    _context: PhantomData<fn(&'ctx ()) -> &'ctx ()>,
}

impl<T> GraphPinned<'_, '_, T> {
    /// The address as a number.
    pub(super) fn address(&self) -> u64 {
        self.first as u64
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'ctx, T: Pod> GraphMemory<'ctx> for Buffer<'ctx, T> {
    type Lent<'a, 's> = OnStream<'s, SliceMut<'a, 'ctx, T>>;
    type Views<'a>
        = SliceMut<'a, 'ctx, T>
    where
        Self: 'a;

    unsafe fn lent<'a, 's>(&mut self, brand: Id<'s>, _: Token) -> Self::Lent<'a, 's> {
        OnStream::new(
            SliceMut::new(self.context(), self.as_raw(), self.len()),
            brand,
        )
    }

    fn views(&mut self, _: Token) -> Self::Views<'_> {
        self.as_mut_slice()
    }
}

impl<T> Sealed for PinnedBuffer<'_, T> {}

impl<'ctx, T: Pod> GraphMemory<'ctx> for PinnedBuffer<'ctx, T> {
    type Lent<'a, 's> = OnStream<'s, GraphPinned<'a, 'ctx, T>>;
    type Views<'a>
        = &'a mut [T]
    where
        Self: 'a;

    unsafe fn lent<'a, 's>(&mut self, brand: Id<'s>, _: Token) -> Self::Lent<'a, 's> {
        // Launches of the graph enqueue copies that no scope is told of.
        self.show_device();
        let first = self.as_mut_ptr();
        let pinned = GraphPinned {
            // The driver dereferences it, and no Rust code does.
            first: first.expose_provenance(),
            len: self.len(),
            _borrow: PhantomData,
            _context: PhantomData,
        };
        OnStream::new(pinned, brand)
    }

    fn views(&mut self, _: Token) -> Self::Views<'_> {
        self
    }
}

impl<M: Sealed> Sealed for Vec<M> {}

impl<'ctx, M: GraphMemory<'ctx>> GraphMemory<'ctx> for Vec<M> {
    type Lent<'a, 's> = Vec<M::Lent<'a, 's>>;
    type Views<'a>
        = Vec<M::Views<'a>>
    where
        Self: 'a;

    unsafe fn lent<'a, 's>(&mut self, brand: Id<'s>, token: Token) -> Self::Lent<'a, 's> {
        // SAFETY: what `lent` asks of its caller, which holds for each.
        self.iter_mut()
            .map(|one| unsafe { one.lent(brand, token) })
            .collect()
    }

    fn views(&mut self, token: Token) -> Self::Views<'_> {
        self.iter_mut().map(|one| one.views(token)).collect()
    }
}

impl<M: Sealed, const N: usize> Sealed for [M; N] {}

impl<'ctx, M: GraphMemory<'ctx>, const N: usize> GraphMemory<'ctx> for [M; N] {
    type Lent<'a, 's> = [M::Lent<'a, 's>; N];
    type Views<'a>
        = [M::Views<'a>; N]
    where
        Self: 'a;

    unsafe fn lent<'a, 's>(&mut self, brand: Id<'s>, token: Token) -> Self::Lent<'a, 's> {
        // SAFETY: what `lent` asks of its caller, which holds for each.
        self.each_mut().map(|one| unsafe { one.lent(brand, token) })
    }

    fn views(&mut self, token: Token) -> Self::Views<'_> {
        self.each_mut().map(|one| one.views(token))
    }
}

macro_rules! tuples {
    ($($($M:ident)*;)*) => {$(
        // The variables are named after the types; there may be none.
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<'ctx, $($M: GraphMemory<'ctx>),*> GraphMemory<'ctx> for ($($M,)*) {
            type Lent<'a, 's> = ($($M::Lent<'a, 's>,)*);
            type Views<'a> = ($($M::Views<'a>,)*) where Self: 'a;

            unsafe fn lent<'a, 's>(&mut self, brand: Id<'s>, token: Token) -> Self::Lent<'a, 's> {
                let ($($M,)*) = self;
                // SAFETY: what `lent` asks of its caller, which holds for each.
                ($(unsafe { $M.lent(brand, token) },)*)
            }

            fn views(&mut self, token: Token) -> Self::Views<'_> {
                let ($($M,)*) = self;
                ($($M.views(token),)*)
            }
        }
    )*};
}

// All tuples are sealed already, beside the parameter lists.
tuples! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
