//! What the kernel told the process at its start: where its headers are, what a
//! page is, whether it has another's rights.

use crate::platform::elf::initial::Initial;
use crate::platform::sys::{Os, Sys};
use core::sync::atomic::{AtomicU64, Ordering};

/// What the kernel told the process.
#[derive(Default)]
pub(crate) struct Auxiliary {
    program_headers: u64,
    header_count: u64,
    /// Where the loader lies, or 0.
    loader: u64,
    /// Where the program begins.
    entry: u64,
    /// Bytes of a page, 0 if it did not say.
    pub(crate) page_bytes: u64,
    /// Where its own object is mapped, or 0.
    pub(crate) vdso: u64,
    /// Whether the program has another's rights, if that was said.
    pub(crate) secure: Option<bool>,
}

impl Auxiliary {
    fn take(&mut self, key: u64, value: u64) {
        match key {
            3 => self.program_headers = value,
            5 => self.header_count = value,
            6 => self.page_bytes = value,
            7 => self.loader = value,
            9 => self.entry = value,
            23 => self.secure = Some(value != 0),
            33 => self.vdso = value,
            _ => {}
        }
    }

    /// By its file, else from the stack: there may be no /proc, and who has
    /// another's rights can open the file and not read it.
    pub(crate) fn read() -> Self {
        let mut told = Self::default();
        let mut bytes = [0u8; 512];
        let count = match Os::open(b"/proc/self/auxv\0") {
            Ok(fd) => {
                let count = Os::read(fd, &mut bytes).unwrap_or(0);
                Os::close(fd);
                count
            }
            Err(_) => 0,
        };
        if count == 0 {
            if let Some(initial) = Initial::find() {
                initial.each_auxiliary(|key, value| told.take(key, value));
            }
            return told;
        }
        const WORD: usize = size_of::<usize>();
        let word = |bytes: &[u8]| {
            bytes
                .first_chunk::<WORD>()
                .map_or(0, |word| usize::from_ne_bytes(*word) as u64)
        };
        for pair in bytes.get(..count).unwrap_or(&[]).chunks_exact(2 * WORD) {
            told.take(word(pair), word(pair.get(WORD..).unwrap_or(&[])));
        }
        told
    }
}

/// The program's own headers and how many there are.
pub(crate) fn program_headers() -> (u64, u64) {
    let [headers, count, ..] = told_first();
    (headers, count)
}

/// Where the loader lies, or 0, and where the program begins.
pub(crate) fn beginnings() -> (u64, u64) {
    let [.., loader, entry] = told_first();
    (loader, entry)
}

/// As it was told first: later there may be neither /proc nor the stack that the
/// kernel made.
fn told_first() -> [u64; 4] {
    static TOLD: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
    let [headers, count, loader, entry] = &TOLD;
    if headers.load(Ordering::Acquire) == 0 {
        let told = Auxiliary::read();
        count.store(told.header_count, Ordering::Relaxed);
        loader.store(told.loader, Ordering::Relaxed);
        entry.store(told.entry, Ordering::Relaxed);
        headers.store(told.program_headers, Ordering::Release);
    }
    let headers = headers.load(Ordering::Acquire);
    let [count, loader, entry] = [count, loader, entry].map(|it| it.load(Ordering::Relaxed));
    [headers, count, loader, entry]
}

#[cfg(test)]
mod tests {
    use super::Auxiliary;

    #[test]
    fn it_says_what_is_asked_of_it() {
        let told = Auxiliary::read();
        assert!(told.program_headers != 0 && told.header_count > 0);
        assert!(told.page_bytes.is_power_of_two());
        assert_eq!(told.secure, Some(false));
        assert_eq!(Auxiliary::default().secure, None);
    }
}
