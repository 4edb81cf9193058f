//! Streams, events and host functions.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::ffi::{CU_STREAM_NON_BLOCKING, CUcontext, CUevent, CUhostFn, CUresult, CUstream};
use crate::sim::registry::{Handle, Kind, Named};
use crate::sim::stream::Event;
use crate::sim::work::{HostPointer, Work};
use std::ffi::{c_uint, c_void};

fn stream_handle(stream: CUstream) -> Handle {
    Handle::from_ptr(stream.as_ptr())
}

fn event_handle(event: CUevent) -> Handle {
    Handle::from_ptr(event.as_ptr())
}

pub(super) unsafe extern "C" fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) -> CUresult {
    // SAFETY: null or valid for the call.
    let stream = unsafe { Out::new(stream) };
    call("cuStreamCreate", Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let (context, stream) = (state.current()?, stream?);
        if flags & !CU_STREAM_NON_BLOCKING != 0 {
            return Err(CUresult::INVALID_VALUE);
        }
        let made = state.create_stream(context, flags == 0, false);
        stream.set(CUstream::from_ptr(made.as_ptr()))
    })
}

pub(super) unsafe extern "C" fn cuStreamDestroy(stream: CUstream) -> CUresult {
    let stream = stream_handle(stream);
    call("cuStreamDestroy", Named::Handle(stream), |_, mut state| {
        if stream.is_default_stream() {
            return Err(CUresult::INVALID_HANDLE);
        }
        let stream = state.stream(stream)?;
        state.destroy_stream(stream);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuStreamSynchronize(stream: CUstream) -> CUresult {
    let stream = stream_handle(stream);
    call(
        "cuStreamSynchronize",
        Named::Handle(stream),
        |machine, mut state| {
            let found = state.stream(stream);
            if found == Err(CUresult::CONTEXT_IS_DESTROYED) && !stream.is_default_stream() {
                state.violation("cuStreamSynchronize of a stream whose context is gone: the real driver may crash");
            }
            let stream = found?;
            let (context, _) = state.home(stream)?;
            let mark = state.end_of(stream);
            machine.wait(state, mark)?.live(context)
        },
    )
}

pub(super) unsafe extern "C" fn cuStreamQuery(stream: CUstream) -> CUresult {
    let stream = stream_handle(stream);
    call("cuStreamQuery", Named::Handle(stream), |_, mut state| {
        let stream = state.stream(stream)?;
        if state.is_done(state.end_of(stream)) {
            Ok(())
        } else {
            Err(CUresult::NOT_READY)
        }
    })
}

pub(super) unsafe extern "C" fn cuStreamGetCtx(
    stream: CUstream,
    context: *mut CUcontext,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let context = unsafe { Out::new(context) };
    let stream = stream_handle(stream);
    call("cuStreamGetCtx", Named::Handle(stream), |_, mut state| {
        let stream = state.stream(stream)?;
        let (home, _) = state.home(stream)?;
        context?.set(CUcontext::from_ptr(home.handle.as_ptr()))
    })
}

pub(super) unsafe extern "C" fn cuStreamWaitEvent(
    stream: CUstream,
    event: CUevent,
    _flags: c_uint,
) -> CUresult {
    let stream = stream_handle(stream);
    call(
        "cuStreamWaitEvent",
        Named::Handle(stream),
        |machine, mut state| {
            let stream = state.stream(stream)?;
            // The most recent record at this moment; a later one does not move the wait.
            if let Some(mark) = state.event(event_handle(event))?.mark {
                machine.enqueue(&mut state, stream, Work::Wait(mark))?;
            }
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuLaunchHostFunc(
    stream: CUstream,
    function: CUhostFn,
    data: *mut c_void,
) -> CUresult {
    let stream = stream_handle(stream);
    call(
        "cuLaunchHostFunc",
        Named::Handle(stream),
        |machine, mut state| {
            let stream = state.stream(stream)?;
            machine.enqueue(
                &mut state,
                stream,
                Work::Call {
                    function,
                    data: HostPointer(data),
                },
            )?;
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuEventCreate(event: *mut CUevent, flags: c_uint) -> CUresult {
    // SAFETY: null or valid for the call.
    let event = unsafe { Out::new(event) };
    call("cuEventCreate", Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let (context, event) = (state.current()?, event?);
        if flags > 7 {
            return Err(CUresult::INVALID_VALUE);
        }
        let made = state.new_handle(Kind::Event);
        state.events.insert(
            made,
            Event {
                context,
                mark: None,
            },
        );
        event.set(CUevent::from_ptr(made.as_ptr()))
    })
}

pub(super) unsafe extern "C" fn cuEventDestroy(event: CUevent) -> CUresult {
    let event = event_handle(event);
    call("cuEventDestroy", Named::Handle(event), |_, mut state| {
        state.event(event)?;
        state.events.remove(&event);
        Ok(())
    })
}

pub(super) unsafe extern "C" fn cuEventRecord(event: CUevent, stream: CUstream) -> CUresult {
    let (event, stream) = (event_handle(event), stream_handle(stream));
    call(
        "cuEventRecord",
        Named::Handle(event),
        |machine, mut state| {
            let context = state.event(event)?.context;
            let stream = state.stream(stream)?;
            if state.home(stream)?.0 != context {
                return Err(CUresult::INVALID_HANDLE);
            }
            let mark = machine.enqueue(&mut state, stream, Work::Record)?;
            if let Some(event) = state.events.get_mut(&event) {
                event.mark = Some(mark);
            }
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuEventQuery(event: CUevent) -> CUresult {
    let event = event_handle(event);
    call("cuEventQuery", Named::Handle(event), |_, state| {
        let mark = state.event(event)?.mark;
        if mark.is_none_or(|mark| state.is_done(mark)) {
            Ok(())
        } else {
            Err(CUresult::NOT_READY)
        }
    })
}

pub(super) unsafe extern "C" fn cuEventSynchronize(event: CUevent) -> CUresult {
    let event = event_handle(event);
    call(
        "cuEventSynchronize",
        Named::Handle(event),
        |machine, state| {
            let &Event { context, mark } = state.event(event)?;
            match mark {
                Some(mark) => machine.wait(state, mark)?.live(context),
                None => Ok(()),
            }
        },
    )
}
