//! Work that nobody waits for any more ends: a pass over fifty million rows looks now and
//! then whether it is still wanted.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says that nobody waits any more.
pub type Stop = Arc<AtomicBool>;

thread_local! {
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// Does work on this thread that ends once `stop` says so: it then comes back as damaged,
/// and whoever said so does not listen.
pub fn until<R>(stop: &Stop, work: impl FnOnce() -> R) -> R {
    let before = STOP.replace(Some(Arc::clone(stop)));
    let _back = Back(before);
    work()
}

/// Puts back what was there, also after a panic.
struct Back(Option<Stop>);

impl Drop for Back {
    fn drop(&mut self) {
        STOP.set(self.0.take());
    }
}

/// What this thread's work looks at.
pub(crate) fn current() -> Option<Stop> {
    STOP.with_borrow(Clone::clone)
}

/// Whether it is to end.
pub(crate) fn is_set(stop: &Option<Stop>) -> bool {
    stop.as_ref()
        .is_some_and(|stop| stop.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use memlog_format::api::Api;
    use memlog_table::Table;

    use super::*;
    use crate::making::{KEY, Making};
    use crate::world::{Moments, Of};
    use crate::{By, Choice, Damaged, Test, World, chains, held_of};

    #[test]
    fn work_within_work_has_its_own() {
        let (one, other) = (Stop::default(), Stop::default());
        assert!(current().is_none());
        until(&one, || {
            until(&other, || other.store(true, Ordering::Relaxed));
            assert!(!is_set(&current()));
            one.store(true, Ordering::Relaxed);
            assert!(is_set(&current()));
        });
        assert!(current().is_none());
    }

    #[test]
    fn passes_end_that_nobody_waits_for() {
        let mut making = Making::begin();
        making.alloc(Api::Malloc, 64, 10, 1);
        let bytes = making.end();
        let table = Table::open(&bytes, KEY, u64::MAX).expect("a table");
        let world = World::nameless(&table, Of::Blocks, Moments::default(), 1);
        // What is known of all rows needs no pass.
        let some = Choice::of(Test::Usable(0, 20));
        let stop = Stop::default();
        for is_set in [false, true] {
            stop.store(is_set, Ordering::Relaxed);
            let is_ended = |found: Option<Damaged>| assert_eq!(found.is_some(), is_set);
            until(&stop, || {
                is_ended(held_of(&world, &some).err());
                is_ended(chains(&world, &some, By::Function).err());
            });
        }
    }
}
