//! Events, and what waits for what.

use crate::rig::*;
use scoped_cuda::ffi::*;
use std::sync::mpsc::{self, RecvTimeoutError};

/// More streams and events for a test, of device 0.
fn with_streams<const N: usize>(test: impl FnOnce(Api, Side, [CUstream; N], [CUevent; N])) {
    on_sides(|api, sides| {
        let (streams, events) = api.within(sides[0].context, || {
            (
                [(); N].map(|()| api.stream()),
                [(); N].map(|()| api.event()),
            )
        });
        test(api, sides[0], streams, events);
        for stream in streams {
            ok(api.sync(stream));
            ok(cu!(api.cuStreamDestroy(stream)));
        }
        for event in events {
            ok(cu!(api.cuEventDestroy(event)));
        }
    });
}

#[test]
fn an_event_that_was_never_recorded_is_done() {
    with_streams(|api, _, [stream], [event]| {
        ok(more!(api.cuEventQuery(event)));
        ok(more!(api.cuEventSynchronize(event)));
        ok(cu!(api.cuStreamWaitEvent(stream, event, 0)));
        ok(api.sync(stream));
    });
}

#[test]
fn pending_work_is_not_ready() {
    with_streams(|api, _, [stream], [event]| {
        let gate = api.gate(stream);
        ok(cu!(api.cuEventRecord(event, stream)));
        assert_eq!(cu!(api.cuStreamQuery(stream)), NOT_READY);
        assert_eq!(more!(api.cuEventQuery(event)), NOT_READY);
        drop(gate);
        ok(more!(api.cuEventSynchronize(event)));
        ok(more!(api.cuEventQuery(event)));
        ok(cu!(api.cuStreamQuery(stream)));
    });
}

/// A wait is for the record that was the last when the wait was enqueued: recording the event again
/// does not move it.
#[test]
fn a_wait_is_for_the_last_record_at_the_time_of_the_call() {
    with_streams(|api, _, [first, early, late], [event, after, later]| {
        let gate = api.gate(first);
        ok(cu!(api.cuEventRecord(event, first)));
        ok(cu!(api.cuStreamWaitEvent(early, event, 0)));
        ok(cu!(api.cuEventRecord(after, early)));
        let second_gate = api.gate_behind(first, || ());
        ok(cu!(api.cuEventRecord(event, first)));
        ok(cu!(api.cuStreamWaitEvent(late, event, 0)));
        ok(cu!(api.cuEventRecord(later, late)));
        for event in [event, after, later] {
            assert_eq!(more!(api.cuEventQuery(event)), NOT_READY);
        }
        drop(gate);
        ok(more!(api.cuEventSynchronize(after)));
        assert_eq!(more!(api.cuEventQuery(event)), NOT_READY);
        assert_eq!(more!(api.cuEventQuery(later)), NOT_READY);
        drop(second_gate);
        ok(more!(api.cuEventSynchronize(later)));
        ok(more!(api.cuEventQuery(event)));
    });
}

#[test]
fn recording_again_on_an_idle_stream_makes_an_event_done() {
    with_streams(|api, _, [busy, idle, waiting], [event, _, _]| {
        let gate = api.gate(busy);
        ok(cu!(api.cuEventRecord(event, busy)));
        ok(cu!(api.cuEventRecord(event, idle)));
        ok(api.sync(idle));
        ok(more!(api.cuEventQuery(event)));
        ok(cu!(api.cuStreamWaitEvent(waiting, event, 0)));
        ok(api.sync(waiting));
        assert_eq!(cu!(api.cuStreamQuery(busy)), NOT_READY);
        drop(gate);
    });
}

#[test]
fn a_wait_outlives_its_event() {
    with_streams(|api, side, [first, second], [after, _]| {
        let event = api.within(side.context, || api.event());
        let gate = api.gate(first);
        ok(cu!(api.cuEventRecord(event, first)));
        ok(cu!(api.cuStreamWaitEvent(second, event, 0)));
        ok(cu!(api.cuEventRecord(after, second)));
        ok(cu!(api.cuEventDestroy(event)));
        assert_eq!(more!(api.cuEventQuery(after)), NOT_READY);
        drop(gate);
        ok(more!(api.cuEventSynchronize(after)));
    });
}

#[test]
fn the_work_of_a_destroyed_stream_goes_on() {
    with_streams(|api, side, [], []| {
        let (stream, event) = api.within(side.context, || (api.stream(), api.event()));
        ok(cu!(api.cuMemsetD8Async(side.plain[0], 0, 4, side.stream)));
        ok(api.sync(side.stream));
        let gate = api.gate(stream);
        ok(cu!(api.cuMemsetD8Async(side.plain[0], 3, 4, stream)));
        ok(cu!(api.cuEventRecord(event, stream)));
        ok(cu!(api.cuStreamDestroy(stream)));
        assert_eq!(more!(api.cuEventQuery(event)), NOT_READY);
        drop(gate);
        ok(more!(api.cuEventSynchronize(event)));
        assert_eq!(api.bytes(side, side.plain[0]), [3; 4]);
        ok(cu!(api.cuEventDestroy(event)));
    });
}

#[test]
fn a_stream_waits_for_an_event_of_another_device() {
    on_two(|api, a, b| {
        let gate = api.gate(a.stream);
        ok(cu!(api.cuEventRecord(a.event, a.stream)));
        ok(cu!(api.cuStreamWaitEvent(b.stream, a.event, 0)));
        ok(cu!(api.cuEventRecord(b.event, b.stream)));
        assert_eq!(more!(api.cuEventQuery(b.event)), NOT_READY);
        drop(gate);
        ok(more!(api.cuEventSynchronize(b.event)));
    });
}

/// A host function that waits for a host function of another stream would wait for ever.
#[test]
fn host_functions_of_a_context_run_one_at_a_time() {
    with_streams(|api, _, [busy, idle], _| {
        let gate = api.gate(busy);
        let (ran, runs) = mpsc::channel();
        ok(api.host(idle, move || ran.send(()).unwrap()));
        assert_eq!(runs.recv_timeout(WATCH), Err(RecvTimeoutError::Timeout));
        drop(gate);
        ok(api.sync(idle));
        assert_eq!(runs.try_recv(), Ok(()));
    });
}

#[test]
fn a_host_function_may_not_call_the_driver() {
    with_streams(|api, _, [stream], _| {
        let (answered, answer) = mpsc::channel();
        ok(api.host(stream, move || {
            let mut address = 0;
            let code = more!(api.cuMemAlloc(&raw mut address, 16));
            answered.send(code).unwrap();
        }));
        ok(api.sync(stream));
        assert_eq!(answer.try_recv(), Ok(CUresult::NOT_PERMITTED));
    });
}
