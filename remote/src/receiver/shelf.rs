//! Which logs are being written, and over which connection. A sender whose connection broke
//! comes back before the receiver has noticed: it gets its logs from its own old connection.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::{Closer, LOOK};
use crate::limits::PING;
use crate::wire::SenderId;

/// A connection of another sender that was silent for so long gives its log up.
const STALE: Duration = Duration::from_secs(3 * PING.as_secs());
/// How long one waits until an old connection has let go.
const LET_GO: Duration = Duration::from_secs(5);

/// The files, by device and number.
#[derive(Default)]
pub struct Shelf(Arc<Mutex<HashMap<(u64, u64), Entry>>>);

struct Entry {
    sender: SenderId,
    closer: Arc<Closer>,
    heard: Arc<Mutex<Instant>>,
}

/// A log's place among them, until it is dropped.
pub struct Place {
    shelf: Arc<Mutex<HashMap<(u64, u64), Entry>>>,
    file: (u64, u64),
    heard: Arc<Mutex<Instant>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}

impl Shelf {
    /// Puts a log there.
    pub fn place(&self, file: (u64, u64), sender: SenderId, closer: &Arc<Closer>) -> Place {
        let heard = Arc::new(Mutex::new(Instant::now()));
        let entry = Entry {
            sender,
            closer: Arc::clone(closer),
            heard: Arc::clone(&heard),
        };
        locked(&self.0).insert(file, entry);
        Place {
            shelf: Arc::clone(&self.0),
            file,
            heard,
        }
    }

    /// Has whoever writes to a file let go of it, where that is an old connection.
    pub fn claim(&self, file: &File, sender: SenderId, own: &Arc<Closer>) -> Result<(), String> {
        let busy = || "another sender sends this log".to_owned();
        let found = file.metadata().map_err(|error| error.to_string())?;
        let file = (found.dev(), found.ino());
        {
            let all = locked(&self.0);
            // Of another process, or about to be written.
            let entry = all.get(&file).ok_or_else(busy)?;
            let is_own = Arc::ptr_eq(&entry.closer, own);
            let is_old = entry.sender == sender || locked(&entry.heard).elapsed() > STALE;
            if is_own || !is_old {
                return Err(busy());
            }
            entry.closer.close();
        }
        let begun = Instant::now();
        while locked(&self.0).contains_key(&file) {
            if begun.elapsed() > LET_GO {
                return Err(busy());
            }
            std::thread::sleep(LOOK / 10);
        }
        Ok(())
    }
}

impl Place {
    /// Its sender was heard.
    pub fn hear(&self) {
        *locked(&self.heard) = Instant::now();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        locked(&self.shelf).remove(&self.file);
    }
}
