//! Types that carry a context's lifetime, seen without it.

/// The types that differ in nothing but the context's lifetime: all `Buffer<'ctx, f32>`, for
/// example. Each of them stands for all of them; where none is meant, it is written with `'static`:
/// a [`Detached<Buffer<'static, f32>>`](crate::Detached) is a buffer of any context.
///
/// A struct of one's own becomes a family by one line, [`family!`](crate::family!). Tuples, arrays,
/// `Option`, `Box`, `Vec` and `Mutex` of families are families, and data without a context is one
/// as a [`Plain`].
///
/// It may be implemented by hand, in safe code, and nothing depends on what an implementation says:
/// whatever type it names, the compiler has checked that the type carries no other lifetime than
/// `'ctx` and `'static` ([why that is enough](crate::safety#what-may-leave-its-closure)).
pub trait Family {
    /// The type that carries `'ctx`. It is `Send`, because its last owner may be any thread.
    type In<'ctx>: Send + 'ctx;
}

/// A type that carries a context's lifetime `'ctx`, and says which [`Family`] it is of.
/// Implemented with [`family!`](crate::family!).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be detached from its context",
    label = "not known with its context's lifetime taken away",
    note = "for a struct of your own, `scoped_cuda::family!(Name)` says so; it has to be `Send`, and to carry no other lifetime than the context's"
)]
pub trait Attached<'ctx>: Sized {
    /// The family of the type.
    type Family: Family<In<'ctx> = Self>;
}

/// Makes a struct that carries a context's lifetime, and no other one, a
/// [`Family`](trait@crate::Family), so that its values can be [detached](crate::Context::detach).
///
/// `family!(Name)` is for a struct `Name<'ctx>`. With type parameters, each with one bound at most,
/// or for a type that is not a struct, the lifetime is named: `family!(for<'ctx, T: Pod>
/// Tensor<'ctx, T>)`.
///
/// ```
/// use scoped_cuda::{Buffer, Detached, Driver, Pod, Stream, family, sim::Simulation};
///
/// struct Layer<'ctx> {
///     stream: Stream<'ctx>,
///     weights: Tensor<'ctx, f32>,
/// }
/// family!(Layer);
///
/// struct Tensor<'ctx, T> {
///     shape: Vec<usize>,
///     elements: Buffer<'ctx, T>,
/// }
/// family!(for<'ctx, T: Pod> Tensor<'ctx, T>);
///
/// struct Model {
///     layers: Vec<Detached<Layer<'static>>>,
/// }
///
/// # let driver = Driver::simulated(Simulation::default())?;
/// let layer = driver.with_device(0, |ctx| {
///     let weights = Tensor { shape: vec![2, 2], elements: ctx.zeros(4)? };
///     Ok(ctx.detach(Layer { stream: ctx.new_stream()?, weights }))
/// })?;
/// let mut model = Model { layers: vec![layer] };
/// let sum = model.layers[0].with_mut(|_ctx, layer| {
///     assert_eq!(layer.weights.shape, [2, 2]);
///     layer.stream.scope(|s| s.fill(&mut layer.weights.elements.lend(s), 0.5))?;
///     Ok(layer.weights.elements.to_vec()?.iter().sum::<f32>())
/// })?;
/// assert_eq!(sum, 2.0);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[macro_export]
macro_rules! family {
    ($name:ident) => {
        $crate::family!(for<'ctx> $name<'ctx>);
    };
    (for<$ctx:lifetime $(, $param:ident $(: $bound:path)?)* $(,)?> $of:ty) => {
        const _: () = {
            type Of<$ctx, $($param),*> = $of;

            impl<'__any, $($param: Send + 'static $(+ $bound)?),*> $crate::Family
                for Of<'__any, $($param),*>
            {
                type In<$ctx> = Of<$ctx, $($param),*>;
            }

            impl<$ctx, $($param: Send + 'static $(+ $bound)?),*> $crate::Attached<$ctx>
                for Of<$ctx, $($param),*>
            {
                type Family = Of<'static, $($param),*>;
            }
        };
    };
}

/// A value that has nothing to do with a context, beside values that have: `(buffer, Plain(vec))`
/// can be [detached](crate::Context::detach), and [submitted](crate::Stream::submit).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Plain<T>(pub T);

impl<T: Send + 'static> Family for Plain<T> {
    type In<'ctx> = Self;
}

impl<T: Send + 'static> Attached<'_> for Plain<T> {
    type Family = Self;
}

/// Containers of families.
mod containers {
    use super::{Attached, Family};
    use std::sync::Mutex;

    macro_rules! containers {
        ($($container:ident),*) => {$(
            impl<F: Family> Family for $container<F> {
                type In<'ctx> = $container<F::In<'ctx>>;
            }

            impl<'ctx, A: Attached<'ctx>> Attached<'ctx> for $container<A> {
                type Family = $container<A::Family>;
            }
        )*};
    }

    containers!(Option, Box, Vec, Mutex);

    impl Family for () {
        type In<'ctx> = ();
    }

    impl Attached<'_> for () {
        type Family = ();
    }

    impl<F: Family, const N: usize> Family for [F; N] {
        type In<'ctx> = [F::In<'ctx>; N];
    }

    impl<'ctx, A: Attached<'ctx>, const N: usize> Attached<'ctx> for [A; N] {
        type Family = [A::Family; N];
    }

    macro_rules! tuples {
        ($($(($name:ident, $attached:ident)),+;)*) => {$(
            impl<$($name: Family),+> Family for ($($name,)+) {
                type In<'ctx> = ($($name::In<'ctx>,)+);
            }

            impl<'ctx, $($attached: Attached<'ctx>),+> Attached<'ctx> for ($($attached,)+) {
                type Family = ($($attached::Family,)+);
            }
        )*};
    }

    tuples! {
        (F1, A1);
        (F1, A1), (F2, A2);
        (F1, A1), (F2, A2), (F3, A3);
        (F1, A1), (F2, A2), (F3, A3), (F4, A4);
        (F1, A1), (F2, A2), (F3, A3), (F4, A4), (F5, A5);
        (F1, A1), (F2, A2), (F3, A3), (F4, A4), (F5, A5), (F6, A6);
    }
}
