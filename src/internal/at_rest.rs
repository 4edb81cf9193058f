//! Operations that are complete when they return.

use crate::error::Result;
use crate::ffi::CUstream;
use crate::internal::context_handle::ContextHandle;
use crate::internal::wait::{HostUse, InUse, settle};

/// [`settle`](crate::internal::wait::settle) for an operation on the service stream that is
/// complete when it returns.
pub(crate) fn complete(
    context: &ContextHandle,
    host: HostUse<'_>,
    enqueue: impl FnOnce(CUstream) -> Result<()>,
) -> Result<()> {
    context.not_lost()?;
    let service = context.service();
    let in_flight = context.in_flight();
    settle(
        None,
        || enqueue(service),
        || {
            [InUse {
                context,
                stream: service,
                in_flight,
                host,
            }]
        },
    )
}
