//! The log's file: its name, its folder, what bounds it, and the one line that
//! says why there is none.

use crate::log::sink::Mode;
use crate::platform::lock::Patience;
use crate::platform::sys::{Errno, Os, Sys};
use crate::process::attached;
use crate::process::launcher::Other;
use crate::process::naming::{self, Facts};
use crate::process::recorder::RECORDER;
use crate::process::settings::Settings;
use core::sync::atomic::Ordering;

/// Makes the log's file under the first name that is free.
pub(super) fn make_log() -> bool {
    bound_all_logs();
    if !RECORDER.log.room.total.admits_log() {
        return false;
    }
    let create = || with_names(|path, settings| RECORDER.log.sink.create(path, &settings.of_log()));
    let mut created = create();
    if created == Err(Errno(libc::ENOENT)) {
        make_folder();
        // Also for the name: the folder's stands in its place now.
        created = create();
    }
    // What a program prints that was attached to is its own affair.
    if let Err(Errno(error)) = created
        && !attached::is_attached()
        && !parent_is_recorded()
    {
        complain(Trouble::File, error);
    }
    created.is_ok()
}

/// Finds the page by which the tree bounds its logs.
fn bound_all_logs() {
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        RECORDER.settings.with(Patience::Bounded, |settings| {
            if settings.max_logs_total == 0 || settings.total_page.is_empty() {
                return;
            }
            let (path, length) = (settings.total_page.get(), settings.total_page.get().len());
            // A C string: the buffer is longer than any setting.
            for (place, &byte) in scratch.buffer.iter_mut().zip(path.iter().chain(&[0])) {
                *place = byte;
            }
            if let Some(path) = scratch.buffer.get(..=length) {
                RECORDER.log.room.total.begin(path);
            }
        })
    });
}

/// Makes the folder of logs, where only that is missing: on the disk of a node
/// nobody may have been before. Others of the job may make it at the same time.
fn make_folder() {
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        RECORDER.settings.with(Patience::Bounded, |settings| {
            if naming::folder(&mut scratch.path, settings, &mut scratch.buffer) {
                // Why it cannot be made the log's own creation says.
                let _ = Os::make_folder(scratch.path.get());
            }
        })
    });
}

/// Tries names until one is free, or the trouble is another.
pub(crate) fn with_names(
    mut make: impl FnMut(&[u8], &Settings) -> Result<Mode, Errno>,
) -> Result<Mode, Errno> {
    let tried = RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        RECORDER.settings.with(Patience::Bounded, |settings| {
            let facts = Facts {
                host: scratch.host.get(..scratch.host_length).unwrap_or(&[]),
                pid: RECORDER.ground.pid.load(Ordering::Relaxed),
                seconds: Os::wall_ns() / 1_000_000_000,
            };
            let mut result = Err(Errno(0));
            for attempt in 1..=naming::MAX_ATTEMPTS {
                naming::make(
                    &mut scratch.path,
                    settings,
                    &facts,
                    attempt,
                    &mut scratch.buffer,
                );
                result = match scratch.path.get() {
                    path if naming::is_among_devices(path) => Err(Errno(libc::EINVAL)),
                    path => make(path, settings),
                };
                if result != Err(Errno(libc::EEXIST)) {
                    break;
                }
            }
            result
        })
    });
    tried.flatten().unwrap_or(Err(Errno(0)))
}

/// Whether the parent runs under the recorder as well: then it has said what
/// there is to say, and this image may have its standard error read.
pub(super) fn parent_is_recorded() -> bool {
    let parent = RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        Other::of(Os::parent_pid(), &[], &mut scratch.buffer).is_recorded
    });
    parent.unwrap_or(false)
}

/// Why there is no log.
pub(super) enum Trouble {
    Memory,
    File,
}

/// The one line that the recorder ever prints.
pub(super) fn complain(trouble: Trouble, error: i32) {
    RECORDER.start.scratch.with(Patience::Bounded, |scratch| {
        let mut path = scratch.path.get();
        path = path.strip_suffix(&[0]).unwrap_or(path);
        let line = &mut scratch.line;
        line.clear();
        line.push(b"memlog: no log of process ");
        line.push_number(u64::from(Os::pid()));
        if let Trouble::File = trouble {
            line.push(b": cannot write ");
            line.push(path.get(..512).unwrap_or(path));
        } else {
            line.push(b": there is no memory for it");
        }
        line.push(b" (error ");
        line.push_number(error.unsigned_abs().into());
        line.push(b")");
        if let Trouble::File = trouble {
            line.push(b"; choose a folder that this user can write to: record -o, or MEMLOG_DIR");
        }
        line.push(b"\n");
        Os::complain(line.get());
    });
}
