//! The recorder is loaded into a process beside what its loader knows of, and told what it
//! would have found out at program start.

use memlog_format::attach::{HAS_HEADERS, HAS_USABLE, TEXT_AT, TEXT_BYTES, Word};

use crate::arch::number;
use crate::folder;
use crate::image::{Image, PAGE};
use crate::library::{Library, code_of, lines};
use crate::process::Process;
use crate::remote::Remote;
use crate::threads::Threads;
use crate::{Outcome, Refusal, Wanted};

impl Process {
    /// Loads the library beside what the loader knows of.
    pub fn load(&self, wanted: &Wanted, after: usize) -> Outcome<Library> {
        let words = Process::words(after)?;
        let mut image = Image::of(wanted.library)?;
        folder::ask(self.pid, wanted.folder, wanted.patience)?;
        let (_, libc) = self
            .first("gnu_get_libc_version")
            .unwrap_or((&self.objects[0], 0));
        let code = code_of(&lines(self.pid), libc).unwrap_or((0, 0));
        // A page before it that nobody may touch, or the kernel could make one mapping
        // of ours and another.
        let length = image.bytes.len() as u64 + PAGE;
        let (rights, private) = (3, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let mapped = self.with_remote(wanted, code, |remote| {
            let arguments = [0, length, rights, private as u64, u64::MAX, 0];
            remote.call(number::MMAP, arguments)?.map_err(refused)
        })?;
        // Nobody stands still for that.
        let filled = self.fill(&mut image, mapped, words);
        let library = filled.and_then(|library| {
            self.with_remote(wanted, code, |remote| {
                self.name(remote, &library, mapped + PAGE, image.bytes.len() as u64)?;
                self.hand_over(&library, words, wanted)?;
                protect(remote, &image, mapped)
            })?;
            Ok(library)
        });
        if library.is_err() {
            // A process that has ended needs it no more.
            let _ = self.with_remote(wanted, code, |remote| {
                remote.call(number::MUNMAP, [mapped, length, 0, 0, 0, 0])
            });
        }
        library
    }

    /// Has a thread make system calls for us.
    fn with_remote<T>(
        &self,
        wanted: &Wanted,
        code: (u64, u64),
        work: impl FnOnce(&mut Remote) -> Outcome<T>,
    ) -> Outcome<T> {
        let mut threads = Threads::of(self.pid);
        threads.stop_one(&self.memory, wanted.patience)?;
        let Some(thread) = threads.all.last() else {
            return Err(Refusal::new("it has ended", "there is nothing to record"));
        };
        let mut remote = Remote::of(thread, &self.memory, code)?;
        let outcome = work(&mut remote);
        remote.end()?;
        outcome
    }

    fn fill(&self, image: &mut Image, mapped: u64, words: (u64, u64)) -> Outcome<Library> {
        let base = mapped + PAGE;
        image.relocate(base, words.0, |name| self.find(name))?;
        self.memory.write(base, &image.bytes)?;
        let library = Library::at(&self.memory, base)?.ok_or_else(|| {
            Refusal::new(
                "the recorder that was written to it is not as it should be",
                "start the program with `memlog record`",
            )
        })?;
        Ok(library)
    }

    /// Gives it a name in the process's map, where the kernel knows such names.
    fn name(&self, remote: &mut Remote, library: &Library, base: u64, length: u64) -> Outcome<()> {
        const SET_VMA: u64 = 0x5356_4d41;
        let at = library.block() + TEXT_AT;
        self.memory.write(at, b"libmemlog.so\0")?;
        let arguments = [SET_VMA, 0, base, length, at, 0];
        remote.call(number::PRCTL, arguments).map(|_| ())
    }

    /// Tells the recorder what it would have found out at program start.
    fn hand_over(
        &self,
        library: &Library,
        (word, own): (u64, u64),
        wanted: &Wanted,
    ) -> Outcome<()> {
        let memory = &self.memory;
        let mut text = Vec::new();
        for setting in wanted.settings {
            text.extend(setting.as_bytes());
            text.push(0);
        }
        if text.len() > TEXT_BYTES {
            return Err(Refusal::new(
                "the settings are too long",
                "give shorter names",
            ));
        }
        memory.write(library.block() + TEXT_AT, &text)?;
        let home = |name| self.first(name).map(|(object, _)| object.bias);
        let malloc = self.first("malloc").map(|(object, _)| object);
        let mut flags = 0;
        if malloc.is_some_and(|object| object.function("gnu_get_libc_version").is_some()) {
            flags |= HAS_HEADERS;
        }
        if home("malloc") == home("malloc_usable_size") {
            flags |= HAS_USABLE;
        }
        let after = match self.last() {
            Some(at) => memory.word(at)?,
            None => 0,
        };
        let errno = self.first("__errno_location").map_or(0, |found| found.1);
        let facts = [
            (Word::Flags, flags),
            (Word::Errno, errno),
            (Word::AfterLast, after),
            (Word::TextBytes, text.len() as u64),
            (Word::Number, self.number_at().wrapping_sub(own)),
        ];
        for (word, value) in facts {
            library.set(memory, word, value)?;
        }
        let shift = library.word(memory, Word::Shift)?;
        memory.write(shift, &(own - word).to_le_bytes())?;
        let reals = library.word(memory, Word::Reals)?;
        for (index, name) in library.names.iter().enumerate() {
            let real = self.first(name).map_or(0, |found| found.1);
            memory.write(reals.wrapping_add(8 * index as u64), &real.to_le_bytes())?;
        }
        Ok(())
    }
}

/// Gives each part of it its rights.
fn protect(remote: &mut Remote, image: &Image, mapped: u64) -> Outcome<()> {
    for &(at, length, rights) in &image.parts {
        let arguments = [mapped + PAGE + at, length, rights, 0, 0, 0];
        remote.call(number::MPROTECT, arguments)?.map_err(refused)?;
    }
    remote
        .call(number::MPROTECT, [mapped, PAGE, 0, 0, 0, 0])?
        .map_err(refused)?;
    Ok(())
}

fn refused(error: i32) -> Refusal {
    Refusal::new(
        format!(
            "its kernel refuses memory for the recorder: {}",
            std::io::Error::from_raw_os_error(error)
        ),
        "it may be at a limit (ulimit -v), or a policy forbids new code (SELinux: execmem)",
    )
}
