//! The machinery under the nouns: driver calls, waiting, work in flight. Nothing here is public.

pub(crate) mod calls;
