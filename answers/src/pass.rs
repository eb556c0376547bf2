//! All chosen rows, once, on as many cores as there are, up to four.

use std::sync::atomic::{AtomicUsize, Ordering};

use memlog_table::{Columns, Rows};

use crate::choice::Choice;
use crate::stop;
use crate::world::{Damaged, World};

/// Threads that read chunks. More win nothing: the file is read once.
const THREADS: usize = 4;

/// Takes each chunk's rows that were chosen to `each`, into as many states as there
/// are threads; `join` makes one of them.
pub(crate) fn over<S: Default + Send>(
    world: &World,
    choice: &Choice,
    columns: Columns,
    each: impl Fn(&mut S, &Rows, &[usize]) + Sync,
    join: impl Fn(S, S) -> S,
) -> Result<S, Damaged> {
    let chunks = world.table.chunks();
    let chosen_by = columns.and(choice.columns());
    let next = AtomicUsize::new(0);
    let stop = stop::current();
    let work = || {
        let (mut state, mut rows) = (S::default(), Rows::default());
        let (mut mask, mut chosen) = (Vec::new(), Vec::new());
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(place) else {
                return Ok(state);
            };
            if stop::is_set(&stop) {
                return Err(Damaged);
            }
            if !choice.may_choose(chunk) {
                continue;
            }
            let takes_all = choice.takes_all(chunk);
            let wanted = if takes_all { columns } else { chosen_by };
            world
                .table
                .read(place, wanted, &mut rows)
                .map_err(|_| Damaged)?;
            chosen.clear();
            if takes_all {
                chosen.extend(0..rows.len());
            } else {
                choice.choose(world, &rows, &mut mask);
                chosen.extend((0..rows.len()).filter(|&row| mask[row]));
            }
            if !chosen.is_empty() {
                each(&mut state, &rows, &chosen);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(THREADS).min(chunks.len()).max(1);
    let states: Vec<Result<S, Damaged>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let others = others
            .into_iter()
            .map(|one| one.join().unwrap_or(Err(Damaged)));
        std::iter::once(own).chain(others).collect()
    });
    let mut states = states.into_iter();
    let first = states.next().unwrap_or(Ok(S::default()))?;
    states.try_fold(first, |all, one| Ok(join(all, one?)))
}
