//! The machinery under the nouns: driver calls, the context stack, waiting, work in flight. Nothing
//! here is public.

pub(crate) mod allocate;
pub(crate) mod api;
pub(crate) mod at_rest;
pub(crate) mod calls;
pub(crate) mod completion;
pub(crate) mod context_handle;
pub(crate) mod context_state;
pub(crate) mod current;
pub(crate) mod deferred;
pub(crate) mod few;
pub(crate) mod held;
pub(crate) mod host_function;
pub(crate) mod in_flight;
pub(crate) mod inside;
pub(crate) mod loans;
pub(crate) mod patience;
pub(crate) mod pool;
mod result_text;
pub(crate) mod retained;
pub(crate) mod wait;
pub(crate) mod wake;
