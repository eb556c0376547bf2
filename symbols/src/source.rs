//! Where bytes come from, and where they stay.

use std::io;
use std::sync::Arc;

use typed_arena::Arena;

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
    files: Arena<Bytes>,
    unpacked: Arena<Vec<u8>>,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn keep_file(&self, bytes: Bytes) -> &[u8] {
        let kept: &Bytes = self.files.alloc(bytes);
        (**kept).as_ref()
    }

    pub(crate) fn keep_unpacked(&self, bytes: Vec<u8>) -> &[u8] {
        self.unpacked.alloc(bytes)
    }
}
