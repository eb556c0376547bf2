//! Calls that asked for memory and got none: an event, with size and stack.
//! Which of many are told: `log::stream::failures`.

use crate::hooks::events::{self, Request};
use crate::hooks::session::Recording;
use crate::log::stream::Stream;
use crate::platform::arch::DoorFrame;
use crate::process::real;
use crate::process::recorder::RECORDER;
use crate::process::rss;
use memlog_format::api::Api;
use memlog_format::counter::Counter;
use memlog_format::ext::Ext;
use memlog_format::failure::Failure;
use memlog_format::table::StackId;

/// A call of the allocator gave nothing.
#[cold]
#[inline(never)]
pub fn allocation(recording: Recording, frame: &DoorFrame, request: Request) {
    let errno = match request.api {
        Api::PosixMemalign => errno_of(request.alignment_log2),
        _ => real::errno(),
    };
    // What asks for nothing may get nothing.
    if request.size > 0 {
        let Recording { stream, patience } = recording;
        let again = Recording {
            stream: &mut *stream,
            patience,
        };
        let stack = events::before_mapping(again, frame);
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
    let is_first = RECORDER.ground.counters.get(Counter::AllocationsFailed) == 0;
    RECORDER.ground.counters.add(Counter::AllocationsFailed, 1);
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
