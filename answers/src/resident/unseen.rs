//! The largest mapping that no recorded call explains, as far as the mappings and the
//! addresses of all calls tell it: without the blocks of a moment.

use std::collections::HashMap;

use memlog_format::resident::Mapped;

use super::pages::Stretches;
use super::{Home, Then};

/// Shorter stretches of no file are not looked at.
const LEAST: u64 = 1 << 20;

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// A file, with its variables.
    File(Vec<u8>),
    /// Stacks of threads.
    Stacks,
    /// From the first byte to behind the last, of no file.
    Nameless(u64, u64),
}

/// What most is resident of, and how many bytes are. `unreached` gives the parts of a
/// stretch of addresses that no call ever had to do with.
pub fn largest_unseen(
    then: &Then,
    unreached: impl Fn(u64, u64) -> Vec<(u64, u64)>,
) -> Option<(Unseen, u64)> {
    let mut files: HashMap<&[u8], u64> = HashMap::new();
    let (mut stacks, mut nameless) = (0u64, None);
    let (mut file, mut is_behind_own): (&[u8], _) = (&[], false);
    for mapped in then.mapped {
        let home = Home::of(mapped, then, is_behind_own);
        is_behind_own = home == Home::Own;
        let all = mapped.resident_kb.saturating_mul(1024);
        let low = mapped.low_kb.saturating_mul(1024);
        let high = low.saturating_add(mapped.length_kb.saturating_mul(1024));
        let add = |sum: &mut u64| *sum = sum.saturating_add(all);
        match home {
            Home::File | Home::Shared => {
                file = mapped.path;
                if !unreached(low, high).is_empty() {
                    add(files.entry(file).or_default());
                }
            }
            Home::Variables => add(files.entry(file).or_default()),
            Home::Stack => add(&mut stacks),
            Home::Anonymous if !mapped.is(Mapped::ADVISED) => {
                let stretches = Stretches::of(mapped, then.page_bytes);
                let gaps = unreached(low, high).into_iter();
                for (from, to) in gaps.filter(|(from, to)| to - from >= LEAST) {
                    let bytes = stretches.part(stretches.within(from, to));
                    let one = (Unseen::Nameless(from, to), bytes);
                    nameless = [nameless, Some(one)].into_iter().flatten().max_by_key(of);
                }
            }
            Home::Anonymous | Home::Own | Home::Kernel | Home::Break => {}
        }
    }
    let files = files.into_iter();
    let files = files.map(|(path, bytes)| (Unseen::File(path.to_vec()), bytes));
    let all = files.chain([(Unseen::Stacks, stacks)]).chain(nameless);
    all.max_by_key(of)
}

fn of((_, bytes): &(Unseen, u64)) -> u64 {
    *bytes
}
