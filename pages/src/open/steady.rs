//! A copy of a log whose recorder leaves out short lives while it is copied.

use std::fs::File;
use std::io::{self, Read, Seek};

use memlog_format::counter::{AREA_END, Counter};
use memlog_read::{Log, Steady};

use super::cut::outlive_cut_files;
use super::extent::{self, is_over};
use super::map::{FileBytes, watch_file};

/// A log may grow so much while it is looked at; where it grows more, it is looked at again.
const AHEAD: u64 = 64 << 20;
/// A program ends once, and a log is cut once.
const TRIES: usize = 8;

/// Whether chunks of the log were written anew.
pub fn has_moved(bytes: &[u8]) -> bool {
    bytes.len() >= AREA_END && Counter::CulledChunks.read(bytes) > 0
}

/// Whether chunks of a log were written anew, and may be again; these are its bytes of just
/// now.
pub fn moves(bytes: &[u8], file: &File) -> io::Result<bool> {
    let mut first = Vec::with_capacity(AREA_END);
    read_start(file, AREA_END as u64, &mut first)?;
    let is_running = |log: Log| log.end().is_none() && log.death().is_none();
    Ok(has_moved(&first) && Log::open(bytes).is_ok_and(is_running))
}

/// A copy of what the log was at one moment.
pub fn copy_of(file: &File) -> io::Result<FileBytes> {
    // A program that ends cuts its log.
    outlive_cut_files();
    for _ in 0..TRIES {
        let length = extent::of(file)?.bytes.saturating_add(AHEAD);
        let live = watch_file(file, Some(length.min(file.metadata()?.len())))?;
        let was_over = is_over(&live);
        let Some(steady) = Steady::take(&live) else {
            break;
        };
        // It went on behind what was looked at. What is sent elsewhere has an end there.
        if steady.goes_on_behind(&live) && file.metadata()?.len() > live.len() as u64 {
            continue;
        }
        let length = extent::of(file)?.bytes;
        let mut copy = room_for(length)?;
        read_start(file, length, &mut copy)?;
        // If it says how the program ended, it is to have what came before.
        if !was_over && is_over(&copy) {
            continue;
        }
        return Ok(match steady.settle(&mut copy) {
            Some(marks) => FileBytes::Moment(copy, marks),
            None => FileBytes::Read(copy),
        });
    }
    Err(io::Error::new(
        io::ErrorKind::TimedOut,
        "its program writes it faster than it can be copied",
    ))
}

/// Memory for so much of a log, which may say that it is longer than any is.
pub fn room_for(length: u64) -> io::Result<Vec<u8>> {
    let mut room = Vec::new();
    let bytes = usize::try_from(length).unwrap_or(usize::MAX);
    room.try_reserve_exact(bytes)?;
    Ok(room)
}

fn read_start(mut file: &File, length: u64, into: &mut Vec<u8>) -> io::Result<()> {
    file.rewind()?;
    file.take(length).read_to_end(into)?;
    Ok(())
}
