//! Looks up many addresses, by several threads where that is worthwhile.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

use crate::ground::Ground;
use crate::lane::Lane;
use crate::module::{Lookup, ModuleHandle};
use crate::source::FileSource;

/// A thread looks up at least so many: before its first it reads the headers of all units of a
/// program, which takes as long as some hundreds of addresses.
const FEWEST: usize = 1000;

/// An address of a module.
pub(crate) type Question = (ModuleHandle, u64);

/// The answers, in the order of the questions; none to those that come after `is_over`.
///
/// Each thread has one part of all addresses in their order, whichever modules they are of: what
/// it reads of a program is then of little use to others. The parts depend on the questions
/// alone, and the answers not even on the parts.
pub(crate) fn lookup_all<'a, S: FileSource + Sync>(
    ground: &Ground<'_, 'a, S>,
    lanes: &mut Vec<Lane<'a>>,
    questions: &[Question],
    is_over: &(impl Fn() -> bool + Sync),
) -> Vec<Option<Lookup>> {
    let mut distinct = questions.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let most = thread::available_parallelism().map_or(1, usize::from);
    let count = most.min(distinct.len() / FEWEST).max(1);
    lanes.resize_with(count.max(lanes.len()), Lane::default);
    let look_up = |lane: &mut Lane<'a>, part: &[Question]| {
        let part = part.iter().map(|&(module, svma)| match is_over() {
            true => None,
            false => Some(lane.lookup(ground, module, svma)),
        });
        part.collect::<Vec<_>>()
    };
    let look_up = &look_up;
    let mut parts = distinct.chunks(distinct.len().div_ceil(count).max(1));
    let (Some((own, others)), Some(first)) = (lanes.split_first_mut(), parts.next()) else {
        return Vec::new();
    };
    thread::scope(|scope| {
        let begin = |(lane, part)| {
            // Where no more threads may be made it is done here.
            let thread = Builder::new().spawn_scoped(scope, move || look_up(lane, part));
            (part, thread.ok())
        };
        let others: Vec<_> = others.iter_mut().zip(parts).map(begin).collect();
        let mut answers = look_up(own, first);
        for (part, thread) in others {
            answers.extend(match thread.map(|thread| thread.join()) {
                Some(Ok(found)) => found,
                Some(Err(panic)) => resume_unwind(panic),
                None => look_up(own, part),
            });
        }
        in_order(questions, &distinct, answers)
    })
}

/// Answers to the distinct questions, as answers to all.
fn in_order(
    questions: &[Question],
    distinct: &[Question],
    answers: Vec<Option<Lookup>>,
) -> Vec<Option<Lookup>> {
    if questions == distinct {
        return answers;
    }
    let answer = |question| {
        let at = distinct.binary_search(question).ok()?;
        answers.get(at)?.clone()
    };
    questions.iter().map(answer).collect()
}
