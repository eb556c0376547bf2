//! The largest mapping that no recorded call explains, as far as the mappings and the
//! addresses of all calls tell it: without the blocks of a moment.

use std::collections::HashMap;

use memlog_format::resident::Mapped;

use super::Home;
use super::pages::Stretches;
use crate::world::sound_page_bytes;

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
    mappings: &[Mapped],
    (log_name, page_bytes): (&[u8], u64),
    unreached: impl Fn(u64, u64) -> Vec<(u64, u64)>,
) -> Option<(Unseen, u64)> {
    let mut files: HashMap<&[u8], u64> = HashMap::new();
    let (mut stacks, mut nameless) = (0u64, None);
    let (mut file, mut is_behind_own): (&[u8], _) = (&[], false);
    for mapped in mappings {
        let home = Home::of(mapped, log_name, is_behind_own);
        is_behind_own = home == Home::Own;
        let all = mapped.resident_kb.saturating_mul(1024);
        let low = mapped.low_kb.saturating_mul(1024);
        let high = low.saturating_add(mapped.length_kb.saturating_mul(1024));
        let stretches = Stretches::of(mapped, sound_page_bytes(page_bytes));
        let part = |(from, to)| stretches.part(stretches.within(from, to));
        let add = |sum: &mut u64, bytes| *sum = sum.saturating_add(bytes);
        match home {
            Home::File | Home::Shared => {
                file = mapped.path;
                let bytes = unreached(low, high).into_iter().map(part);
                let sum = files.entry(file).or_default();
                bytes.for_each(|bytes| add(sum, bytes));
            }
            Home::Variables => add(files.entry(file).or_default(), all),
            Home::Stack => add(&mut stacks, all),
            Home::Anonymous if !mapped.is(Mapped::ADVISED) => {
                let gaps = unreached(low, high).into_iter();
                for (from, to) in gaps.filter(|(from, to)| to - from >= LEAST) {
                    let one = (Unseen::Nameless(from, to), part((from, to)));
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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn mapped(low_mib: u64, resident_mib: u64, flags: u32, path: &'static [u8]) -> Mapped<'static> {
        Mapped {
            low_kb: low_mib * 1024,
            length_kb: 10 * 1024,
            resident_kb: resident_mib * 1024,
            flags,
            path,
            ..Mapped::default()
        }
    }

    /// What is largest where calls had to do with these mebibytes.
    fn largest(mappings: &[Mapped], reached: &[(u64, u64)]) -> Option<(Unseen, u64)> {
        let unreached = |low: u64, high: u64| {
            let is_in = |at: &u64| {
                reached
                    .iter()
                    .any(|(from, to)| (from * MIB..to * MIB).contains(at))
            };
            let pages = (low..high).step_by(MIB as usize).filter(|at| !is_in(at));
            pages.fold(Vec::new(), |mut parts: Vec<(u64, u64)>, at| {
                match parts.last_mut().filter(|last| last.1 == at) {
                    Some(last) => last.1 = at + MIB,
                    None => parts.push((at, at + MIB)),
                }
                parts
            })
        };
        largest_unseen(mappings, (b"a.memlog", 4096), unreached)
    }

    #[test]
    fn the_largest_is_what_no_call_reached() {
        let all = [
            mapped(0, 8, Mapped::FILE, b"/lib/one.so"),
            mapped(10, 3, Mapped::BEHIND_FILE | Mapped::WRITABLE, b""),
            mapped(20, 10, Mapped::WRITABLE, b""),
            mapped(30, 10, Mapped::FILE | Mapped::SHARED, b"/tmp/a.memlog"),
            mapped(40, 10, Mapped::WRITABLE | Mapped::ADVISED, b""),
            mapped(50, 9, Mapped::WRITABLE | Mapped::GUARDED, b""),
            mapped(60, 10, Mapped::WRITABLE, b"[heap]"),
        ];
        let file = Unseen::File(b"/lib/one.so".to_vec());
        // With its variables, which are behind it.
        assert_eq!(largest(&all, &[]), Some((file, 11 * MIB)));
        let behind = Unseen::Nameless(22 * MIB, 30 * MIB);
        assert_eq!(largest(&all[2..3], &[(0, 22)]), Some((behind, 8 * MIB)));
        // What the program mapped of the file itself is seen.
        assert_eq!(
            largest(&all, &[(0, 10), (20, 30)]),
            Some((Unseen::Stacks, 9 * MIB))
        );
        let half = Unseen::File(b"/lib/one.so".to_vec());
        assert_eq!(largest(&all[..1], &[(5, 10)]), Some((half, 4 * MIB)));
    }
}
