//! Calls that asked for memory and got none: an event, with size and stack.
//!
//! A program may ask in a loop. Of calls of one function from one stack the
//! first is told, each that asks for more than any before, and else only the
//! 2nd, 4th, 8th and so on, each with how many it stands for. All are counted.

use crate::arch::DoorFrame;
use crate::events::{self, Request};
use crate::lock::Patience;
use crate::real;
use crate::recorder::RECORDER;
use crate::rss;
use crate::stream::Stream;
use memlog_format::api::Api;
use memlog_format::counter::Counter;
use memlog_format::ext::Ext;
use memlog_format::failure::Failure;
use memlog_format::table::StackId;

/// How many loops a thread may be in at a time.
const SERIES: usize = 4;

/// Failures of a stream that may be many.
pub struct Failures {
    series: [Series; SERIES],
}

/// Failures of one function from one stack.
#[derive(Clone, Copy)]
struct Series {
    /// 0 for none: streams begin as zeros.
    api: u8,
    stack: u32,
    /// A stream goes from thread to thread, and with a fork to another process.
    tid: u32,
    largest: u64,
    calls: u64,
    untold: u64,
}

impl Failures {
    /// None so far.
    pub const fn new() -> Self {
        const NONE: Series = Series {
            api: 0,
            stack: 0,
            tid: 0,
            largest: 0,
            calls: 0,
            untold: 0,
        };
        Self {
            series: [NONE; SERIES],
        }
    }

    /// How many calls are to be told of now: nothing, if this one can wait.
    fn take(&mut self, tid: u32, (api, stack): (Api, StackId), size: u64) -> Option<u64> {
        let series = self.series.get_mut(stack.0 as usize % SERIES)?;
        if (series.api, series.stack, series.tid) != (api as u8, stack.0, tid) {
            *series = Series {
                api: api as u8,
                stack: stack.0,
                tid,
                largest: 0,
                calls: 0,
                untold: 0,
            };
        }
        series.calls += 1;
        series.untold += 1;
        let is_larger = size > series.largest;
        series.largest = series.largest.max(size);
        let is_told = is_larger || series.calls.is_power_of_two();
        is_told.then(|| core::mem::take(&mut series.untold))
    }
}

impl Default for Failures {
    fn default() -> Self {
        Self::new()
    }
}

/// A call of the allocator gave nothing.
#[cold]
#[inline(never)]
pub fn allocation(stream: &mut Stream, patience: Patience, frame: &DoorFrame, request: Request) {
    let errno = match request.api {
        Api::PosixMemalign => errno_of(request.alignment_log2),
        _ => real::errno(),
    };
    // What asks for nothing may get nothing.
    if request.size > 0 {
        let stack = events::before_mapping(stream, patience, frame);
        note(stream, request, errno, stack);
    }
}

/// A change of the address space failed: that is told where there was no room.
#[cold]
#[inline(never)]
pub fn mapping(stream: &mut Stream, request: Request, stack: StackId) {
    let errno = real::errno();
    if errno == libc::ENOMEM as u32 && request.size > 0 {
        note(stream, request, errno, stack);
    }
}

/// posix_memalign leaves errno alone, and refuses only what is no alignment.
const fn errno_of(alignment_log2: u8) -> u32 {
    let is_alignment = alignment_log2 as u32 >= size_of::<usize>().ilog2();
    match is_alignment && alignment_log2 < Request::NO_ALIGNMENT {
        true => libc::ENOMEM as u32,
        false => libc::EINVAL as u32,
    }
}

fn note(stream: &mut Stream, request: Request, errno: u32, stack: StackId) {
    let is_first = RECORDER.counters.get(Counter::AllocationsFailed) == 0;
    RECORDER.counters.add(Counter::AllocationsFailed, 1);
    stream.has_failed = true;
    if is_first {
        rss::read_exactly(stream);
    }
    let size = request.size as u64;
    let (tid, whose) = (stream.tid, (request.api, stack));
    let Some(calls) = stream.failures.take(tid, whose, size) else {
        return;
    };
    // What others did before they did before it.
    events::take_stamp(stream);
    stream.write_ext(&Ext::Failed(Failure {
        api: request.api,
        alignment_log2: request.alignment_log2,
        size,
        calls,
        errno,
        stack,
    }));
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Failures;
    use memlog_format::api::Api;
    use memlog_format::table::StackId;

    /// However many they are, few are told, and those stand for nearly all.
    #[test]
    fn a_loop_is_told_in_few_records() {
        let mut failures = Failures::new();
        let (mut told, mut calls) = (0, 0);
        for call in 0..1_000_000u32 {
            let stack = StackId(8 + call % 2);
            if let Some(count) = failures.take(7, (Api::Malloc, stack), 100) {
                told += 1;
                calls += count;
            }
        }
        assert!(told <= 40, "{told}");
        assert!(calls >= 500_000, "{calls}");
    }

    #[test]
    fn the_largest_is_always_told() {
        let mut failures = Failures::new();
        let mut take = |size| failures.take(7, (Api::Malloc, StackId(9)), size);
        let told: Vec<_> = [7, 7, 7, 9, 8, 8, 10].map(&mut take).into();
        let some = Some;
        assert_eq!(told, [some(1), some(1), None, some(2), None, None, some(3)]);
        assert_eq!(failures.take(7, (Api::Calloc, StackId(9)), 1), Some(1));
        assert_eq!(failures.take(8, (Api::Calloc, StackId(9)), 1), Some(1));
    }
}
