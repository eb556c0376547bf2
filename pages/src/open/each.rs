//! Many files on all processors.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// So many are looked at sooner than a thread is made.
const FEW: usize = 256;

/// What `look` finds in each item, in their order.
pub fn each<P: Sync, T: Send>(items: &[P], look: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let size = items.len().div_ceil(threads).max(FEW);
    let of = |part: &[P]| part.iter().map(&look).collect::<Vec<T>>();
    thread::scope(|scope| {
        let parts = items.chunks(size).skip(1);
        let begin = |part| {
            // Where no more threads may be made it is done here.
            let thread = Builder::new().spawn_scoped(scope, move || of(part));
            (part, thread.ok())
        };
        let others: Vec<_> = parts.map(begin).collect();
        let mut found = items.chunks(size).next().map(of).unwrap_or_default();
        for (part, thread) in others {
            found.extend(match thread.map(|thread| thread.join()) {
                Some(Ok(found)) => found,
                Some(Err(panic)) => resume_unwind(panic),
                None => of(part),
            });
        }
        found
    })
}

/// What is made of all items together: each thread makes something of those that it is
/// handed, whichever those are, and `merge` must not care. For what takes long of each.
pub fn gathered<P: Sync, T: Send>(
    items: &[P],
    make: impl Fn(&mut dyn Iterator<Item = &P>) -> T + Sync,
    merge: impl Fn(T, T) -> T,
) -> T {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let work = || {
        make(&mut std::iter::from_fn(|| {
            items.get(next.fetch_add(1, Ordering::Relaxed))
        }))
    };
    thread::scope(|scope| {
        let others = (1..threads.min(items.len()))
            .filter_map(|_| Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        others
            .into_iter()
            .fold(work(), |made, thread| match thread.join() {
                Ok(other) => merge(made, other),
                Err(panic) => resume_unwind(panic),
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_keep_their_order() {
        for count in [0, 1, FEW, FEW + 1, 10 * FEW + 3] {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(each(&items, |item| item * 2), expected);
        }
    }

    #[test]
    fn each_is_gathered_once() {
        for count in [0_u64, 1, 2, 1000] {
            let items: Vec<u64> = (0..count).collect();
            let sum = gathered(&items, |items| items.sum::<u64>(), |one, other| one + other);
            assert_eq!(sum, items.iter().sum::<u64>());
        }
    }
}
