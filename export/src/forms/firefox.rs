//! A profile for profiler.firefox.com: each allocation and release, from which it draws
//! what is retained, allocated and released, in any part of the run.

use std::time::Duration;

use fxprof_processed_profile::{
    CategoryHandle, Frame, FrameFlags, FrameInfo, Profile, ReferenceTimestamp, SamplingInterval,
    StackHandle, ThreadHandle, Timestamp,
};

use super::Stacks;
use crate::flame::Flame;
use crate::shown::clean;

/// What came, or went.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Since the start.
    pub ns: u64,
    /// Where it lies.
    pub address: u64,
    /// Bytes; less than none if it went.
    pub bytes: i64,
    /// The place in the tree where its stack ends.
    pub end: Option<u32>,
}

/// Something that is read now and then: nanoseconds and bytes.
#[derive(Clone, Debug)]
pub struct Counter {
    /// What it is called.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The readings.
    pub points: Vec<(u64, u64)>,
}

/// Whose profile it is.
#[derive(Clone, Copy, Debug)]
pub struct Process<'a> {
    /// Its program.
    pub name: &'a str,
    /// Its number.
    pub pid: u32,
    /// When it began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// When its log ends.
    pub end_ns: u64,
}

/// Changes in their order, with the tree that they point into.
pub fn firefox(
    flame: &Flame,
    process: Process,
    changes: &[Change],
    counters: &[Counter],
) -> serde_json::Result<String> {
    let name = clean(process.name.as_bytes());
    let start = ReferenceTimestamp::from_duration_since_unix_epoch(Duration::from_nanos(
        process.start_unix_ns,
    ));
    let at = Timestamp::from_nanos_since_reference;
    let mut profile = Profile::new(&name, start, SamplingInterval::from_millis(1));
    profile.set_symbolicated(true);
    let of = profile.add_process(&name, process.pid, at(0));
    profile.set_process_end_time(of, at(process.end_ns));
    // What one thread allocates another may release: all is of one.
    let thread = profile.add_thread(of, process.pid, at(0), true);
    profile.set_thread_name(thread, "all threads");
    profile.set_thread_end_time(thread, at(process.end_ns));
    profile.add_initial_visible_thread(thread);
    profile.add_initial_selected_thread(thread);
    let stacks = stacks(&mut profile, thread, flame);
    for change in changes {
        let stack = change.end.and_then(|end| stacks.get(end as usize));
        let (stack, bytes) = (stack.copied(), change.bytes);
        profile.add_allocation_sample(thread, at(change.ns), stack, change.address, bytes);
    }
    for counter in counters {
        let handle = profile.add_counter(of, counter.name, "Memory", counter.about);
        let mut last = 0;
        for &(ns, bytes) in &counter.points {
            let delta = bytes as f64 - last as f64;
            profile.add_counter_sample(handle, at(ns), delta, 1);
            last = bytes;
        }
    }
    serde_json::to_string(&profile)
}

/// By place in the tree the profile's stack.
fn stacks(profile: &mut Profile, thread: ThreadHandle, flame: &Flame) -> Vec<StackHandle> {
    let named = Stacks { flame, own: &[] };
    let mut stacks: Vec<StackHandle> = Vec::with_capacity(flame.nodes.len());
    for node in &flame.nodes {
        let label = profile.intern_string(&named.function(node));
        let frame = FrameInfo {
            frame: Frame::Label(label),
            category_pair: CategoryHandle::OTHER.into(),
            flags: FrameFlags::empty(),
        };
        let frame = profile.intern_frame(thread, frame);
        // Callers come before callees.
        let caller = node.caller.and_then(|caller| stacks.get(caller as usize));
        let caller = caller.copied();
        stacks.push(profile.intern_stack(thread, caller, frame));
    }
    stacks
}
