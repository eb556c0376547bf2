//! The recorder is loaded into a process beside what its loader knows of, and told what it
//! would have found out at program start.

use memlog_format::attach::{HAS_HEADERS, HAS_USABLE, TEXT_AT, TEXT_BYTES, Word};

use crate::arch::number;
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
        let (_, libc) = self
            .first("gnu_get_libc_version")
            .unwrap_or((&self.objects[0], 0));
        let code = code_of(&lines(self.pid), libc).unwrap_or((0, 0));
        let mut threads = Threads::of(self.pid);
        threads.stop_one(&self.memory)?;
        let Some(thread) = threads.all.last() else {
            return Err(Refusal::new("it has ended", "there is nothing to record"));
        };
        let mut remote = Remote::of(thread, &self.memory, code)?;
        // A page before it that nobody may touch, or the kernel could make one mapping
        // of ours and another.
        let length = image.bytes.len() as u64 + PAGE;
        let (rights, private) = (3, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let arguments = [0, length, rights, private as u64, u64::MAX, 0];
        let mapped = remote.call(number::MMAP, arguments)?.map_err(refused)?;
        let filled = self.fill(&mut remote, &mut image, mapped, words, wanted);
        if filled.is_err() {
            let _ = remote.call(number::MUNMAP, [mapped, length, 0, 0, 0, 0]);
        }
        remote.end()?;
        filled
    }

    fn fill(
        &self,
        remote: &mut Remote,
        image: &mut Image,
        mapped: u64,
        words: (u64, u64),
        wanted: &Wanted,
    ) -> Outcome<Library> {
        let base = mapped + PAGE;
        image.relocate(base, words.0, |name| self.find(name))?;
        self.memory.write(base, &image.bytes)?;
        let library = Library::at(&self.memory, base)?.ok_or_else(|| {
            Refusal::new(
                "the recorder that was written to it is not as it should be",
                "start the program with `memlog record`",
            )
        })?;
        self.ask_for_folder(remote, &library, wanted)?;
        self.name(remote, &library, base, image.bytes.len() as u64)?;
        self.hand_over(&library, words, wanted)?;
        for &(at, length, rights) in &image.parts {
            let arguments = [base + at, length, rights, 0, 0, 0];
            remote.call(number::MPROTECT, arguments)?.map_err(refused)?;
        }
        remote
            .call(number::MPROTECT, [mapped, PAGE, 0, 0, 0, 0])?
            .map_err(refused)?;
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

    /// Whether the process may make its log there: the kernel knows best.
    fn ask_for_folder(
        &self,
        remote: &mut Remote,
        library: &Library,
        wanted: &Wanted,
    ) -> Outcome<()> {
        const HERE: u64 = -100i64 as u64;
        const MAY_MAKE: u64 = 2 | 1;
        const AS_EFFECTIVE: u64 = 0x200;
        let mut path = wanted.folder.as_os_str().as_encoded_bytes().to_vec();
        path.push(0);
        let at = library.block() + TEXT_AT;
        if path.len() > TEXT_BYTES {
            return Err(Refusal::new(
                "the folder's name is too long",
                "give another by -o",
            ));
        }
        self.memory.write(at, &path)?;
        let arguments = [HERE, at, MAY_MAKE, AS_EFFECTIVE, 0, 0];
        let mut answer = remote.call(number::FACCESSAT2, arguments)?;
        if answer == Err(libc::ENOSYS) {
            answer = remote.call(number::FACCESSAT, [HERE, at, MAY_MAKE, 0, 0, 0])?;
        }
        answer.map(|_| ()).map_err(|error| {
            Refusal::new(
                format!(
                    "it cannot make its log in {}: {}",
                    wanted.folder.display(),
                    std::io::Error::from_raw_os_error(error)
                ),
                "choose a folder that its user may write to, as it sees that, with -o",
            )
        })
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
            memory.write(reals + 8 * index as u64, &real.to_le_bytes())?;
        }
        Ok(())
    }
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
