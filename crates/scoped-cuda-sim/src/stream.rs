//! Streams as queues with a thread behind each, and events as marks in them.

use super::context::ContextRef;
use super::machine::{Machine, Outcome, State};
use super::registry::{Handle, Kind};
use super::work::Work;
use scoped_cuda_sys::CUresult;
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::{Arc, Condvar, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a worker without work stays, so that a stream in use does not start a thread for each
/// piece of work.
const IDLE: Duration = Duration::from_millis(50);

/// A queue of work.
pub(super) struct Stream {
    pub(super) context: ContextRef,
    pub(super) device: usize,
    /// Synchronises with the NULL stream.
    is_blocking: bool,
    /// What the NULL stream of its context means.
    is_default: bool,
    is_destroyed: bool,
    queue: VecDeque<Queued>,
    submitted: u64,
    completed: u64,
    /// Somebody waits for everything up to here.
    urgent: u64,
    running: Option<Running>,
    has_worker: bool,
    pub(super) priority: c_int,
    pub(super) wake: Arc<Condvar>,
}

struct Queued {
    sequence: u64,
    since: Instant,
    work: Work,
}

#[derive(Clone, Copy)]
struct Running {
    sequence: u64,
    touches_memory: bool,
}

/// A point in a stream's order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    stream: Handle,
    sequence: u64,
}

pub(super) struct Event {
    pub(super) context: ContextRef,
    pub(super) is_timed: bool,
    /// The most recent record.
    pub(super) record: Option<Record>,
}

/// A record of an event.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) mark: Mark,
    /// When the stream came to it.
    pub(super) time: Arc<OnceLock<Instant>>,
}

impl Stream {
    /// Whether the user made it and has not destroyed it.
    pub(super) fn is_listed(&self) -> bool {
        !self.is_default && !self.is_destroyed
    }

    pub(super) fn is_touching_memory(&self) -> bool {
        self.running.is_some_and(|running| running.touches_memory)
    }

    fn is_done(&self, sequence: u64) -> bool {
        // Work that runs is not done even when all that was pending has been dropped.
        self.completed >= sequence
            && self
                .running
                .is_none_or(|running| running.sequence > sequence)
    }

    /// How long its first piece of work still rests.
    fn rest(&self, front: &Queued, latency: Duration) -> Duration {
        if self.urgent >= front.sequence {
            return Duration::ZERO;
        }
        // Nobody can wait for a stream that is gone, so what it was given does not rest for ever.
        let latency = match self.is_destroyed {
            true => latency.min(IDLE),
            false => latency,
        };
        latency.saturating_sub(front.since.elapsed())
    }

    fn take_pending(&mut self) -> VecDeque<Queued> {
        self.completed = self.submitted;
        self.wake.notify_all();
        std::mem::take(&mut self.queue)
    }
}

impl State {
    pub(super) fn create_stream(
        &mut self,
        context: ContextRef,
        is_blocking: bool,
        is_default: bool,
    ) -> Handle {
        let handle = self.new_handle(Kind::Stream);
        let stream = Stream {
            context,
            device: self.device_of(context),
            is_blocking,
            is_default,
            is_destroyed: false,
            queue: VecDeque::new(),
            submitted: 0,
            completed: 0,
            urgent: 0,
            running: None,
            has_worker: false,
            priority: 0,
            wake: Arc::default(),
        };
        self.streams.insert(handle, stream);
        handle
    }

    /// Drops what is pending in some streams. Pool memory that was about to be freed, or about to
    /// be allocated, is gone.
    pub(super) fn drop_pending(&mut self, is_meant: impl Fn(&Stream) -> bool) {
        let streams = self.streams.values_mut().filter(|stream| is_meant(stream));
        let dropped: Vec<_> = streams.flat_map(Stream::take_pending).collect();
        for Queued { work, .. } in dropped {
            if let Work::Allocate(allocation) | Work::Free(allocation) = work {
                self.mark_freed(&allocation);
                self.bury(&allocation);
            }
        }
    }

    /// The live stream that a handle names; the NULL stream is that of the current context.
    pub(super) fn stream(&mut self, handle: Handle) -> Outcome<Handle> {
        if handle.is_default_stream() {
            let context = self.current()?;
            return Ok(self.default_stream(context));
        }
        let stream = self
            .streams
            .get(&handle)
            .filter(|stream| stream.is_listed());
        self.live(stream.ok_or(CUresult::INVALID_HANDLE)?.context)?;
        Ok(handle)
    }

    fn default_stream(&mut self, context: ContextRef) -> Handle {
        let known = self
            .contexts
            .get(&context.handle)
            .and_then(|context| context.default_stream);
        known.unwrap_or_else(|| {
            let handle = self.create_stream(context, false, true);
            if let Some(context) = self.contexts.get_mut(&context.handle) {
                context.default_stream = Some(handle);
            }
            handle
        })
    }

    /// Context and device of a stream that [`stream`](Self::stream) gave.
    pub(super) fn home(&self, stream: Handle) -> Outcome<(ContextRef, usize)> {
        let stream = self.streams.get(&stream).ok_or(CUresult::INVALID_HANDLE)?;
        Ok((stream.context, stream.device))
    }

    /// Forgets a stream; what is pending in it still runs.
    pub(super) fn destroy_stream(&mut self, handle: Handle) {
        let Some(stream) = self.streams.get_mut(&handle) else {
            return;
        };
        stream.is_destroyed = true;
        if stream.queue.is_empty() && stream.running.is_none() {
            stream.wake.notify_all();
            self.streams.remove(&handle);
        }
    }

    pub(super) fn event(&self, handle: Handle) -> Outcome<&Event> {
        let event = self.events.get(&handle).ok_or(CUresult::INVALID_HANDLE)?;
        self.live(event.context)?;
        Ok(event)
    }

    /// The end of what is in a stream now.
    pub(super) fn end_of(&self, stream: Handle) -> Mark {
        Mark {
            stream,
            sequence: self
                .streams
                .get(&stream)
                .map_or(0, |stream| stream.submitted),
        }
    }

    /// The ends of the streams of a context.
    pub(super) fn ends_of(&self, context: ContextRef) -> Vec<Mark> {
        let streams = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.context == context);
        streams
            .map(|(&handle, stream)| Mark {
                stream: handle,
                sequence: stream.submitted,
            })
            .collect()
    }

    pub(super) fn is_done(&self, mark: Mark) -> bool {
        self.streams
            .get(&mark.stream)
            .is_none_or(|stream| stream.is_done(mark.sequence))
    }

    /// Whether a host function of some stream of a context is running: the driver calls one at a
    /// time.
    fn is_in_host_function(&self, context: ContextRef) -> bool {
        let mut own = self
            .streams
            .values()
            .filter(|stream| stream.context == context);
        own.any(|stream| {
            stream
                .running
                .is_some_and(|running| !running.touches_memory)
        })
    }

    /// Somebody waits for a mark: what comes before it does not rest any longer.
    fn hurry(&mut self, mark: Mark) {
        if let Some(stream) = self.streams.get_mut(&mark.stream) {
            if stream.urgent < mark.sequence {
                stream.urgent = mark.sequence;
                stream.wake.notify_all();
            }
        }
    }

    /// Whether the first piece of work in a stream may run now. What it waits for is hurried.
    fn is_ready(&mut self, handle: Handle) -> bool {
        let Some(stream) = self.streams.get(&handle) else {
            return true;
        };
        let context = stream.context;
        match stream.queue.front().map(|front| &front.work) {
            Some(&Work::Wait(mark)) => {
                self.hurry(mark);
                self.is_done(mark)
            }
            Some(Work::Call { .. }) => !self.is_in_host_function(context),
            _ => true,
        }
    }

    /// What the NULL stream's order with blocking streams makes work on `stream` wait for.
    fn legacy_order(&self, stream: Handle) -> Vec<Mark> {
        let Some(own) = self
            .streams
            .get(&stream)
            .filter(|own| own.is_default || own.is_blocking)
        else {
            return Vec::new();
        };
        let others = self
            .streams
            .iter()
            .filter(|(_, other)| other.context == own.context);
        others
            .filter(|(_, other)| {
                if own.is_default {
                    other.is_blocking
                } else {
                    other.is_default
                }
            })
            .map(|(&handle, other)| Mark {
                stream: handle,
                sequence: other.submitted,
            })
            .filter(|&mark| !self.is_done(mark))
            .collect()
    }
}

impl Machine {
    /// Appends work to a live stream.
    pub(super) fn enqueue(&self, state: &mut State, handle: Handle, work: Work) -> Outcome<Mark> {
        state.not_captured(handle)?;
        let before = state.legacy_order(handle);
        let stream = state
            .streams
            .get_mut(&handle)
            .ok_or(CUresult::INVALID_HANDLE)?;
        if !stream.has_worker {
            let machine = self.clone();
            let worker = thread::Builder::new().name("simulated stream".to_owned());
            worker
                .spawn(move || machine.run_stream(handle))
                .map_err(|_| CUresult::OUT_OF_MEMORY)?;
            stream.has_worker = true;
        }
        let since = Instant::now();
        for work in before.into_iter().map(Work::Wait).chain([work]) {
            stream.submitted += 1;
            stream.queue.push_back(Queued {
                sequence: stream.submitted,
                since,
                work,
            });
        }
        stream.wake.notify_all();
        Ok(Mark {
            stream: handle,
            sequence: stream.submitted,
        })
    }

    /// Waits until a stream has come to a mark, or will never do so.
    pub(super) fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        mark: Mark,
    ) -> Outcome<MutexGuard<'a, State>> {
        state.hurry(mark);
        loop {
            if let Some(code) = state.fault {
                return Err(self.stopped(state, code));
            }
            if state.is_done(mark) {
                return Ok(state);
            }
            state = self.progress(state);
        }
    }

    /// The worker of a stream: runs what is in the queue, in order, until it has been idle for a
    /// while.
    fn run_stream(self, handle: Handle) {
        // What a host function calls is for this machine to refuse.
        self.select();
        let mut state = self.lock();
        let mut idle_since = Instant::now();
        loop {
            let is_paused = state.paused > 0;
            let Some(stream) = state.streams.get_mut(&handle) else {
                return;
            };
            let wake = Arc::clone(&stream.wake);
            let Some(front) = stream.queue.front() else {
                if stream.is_destroyed {
                    state.streams.remove(&handle);
                    self.announce();
                    return;
                }
                let Some(left) = IDLE.checked_sub(idle_since.elapsed()) else {
                    stream.has_worker = false;
                    return;
                };
                state = wake
                    .wait_timeout(state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
                continue;
            };
            let rest = match is_paused {
                true => Duration::MAX,
                false => stream.rest(front, self.simulation().latency),
            };
            if rest == Duration::MAX {
                state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if rest > Duration::ZERO {
                state = wake
                    .wait_timeout(state, rest)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
                continue;
            }
            if !state.is_ready(handle) {
                state = self.progress(state);
                continue;
            }
            state = self.run_front(state, handle);
            idle_since = Instant::now();
        }
    }

    /// Runs the first piece of work in a stream's queue.
    fn run_front<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        handle: Handle,
    ) -> MutexGuard<'a, State> {
        let has_fault = state.fault.is_some();
        let Some(stream) = state.streams.get_mut(&handle) else {
            return state;
        };
        let Some(Queued { sequence, work, .. }) = stream.queue.pop_front() else {
            return state;
        };
        let (context, device) = (stream.context, stream.device);
        let mut result = Ok(());
        match work {
            Work::Wait(_) => {}
            Work::Record(time) => {
                time.get_or_init(Instant::now);
            }
            Work::Allocate(allocation) => allocation.begin(),
            Work::Free(allocation) => state.bury(&allocation),
            // After a fault the driver calls no host function.
            Work::Call { .. } if has_fault => {}
            work => {
                let touches_memory = work.touches_memory();
                stream.running = Some(Running {
                    sequence,
                    touches_memory,
                });
                drop(state);
                result = work.run(self);
                drop(work);
                state = self.lock();
            }
        }
        if let Some(stream) = state.streams.get_mut(&handle) {
            stream.running = None;
            stream.completed = stream.completed.max(sequence);
        }
        // What a context's end took away from running work is nobody's fault.
        let is_live = state.live(context).is_ok();
        if let Some(fault) = result.err().filter(|_| is_live) {
            state.violation(fault.text);
            self.break_down(&mut state, fault.code, Some(device));
        }
        self.announce();
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Paused, Simulation};

    fn machine(latency: Duration) -> (Machine, ContextRef) {
        let machine = Machine::start(Simulation::default().latency(latency));
        let handle = machine.lock().retain(0);
        let context = machine.lock().context(handle).unwrap();
        (machine, context)
    }

    fn fill(machine: &Machine, stream: Handle, address: u64, value: u8) -> Mark {
        let mut state = machine.lock();
        let to = state.place(address, 4).unwrap();
        machine
            .enqueue(
                &mut state,
                stream,
                Work::Fill {
                    to,
                    pattern: vec![value],
                    count: 4,
                },
            )
            .unwrap()
    }

    fn read(machine: &Machine, address: u64) -> Vec<u8> {
        machine.lock().place(address, 4).unwrap().to_vec(4).unwrap()
    }

    #[test]
    fn work_rests_until_somebody_waits() {
        let (machine, context) = machine(Duration::MAX);
        let stream = machine.lock().create_stream(context, false, false);
        let address = machine.lock().allocate_plain(4, context).unwrap();
        fill(&machine, stream, address, 1);
        let mark = fill(&machine, stream, address, 2);
        assert!(!machine.lock().is_done(mark));
        assert_eq!(read(&machine, address), [0xCD; 4]);
        drop(machine.wait(machine.lock(), mark).unwrap());
        assert_eq!(read(&machine, address), [2; 4]);
    }

    #[test]
    fn waiting_for_a_stream_hurries_the_streams_it_waits_for() {
        let (machine, context) = machine(Duration::MAX);
        let first = machine.lock().create_stream(context, false, false);
        let second = machine.lock().create_stream(context, false, false);
        let address = machine.lock().allocate_plain(4, context).unwrap();
        let mark = fill(&machine, first, address, 1);
        machine
            .enqueue(&mut machine.lock(), second, Work::Wait(mark))
            .unwrap();
        let mark = fill(&machine, second, address, 2);
        drop(machine.wait(machine.lock(), mark).unwrap());
        assert_eq!(read(&machine, address), [2; 4]);
    }

    #[test]
    fn a_paused_machine_runs_nothing_and_a_destroyed_stream_everything() {
        let (machine, context) = machine(Duration::ZERO);
        let stream = machine.lock().create_stream(context, false, false);
        let address = machine.lock().allocate_plain(4, context).unwrap();
        let paused: Paused = machine.pause();
        let mark = fill(&machine, stream, address, 1);
        machine.lock().destroy_stream(stream);
        assert_eq!(machine.lock().stream(stream), Err(CUresult::INVALID_HANDLE));
        assert!(!machine.lock().is_done(mark));
        drop(paused);
        drop(machine.wait(machine.lock(), mark).unwrap());
        assert_eq!(read(&machine, address), [1; 4]);
    }

    #[test]
    fn the_end_of_a_context_drops_its_pending_work() {
        let (machine, context) = machine(Duration::MAX);
        let stream = machine.lock().create_stream(context, false, false);
        let address = machine.lock().allocate_plain(4, context).unwrap();
        let mark = fill(&machine, stream, address, 1);
        drop(machine.end(machine.lock(), context));
        assert!(machine.lock().is_done(mark));
        assert_eq!(
            machine.lock().stream(stream),
            Err(CUresult::CONTEXT_IS_DESTROYED)
        );
        assert!(machine.lock().place(address, 1).is_err());
        assert_eq!(machine.fault(), None);
    }

    #[test]
    fn the_default_stream_is_ordered_with_blocking_streams_only() {
        let (machine, context) = machine(Duration::MAX);
        let blocking = machine.lock().create_stream(context, true, false);
        let other = machine.lock().create_stream(context, false, false);
        let null = machine.lock().default_stream(context);
        let [a, b] = [(); 2].map(|()| machine.lock().allocate_plain(4, context).unwrap());
        fill(&machine, blocking, a, 1);
        fill(&machine, other, b, 1);
        let [c, _] = [fill(&machine, null, a, 2), fill(&machine, null, a, 3)];
        drop(machine.wait(machine.lock(), c).unwrap());
        assert_eq!(read(&machine, a), [2; 4]);
        assert_eq!(read(&machine, b), [0xCD; 4]);
    }
}
