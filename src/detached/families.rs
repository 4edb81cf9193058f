//! The types of this crate that can be detached from their context.

use super::{Attached, Family};
use crate::context::Context;
use crate::family;
use crate::graph::Graph;
use crate::kernel::{Global, Kernel, Linker, Module, Params, SafeKernel};
use crate::memory::{Buffer, ManagedBuffer, PinnedBuffer, PitchedBuffer, WriteCombinedBuffer};
use crate::owned_copy::OwnedCopy;
use crate::stream::{Event, Stream, TimedEvent};

family!(Context);
family!(Stream);
family!(Event);
family!(TimedEvent);
family!(Module);
family!(Linker);
family!(for<'ctx, T> Buffer<'ctx, T>);
family!(for<'ctx, T> PinnedBuffer<'ctx, T>);
family!(for<'ctx, T> WriteCombinedBuffer<'ctx, T>);
family!(for<'ctx, T> ManagedBuffer<'ctx, T>);
family!(for<'ctx, T> PitchedBuffer<'ctx, T>);
family!(for<'ctx, T> Global<'ctx, T>);
family!(for<'ctx, T> OwnedCopy<'ctx, T>);
family!(for<'ctx, P> Kernel<'ctx, P>);

// With the variables that it reads.
impl<P: Params + Send + 'static, F: Family> Family for SafeKernel<'_, P, F> {
    type In<'ctx> = SafeKernel<'ctx, P, F::In<'ctx>>;
}

impl<'ctx, P: Params + Send + 'static, A: Attached<'ctx>> Attached<'ctx>
    for SafeKernel<'ctx, P, A>
{
    type Family = SafeKernel<'static, P, A::Family>;
}

// With the memory that it owns.
impl<F: Family> Family for Graph<'_, F> {
    type In<'ctx> = Graph<'ctx, F::In<'ctx>>;
}

impl<'ctx, A: Attached<'ctx>> Attached<'ctx> for Graph<'ctx, A> {
    type Family = Graph<'static, A::Family>;
}
