//! Streams, the scopes in which they work, events, and closures in the order of a stream.

mod event;
mod host;
mod scope;
#[allow(clippy::module_inception)] // the noun's own file
mod stream;

pub use event::{Event, TimedEvent};
pub use scope::{Scope, ScopedStream, scope, try_scope};
pub use stream::{Stream, StreamOptions};
