//! Anonymous resident memory: what of it was the most, and when.
//!
//! statm is quick and the kernel's count in it a little behind; smaps_rollup is exact and
//! takes longer the more there is. So the quick one is read as memory grows, and the exact
//! one each time the quick one is a step above what it was then; the difference of the two
//! is added to the quick one until the next step.

use core::ffi::c_int;

use crate::outside;

/// A step, however little there is, and which part of what there is.
const LEAST_STEP: u64 = 128 << 10;
const STEP_PART: u64 = 32;
/// However little there is, nobody looks sooner than after so much.
const LEAST_GATE: u64 = 64 << 10;

/// Reads it.
pub struct Resident {
    statm: c_int,
    rollup: c_int,
    page_bytes: u64,
    /// The highest quick count at which the exact one was read.
    exact_at: u64,
    /// How far the exact count was above the quick one then.
    above: i64,
    /// The most so far.
    pub peak: u64,
    /// After so many more bytes it is to be read again.
    pub gate: u64,
    /// Processor time that reading took.
    pub cpu_ns: u64,
    pub readings: u64,
}

/// Where a reading stands to the highest before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Clearly above it.
    Above,
    /// So near that the order of the two says nothing.
    Near,
    /// Below it.
    Below,
}

impl Resident {
    pub fn new() -> Self {
        Self {
            statm: outside::open(c"/proc/self/statm"),
            rollup: outside::open(c"/proc/self/smaps_rollup"),
            page_bytes: outside::page_bytes() as u64,
            exact_at: 0,
            above: 0,
            peak: 0,
            gate: LEAST_GATE,
            cpu_ns: 0,
            readings: 0,
        }
    }

    /// Reads it now: the figure, and where it stands to the highest before.
    pub fn read(&mut self, is_exact: bool) -> (u64, Stands) {
        let before = outside::cpu_ns();
        let bytes = self.bytes(is_exact);
        self.readings += 1;
        self.gate = LEAST_GATE.max(bytes / 64);
        let grain = self.peak / 100;
        let stands = match () {
            () if bytes > self.peak + grain => Stands::Above,
            () if bytes + grain >= self.peak => Stands::Near,
            () => Stands::Below,
        };
        self.peak = self.peak.max(bytes);
        self.cpu_ns += outside::cpu_ns() - before;
        (bytes, stands)
    }

    fn bytes(&mut self, is_exact: bool) -> u64 {
        let quick = self.quick();
        let step = LEAST_STEP.max(self.exact_at / STEP_PART);
        if !is_exact && quick < self.exact_at + step {
            return quick.saturating_add_signed(self.above);
        }
        let Some(exact) = self.exact() else {
            return quick;
        };
        self.exact_at = self.exact_at.max(quick);
        self.above = exact as i64 - quick as i64;
        exact
    }

    /// What is resident without what is of files or shared.
    fn quick(&self) -> u64 {
        let mut room = [0; 128];
        let length = outside::read(self.statm, &mut room, 0);
        let mut words = room[..length].split(|&byte| byte == b' ').skip(1);
        let mut pages = || words.next().map_or(0, number);
        let (resident, shared) = (pages(), pages());
        resident.saturating_sub(shared) * self.page_bytes
    }

    fn exact(&self) -> Option<u64> {
        const NAME: &[u8] = b"\nAnonymous:";
        let mut room = [0; 2048];
        let length = outside::read(self.rollup, &mut room, 0);
        let text = &room[..length];
        let at = text.windows(NAME.len()).position(|part| part == NAME)?;
        Some(number(&text[at + NAME.len()..]) * 1024)
    }
}

/// The first number of a text.
fn number(text: &[u8]) -> u64 {
    let digits = text.iter().skip_while(|byte| !byte.is_ascii_digit());
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))
}
