//! Whose turn it is. One thread works at a time, the one that the operations name, so they
//! are done in the order of the file; what threads would have waited for each other is not
//! seen. A thread is started when its first turn comes.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use memlog_format::operations::MAX_THREADS;

use crate::outside;
use crate::run::{Next, Run};

const MOST: usize = MAX_THREADS as usize;

struct Shared {
    /// 1 for whose turn it is and who does not know yet.
    turns: [AtomicU32; MOST],
    /// All is done.
    is_over: AtomicBool,
    work: UnsafeCell<Option<Work>>,
}

struct Work {
    run: Run<'static>,
    threads: usize,
    /// What a thread's turns are done by: itself once it is started.
    done_by: [Option<u8>; MOST],
}

// SAFETY: `work` is touched by one thread at a time: by the first one before it starts
// another, then by whose turn it is, which `turns` hands on with Release and Acquire.
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared {
    turns: [const { AtomicU32::new(0) }; MOST],
    is_over: AtomicBool::new(false),
    work: UnsafeCell::new(None),
};

/// Executes all of it; nothing if there are too many threads.
pub fn execute(run: Run<'static>, threads: usize) -> Option<&'static mut Run<'static>> {
    if threads > MOST {
        return None;
    }
    let mut done_by = [None; MOST];
    done_by[0] = Some(0);
    let work = SHARED.work.get();
    // SAFETY: no other thread is started yet.
    unsafe {
        *work = Some(Work {
            run,
            threads,
            done_by,
        });
    }
    SHARED.turns[0].store(1, Ordering::Release);
    work_as(0);
    // SAFETY: all is over: whose turn that was has handed it on to this thread, and no
    // other one touches it any more.
    unsafe { (*work).as_mut().map(|work| &mut work.run) }
}

/// It sleeps on its last turn until the process goes: a thread that ends gives memory back.
extern "C" fn body(number: *mut c_void) -> *mut c_void {
    work_as(number as usize);
    null_mut()
}

/// Does the turns of a thread.
fn work_as(me: usize) {
    loop {
        let mine = &SHARED.turns[me];
        while mine.swap(0, Ordering::Acquire) == 0 {
            outside::sleep_while_zero(mine);
        }
        if SHARED.is_over.load(Ordering::Relaxed) {
            return;
        }
        // SAFETY: it is this thread's turn, and it hands that on below, last.
        let work = unsafe { (*SHARED.work.get()).as_mut() };
        let next = work.map_or(0, |work| work.turn(me));
        SHARED.turns[next].store(1, Ordering::Release);
        outside::wake(&SHARED.turns[next]);
    }
}

impl Work {
    /// Does operations until another's come; who that is.
    fn turn(&mut self, me: usize) -> usize {
        loop {
            let wanted = match self.run.go_on() {
                Next::Thread(wanted) => wanted as usize,
                Next::End => {
                    self.run.end();
                    SHARED.is_over.store(true, Ordering::Relaxed);
                    return 0;
                }
            };
            if wanted >= self.threads {
                self.run.spoil();
                continue;
            }
            let done_by = match self.done_by[wanted] {
                Some(done_by) => usize::from(done_by),
                None => self.start(wanted, me),
            };
            if done_by != me {
                return done_by;
            }
        }
    }

    /// Starts a thread; where no more can be, this one does its work as well.
    fn start(&mut self, wanted: usize, me: usize) -> usize {
        let done_by = match outside::start(body, wanted) {
            true => wanted,
            false => {
                self.run.refused_threads += 1;
                me
            }
        };
        self.done_by[wanted] = Some(done_by as u8);
        done_by
    }
}
