//! Two contexts: permission to copy between them, kernels that reach over, and two names of one.

mod rows;
mod same_context;
mod slice;
mod transfer;

pub use same_context::SameContext;
pub use slice::{PeerSlice, PeerSliceMut};
pub use transfer::Transfer;
