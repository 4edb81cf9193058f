//! Streams, events and host functions.

#![allow(unsafe_code)] // C signatures
#![allow(non_snake_case)] // the driver's names

use super::{Out, call};
use crate::machine::Outcome;
use crate::registry::{Handle, Kind, Named};
use crate::stream::{Event, Record};
use crate::work::{HostPointer, Work};
use scoped_cuda_sys::{
    CU_EVENT_DISABLE_TIMING, CU_STREAM_NON_BLOCKING, CUcontext, CUevent, CUhostFn, CUresult,
    CUstream,
};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, OnceLock};

fn stream_handle(stream: CUstream) -> Handle {
    Handle::from_ptr(stream.as_ptr())
}

fn event_handle(event: CUevent) -> Handle {
    Handle::from_ptr(event.as_ptr())
}

/// The least and the greatest priority of a stream, as an H200 has them.
const PRIORITIES: (c_int, c_int) = (0, -5);

pub(super) unsafe extern "C" fn cuCtxGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let least = unsafe { Out::new(least) };
    // SAFETY: null or valid for the call.
    let greatest = unsafe { Out::new(greatest) };
    call("cuCtxGetStreamPriorityRange", Named::Current, |_, state| {
        state.current()?;
        // Either may be null.
        least.map_or(Ok(()), |least| least.set(PRIORITIES.0))?;
        greatest.map_or(Ok(()), |greatest| greatest.set(PRIORITIES.1))
    })
}

pub(super) unsafe extern "C" fn cuStreamCreate(stream: *mut CUstream, flags: c_uint) -> CUresult {
    // SAFETY: null or valid for the call.
    let stream = unsafe { Out::new(stream) };
    create("cuStreamCreate", stream, flags, 0)
}

pub(super) unsafe extern "C" fn cuStreamCreateWithPriority(
    stream: *mut CUstream,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let stream = unsafe { Out::new(stream) };
    create("cuStreamCreateWithPriority", stream, flags, priority)
}

fn create(
    name: &'static str,
    stream: Outcome<Out<CUstream>>,
    flags: c_uint,
    priority: c_int,
) -> CUresult {
    call(name, Named::Current, |_, mut state| {
        // Whatever context is current: that is the danger of the call.
        let (context, stream) = (state.current()?, stream?);
        if flags & !CU_STREAM_NON_BLOCKING != 0 {
            return Err(CUresult::INVALID_VALUE);
        }
        let made = state.create_stream(context, flags == 0, false);
        if let Some(made) = state.streams.get_mut(&made) {
            // A priority out of range is moved into it, silently.
            made.priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
        }
        stream.set(CUstream::from_ptr(made.as_ptr()))
    })
}

pub(super) unsafe extern "C" fn cuStreamGetPriority(
    stream: CUstream,
    priority: *mut c_int,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let priority = unsafe { Out::new(priority) };
    let stream = stream_handle(stream);
    call(
        "cuStreamGetPriority",
        Named::Handle(stream),
        |_, mut state| {
            let stream = state.stream(stream)?;
            let found = state.streams.get(&stream);
            priority?.set(found.map_or(0, |stream| stream.priority))
        },
    )
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
            if let Some(record) = state.event(event_handle(event))?.record.clone() {
                machine.enqueue(&mut state, stream, Work::Wait(record.mark))?;
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
                is_timed: flags & CU_EVENT_DISABLE_TIMING == 0,
                record: None,
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
            let time = Arc::new(OnceLock::new());
            let mark = machine.enqueue(&mut state, stream, Work::Record(Arc::clone(&time)))?;
            if let Some(event) = state.events.get_mut(&event) {
                event.record = Some(Record { mark, time });
            }
            Ok(())
        },
    )
}

pub(super) unsafe extern "C" fn cuEventQuery(event: CUevent) -> CUresult {
    let event = event_handle(event);
    call("cuEventQuery", Named::Handle(event), |_, state| {
        let record = &state.event(event)?.record;
        // An event that was never recorded has nothing to wait for.
        if record
            .as_ref()
            .is_none_or(|record| state.is_done(record.mark))
        {
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
            let found = state.event(event)?;
            let context = found.context;
            match found.record.as_ref().map(|record| record.mark) {
                Some(mark) => machine.wait(state, mark)?.live(context),
                None => Ok(()),
            }
        },
    )
}

pub(super) unsafe extern "C" fn cuEventElapsedTime(
    milliseconds: *mut f32,
    start: CUevent,
    end: CUevent,
) -> CUresult {
    // SAFETY: null or valid for the call.
    let milliseconds = unsafe { Out::new(milliseconds) };
    let (start, end) = (event_handle(start), event_handle(end));
    call("cuEventElapsedTime", Named::Handle(start), |_, state| {
        let (start, end) = (state.event(start)?, state.event(end)?);
        let is_possible = start.is_timed && end.is_timed && start.context == end.context;
        let (Some(start), Some(end), true) = (&start.record, &end.record, is_possible) else {
            return Err(CUresult::INVALID_HANDLE);
        };
        let (Some(&start), Some(&end)) = (start.time.get(), end.time.get()) else {
            return Err(CUresult::NOT_READY);
        };
        let seconds = match end.checked_duration_since(start) {
            Some(later) => later.as_secs_f32(),
            None => -start.duration_since(end).as_secs_f32(),
        };
        milliseconds?.set(seconds * 1e3)
    })
}
