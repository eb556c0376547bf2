//! Answers that were given before, as bytes to be kept somewhere, and read in place again.
//!
//! Numbers are little-endian. Of a thing that may be absent, its number plus 1, else 0.
//!
//! ```text
//! HEAD    u32 texts; u32 frames; u32 places; u32 bytes of all texts
//! TEXT    u32 where it ends in the bytes; it begins where the one before ends
//! FRAME   u32 text of its function; u32 of its raw name; u32 of its file; u32 line, or 0; u32
//!         frame that has it inlined, a lower number than its own
//! PLACE   u64 address; u64 offset in the symbol; u32 innermost frame; ascending by address
//! BYTES   the texts, in UTF-8
//! ```
//!
//! All of each kind come together, in this order. Many places share frames: the callers of what
//! is inlined are those of its neighbours too.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use crate::dwarf::MAX_FRAMES;
use crate::module::{Frame, Lookup};

const HEAD: usize = 16;
const TEXT: usize = 4;
const FRAME: usize = 20;
const PLACE: usize = 20;
/// Frames of all places together that are read to be written again.
const MOST: usize = 16 << 20;

/// Answers by address, in bytes that may say anything.
pub(crate) struct Cached<'a> {
    ends: &'a [[u8; TEXT]],
    frames: &'a [[u8; FRAME]],
    places: &'a [[u8; PLACE]],
    bytes: &'a [u8],
    /// Those that somebody asked for.
    texts: Box<[OnceLock<Arc<str>>]>,
}

impl<'a> Cached<'a> {
    /// Nothing if they are not what they should be.
    pub(crate) fn of(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let [texts, frames, places, length] = [0, 1, 2, 3].map(|at| u32_at(head, at) as usize);
        let (ends, rest) = table(rest, texts)?;
        let (frames, rest) = table(rest, frames)?;
        let (places, bytes) = table(rest, places)?;
        (bytes.len() == length).then(|| Self {
            ends,
            frames,
            places,
            bytes,
            texts: (0..texts).map(|_| OnceLock::new()).collect(),
        })
    }

    /// The answer for an address, if it is there and can be read.
    pub(crate) fn find(&self, svma: u64) -> Option<Lookup> {
        let at = self.places.binary_search_by_key(&svma, |it| u64_at(it, 0));
        self.answer(&self.places[at.ok()?])
    }

    /// All that can be read, in bounds: bytes made on purpose have 500 frames at each place.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, Lookup)> {
        let answer = |place: &[u8; PLACE]| Some((u64_at(place, 0), self.answer(place)?));
        let mut left = MOST;
        self.places
            .iter()
            .filter_map(answer)
            .take_while(move |(_, lookup)| {
                left = left.saturating_sub(lookup.frames.len());
                left > 0
            })
    }

    fn answer(&self, place: &[u8; PLACE]) -> Option<Lookup> {
        let mut frames = Vec::new();
        let mut above = self.frames.len();
        let mut next = u32_at(place, 4) as usize;
        while let Some(number) = next.checked_sub(1) {
            // It ends, for numbers fall.
            if number >= above || frames.len() == MAX_FRAMES {
                return None;
            }
            let frame = &self.frames[number];
            (above, next) = (number, u32_at(frame, 4) as usize);
            frames.push(Frame {
                function: self.text(u32_at(frame, 0))?,
                raw_name: self.text(u32_at(frame, 1))?,
                offset_in_symbol: None,
                file: self.text(u32_at(frame, 2))?,
                line: Some(u32_at(frame, 3)).filter(|&line| line > 0),
                inlined: next > 0,
            });
        }
        if let Some(outermost) = frames.last_mut() {
            outermost.offset_in_symbol = u64_at(place, 1).checked_sub(1);
        }
        Some(Lookup { frames })
    }

    /// A text or none, if it can be read.
    fn text(&self, number: u32) -> Option<Option<Arc<str>>> {
        let Some(at) = (number as usize).checked_sub(1) else {
            return Some(None);
        };
        let made = self.texts.get(at)?;
        if let Some(text) = made.get() {
            return Some(Some(text.clone()));
        }
        let end = |at: usize| {
            self.ends
                .get(at)
                .map(|end| u32::from_le_bytes(*end) as usize)
        };
        let begin = at.checked_sub(1).map_or(Some(0), end)?;
        let text = std::str::from_utf8(self.bytes.get(begin..end(at)?)?).ok()?;
        Some(Some(made.get_or_init(|| text.into()).clone()))
    }
}

/// The first so many entries, and what follows them.
fn table<const N: usize>(bytes: &[u8], count: usize) -> Option<(&[[u8; N]], &[u8])> {
    let (table, rest) = bytes.split_at_checked(count.checked_mul(N)?)?;
    Some((table.as_chunks().0, rest))
}

/// The word of 4 bytes at `at` words.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes
        .as_chunks()
        .0
        .get(at)
        .map_or(0, |it| u32::from_le_bytes(*it))
}

/// The word of 8 bytes at `at` words.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes
        .as_chunks()
        .0
        .get(at)
        .map_or(0, |it| u64::from_le_bytes(*it))
}

/// Answers to be kept, as bytes; nothing if they are too many for the form.
pub(crate) fn to_bytes(answers: &BTreeMap<u64, Lookup>) -> Option<Vec<u8>> {
    let mut writing = Writing::default();
    let mut places = Vec::with_capacity(answers.len() * PLACE);
    for (address, lookup) in answers {
        let offset = lookup
            .frames
            .last()
            .and_then(|frame| frame.offset_in_symbol);
        let innermost = writing.frames_of(lookup)?;
        places.extend(address.to_le_bytes());
        places.extend(
            offset
                .map_or(Some(0), |it| it.checked_add(1))?
                .to_le_bytes(),
        );
        places.extend(innermost.to_le_bytes());
    }
    let Writing {
        texts,
        ends,
        bytes,
        frames,
    } = writing;
    let counts = [texts.len(), frames.len(), answers.len(), bytes.len()];
    let mut all = Vec::new();
    for count in counts {
        all.extend(u32::try_from(count).ok()?.to_le_bytes());
    }
    all.extend(ends);
    let mut in_order: Vec<_> = frames.into_iter().collect();
    in_order.sort_unstable_by_key(|(_, number)| *number);
    let words = in_order.iter().flat_map(|(frame, _)| frame);
    all.extend(words.flat_map(|word| word.to_le_bytes()));
    all.extend(places);
    all.extend(bytes);
    Some(all)
}

#[derive(Default)]
struct Writing {
    texts: HashMap<Arc<str>, u32>,
    ends: Vec<u8>,
    bytes: Vec<u8>,
    /// By their words; numbers from 1.
    frames: HashMap<[u32; FRAME / 4], u32>,
}

impl Writing {
    /// The number of the innermost frame, plus 1.
    fn frames_of(&mut self, lookup: &Lookup) -> Option<u32> {
        let mut outer = 0;
        for frame in lookup.frames.iter().rev() {
            let words = [
                self.text(frame.function.as_ref())?,
                self.text(frame.raw_name.as_ref())?,
                self.text(frame.file.as_ref())?,
                frame.line.unwrap_or(0),
                outer,
            ];
            let next = u32::try_from(self.frames.len() + 1).ok()?;
            outer = *self.frames.entry(words).or_insert(next);
        }
        Some(outer)
    }

    /// The number of a text, plus 1.
    fn text(&mut self, text: Option<&Arc<str>>) -> Option<u32> {
        let Some(text) = text else { return Some(0) };
        if let Some(&number) = self.texts.get(text) {
            return Some(number);
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends
            .extend(u32::try_from(self.bytes.len()).ok()?.to_le_bytes());
        let number = u32::try_from(self.texts.len() + 1).ok()?;
        self.texts.insert(text.clone(), number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, line: u32, inlined: bool) -> Frame {
        Frame {
            function: Some(function.into()),
            raw_name: (line > 3).then(|| format!("_Z{function}").into()),
            offset_in_symbol: (!inlined).then_some(u64::from(line)),
            file: (line > 0).then(|| "a/é.c".into()),
            line: Some(line).filter(|&line| line > 0),
            inlined,
        }
    }

    fn answers() -> BTreeMap<u64, Lookup> {
        let chains = [
            vec![],
            vec![frame("alone", 0, false)],
            vec![
                frame("inner", 1, true),
                frame("middle", 2, true),
                frame("outer", 3, false),
            ],
            vec![
                frame("other", 4, true),
                frame("middle", 2, true),
                frame("outer", 3, false),
            ],
            vec![Frame::default()],
        ];
        let addresses = [0, 7, 0x1234, u64::MAX / 2, u64::MAX];
        let lookups = chains.map(|frames| Lookup { frames });
        addresses.into_iter().zip(lookups).collect()
    }

    #[test]
    fn what_is_kept_comes_back() {
        let answers = answers();
        let bytes = to_bytes(&answers).unwrap();
        let cached = Cached::of(&bytes).unwrap();
        assert!(cached.all().eq(answers.clone()));
        for (address, lookup) in &answers {
            assert_eq!(cached.find(*address).as_ref(), Some(lookup));
            assert!(cached.find(address ^ 0x100).is_none());
        }
        // Both have the same two around them.
        assert_eq!(cached.frames.len(), 6);
        let none = to_bytes(&BTreeMap::new()).unwrap();
        assert_eq!(Cached::of(&none).unwrap().all().count(), 0);
    }

    /// Any byte may be any other, and the end may be anywhere: then there are other answers
    /// or none, in no more time and memory.
    #[test]
    fn damage_is_no_panic() {
        let answers = answers();
        let bytes = to_bytes(&answers).unwrap();
        for length in 0..bytes.len() {
            assert!(Cached::of(&bytes[..length]).is_none());
        }
        let (mut refused, mut differ) = (0, 0);
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(1)] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let Some(cached) = Cached::of(&damaged) else {
                    refused += 1;
                    continue;
                };
                let all: Vec<_> = cached.all().collect();
                assert!(
                    all.iter()
                        .all(|(_, lookup)| lookup.frames.len() <= MAX_FRAMES)
                );
                differ += u32::from(!all.into_iter().eq(answers.clone()));
            }
        }
        assert!(refused > 50 && differ > 300, "{refused} {differ}");
    }

    /// Frames that say of each other that they are inlined there.
    #[test]
    fn a_circle_has_an_end() {
        let mut bytes = to_bytes(&answers()).unwrap();
        let count = Cached::of(&bytes).unwrap().frames.len();
        let texts = u32_at(&bytes, 0) as usize;
        for number in 0..count {
            let at = HEAD + texts * TEXT + number * FRAME + 16;
            bytes[at..at + 4].copy_from_slice(&(count as u32).to_le_bytes());
        }
        let cached = Cached::of(&bytes).unwrap();
        assert!(cached.find(0x1234).is_none());
        assert!(
            cached
                .find(0)
                .is_some_and(|lookup| lookup.frames.is_empty())
        );
    }
}
