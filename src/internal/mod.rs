//! The machinery under the nouns: driver calls, the context stack, waiting, work in flight. Nothing
//! here is public.

pub(crate) mod calls;
pub(crate) mod completion;
pub(crate) mod current;
pub(crate) mod host_function;
pub(crate) mod in_flight;
pub(crate) mod pool;
pub(crate) mod wait;
pub(crate) mod wake;
