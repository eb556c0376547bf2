//! Where bytes come from, and where they stay.

use std::array;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The bytes of one file; the caller decides whether they are read or mapped.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Hands out the bytes of files by path. Any `Fn(&[u8]) -> io::Result<Bytes>` is one.
pub trait FileSource {
    /// The whole file at `path`, or why there is none. `NotFound` is an ordinary answer.
    fn open(&self, path: &[u8]) -> io::Result<Bytes>;
}

impl<F: Fn(&[u8]) -> io::Result<Bytes>> FileSource for F {
    fn open(&self, path: &[u8]) -> io::Result<Bytes> {
        self(path)
    }
}

/// Keeps the files and unpacked sections a [`crate::Symbolizer`] reads.
///
/// It is a separate value because names, lines and symbol tables are slices of these bytes:
/// debug information is read in place, without a copy or a reference count an access.
#[derive(Default)]
pub struct Store {
    files: Shelf<Bytes>,
    unpacked: Shelf<Vec<u8>>,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn keep_file(&self, bytes: Bytes) -> &[u8] {
        let kept: &Bytes = self.files.put(bytes);
        (**kept).as_ref()
    }

    pub(crate) fn keep_unpacked(&self, bytes: Vec<u8>) -> &[u8] {
        self.unpacked.put(bytes)
    }
}

/// Values that stay where they are; any thread may add one. Each row is twice as long as the
/// one before, and is made when its first value comes.
struct Shelf<T> {
    rows: [OnceLock<Box<[OnceLock<T>]>>; usize::BITS as usize],
    taken: AtomicUsize,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            rows: array::from_fn(|_| OnceLock::new()),
            taken: AtomicUsize::new(0),
        }
    }
}

impl<T> Shelf<T> {
    fn put(&self, value: T) -> &T {
        // Nobody else gets this number; the value is handed over by its OnceLock.
        let number = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let row = number.ilog2();
        let places = || (0..1_usize << row).map(|_| OnceLock::new()).collect();
        let places = self.rows[row as usize].get_or_init(places);
        places[number - (1 << row)].get_or_init(|| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays() {
        let shelf = Shelf::default();
        let put = |first: usize| move |at: usize| first + at;
        let kept: Vec<&usize> = std::thread::scope(|scope| {
            let shelf = &shelf;
            let threads = [0, 1000].map(|first| {
                let values = (0..1000).map(put(first));
                scope.spawn(move || values.map(|value| shelf.put(value)).collect::<Vec<_>>())
            });
            let kept = threads.map(|thread| thread.join().unwrap());
            kept.into_iter().flatten().collect()
        });
        assert!(kept.into_iter().copied().eq(0..2000));
    }
}
