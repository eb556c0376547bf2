//! A process as its loader and its C library know it: what is loaded, where its functions
//! are, and whether the recorder can stand before its allocator.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::checks::{has_our_numbers, own_number};
use crate::library::{code_of, lines};
use crate::memory::{LOOK, Memory, half_in, word_in};
use crate::objects::{Auxiliary, Loader, Object};
use crate::threads::Threads;
use crate::{Outcome, Refusal, patiently};

/// From the beginning of what glibc keeps of a thread to the words of the first recorder:
/// the room that lazy binding once saved registers in, which stays for those who know how
/// long all of it is.
const ROOM: u64 = 0x80;
/// So many recorders find words there: that which doors look at, and the thread's own.
const MOST: u64 = 32;
const BYTES: u64 = 16;
/// Tables of the largest programs together have a tenth of that.
const TABLES: u64 = 256 << 20;
/// Of glibc 2.N: before, it used that room.
const OLDEST: u32 = 26;
/// A process.
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its memory.
    pub memory: Memory,
    loader: Loader,
    /// What is loaded, in the loader's order.
    pub objects: Vec<Object>,
    /// The same as the loader lists it.
    pub nodes: Vec<(u64, u64)>,
    told: Auxiliary,
}

impl Process {
    pub fn open(pid: u32, patience: Duration) -> Outcome<Self> {
        let memory = Memory::of(pid)?;
        let told = Auxiliary::of(pid).ok_or_else(|| {
            Refusal::new(
                "what the kernel told it cannot be read",
                "it may have ended",
            )
        })?;
        let loader = Loader::find(&memory, &told)?;
        let mut process = Self {
            pid,
            memory,
            loader,
            objects: Vec::new(),
            nodes: Vec::new(),
            told,
        };
        process.look(patience)?;
        Ok(process)
    }

    /// Reads what is loaded, which may change under our eyes: if it always does, while
    /// all threads stand still.
    pub fn look(&mut self, patience: Duration) -> Outcome<()> {
        const TRIES: u32 = 10;
        for _ in 0..TRIES {
            if self.look_once()? {
                return Ok(());
            }
            sleep(Duration::from_millis(1));
        }
        patiently(Instant::now() + patience, || {
            let mut threads = Threads::of(self.pid);
            threads.stop_all(&self.memory)?;
            match self.look_once()? {
                true => Ok(()),
                false => Err(busy()),
            }
        })
    }

    /// The same once; false if it changed meanwhile.
    pub fn look_once(&mut self) -> Outcome<bool> {
        self.memory.begin(TABLES);
        if !self.loader.is_consistent(&self.memory)? {
            return Ok(false);
        }
        // Of a list that is being changed anything may be read.
        let nodes = self.loader.nodes(&self.memory);
        let objects = self.loader.objects(&self.memory);
        if self.memory.is_spent() {
            return Err(Refusal::new(
                "the tables of its libraries are longer than those of any program",
                "start it with `memlog record`",
            ));
        }
        self.memory.begin(LOOK);
        let (Ok(nodes), Ok(objects)) = (nodes, objects) else {
            return Ok(false);
        };
        let is_same = self.is_same(&nodes)?;
        if is_same {
            (self.objects, self.nodes) = (objects, nodes);
        }
        Ok(is_same)
    }

    pub fn is_same(&self, nodes: &[(u64, u64)]) -> Outcome<bool> {
        let is_consistent = self.loader.is_consistent(&self.memory)?;
        let now = self.loader.nodes(&self.memory);
        Ok(is_consistent && now.is_ok_and(|now| now == nodes))
    }

    /// The first object that gives others a function, and where that is.
    pub fn first(&self, name: &str) -> Option<(&Object, u64)> {
        let mut objects = self.objects.iter();
        objects.find_map(|object| Some((object, object.function(name)?)))
    }

    /// An address that the library asks for.
    pub fn find(&self, name: &str) -> Option<u64> {
        let mut objects = self.objects.iter();
        objects.find_map(|object| object.definition(name)?.address)
    }

    /// Whether its allocator is one that the doors can stand before.
    pub fn check(&self) -> Outcome<()> {
        const RECORD: &str = "start the program with `memlog record`";
        let is_recorder = |object: &&Object| object.name.ends_with("/libmemlog.so");
        if self.objects.iter().any(|object| is_recorder(&object)) {
            return Err(Refusal::new(
                "it was started with a recorder",
                format!("memlog ctl {} start", self.pid),
            ));
        }
        let Some((home, _)) = self.first("malloc") else {
            return Err(Refusal::new("it has no malloc", RECORD));
        };
        if home.name.is_empty() {
            return Err(Refusal::new(
                "malloc is that of the program itself, which calls it without asking anybody",
                "link it with `memlog ldflags --static`",
            ));
        }
        if self.first("__sanitizer_get_allocated_size").is_some() {
            return Err(Refusal::new(
                "malloc is a sanitizer's, which watches every word",
                "start the program with `memlog record`",
            ));
        }
        let glibc = self.first("gnu_get_libc_version");
        match glibc.and_then(|(object, _)| object.glibc) {
            Some(minor) if minor >= OLDEST => Ok(()),
            Some(minor) => Err(Refusal::new(
                format!("its C library is glibc 2.{minor}, and attaching takes 2.{OLDEST}"),
                RECORD,
            )),
            None => Err(Refusal::new("its C library is not glibc", RECORD)),
        }
    }

    /// The words of a recorder that comes after so many others, from where the C library
    /// keeps all of a thread: those that doors look at, and the thread's own.
    pub fn words(after: usize) -> Outcome<(u64, u64)> {
        match after as u64 {
            after @ 0..MOST => Ok((ROOM + BYTES * after, ROOM + BYTES * after + 8)),
            _ => Err(Refusal::new(
                format!("memlog has left it {MOST} times while it did not allocate"),
                "restart it",
            )),
        }
    }

    /// Where the C library keeps a thread's number, from where it keeps all of it.
    pub fn number_at(&self) -> u64 {
        const USUAL: u64 = 0x2d0;
        // Bits, how many, and where; for debuggers.
        let told = self.find("_thread_db_pthread_tid");
        let told = told.and_then(|at| self.memory.bytes(at, 12).ok());
        let told = told.and_then(|bytes| half_in(&bytes, 8));
        told.map_or(USUAL, u64::from)
    }

    /// Whether all threads are as the C library makes them; the words are those of before
    /// if a recorder was there already.
    pub fn check_threads(&self, threads: &Threads, words: u64, is_new: bool) -> Outcome<()> {
        let number_at = self.number_at();
        // Asked for with all threads stopped, so not where it is known.
        let is_same = has_our_numbers(self.pid);
        let own_number = |tid| match is_same {
            true => Some(tid),
            false => own_number(self.pid, tid),
        };
        for thread in &threads.all {
            let Some(registers) = &thread.registers else {
                continue;
            };
            let at = registers.thread();
            let number = self.memory.word(at.wrapping_add(number_at)).ok();
            let is_known = number.map(|word| word as u32) == own_number(thread.tid);
            let words = self.memory.bytes(at.wrapping_add(words), BYTES);
            let is_free = words.is_ok_and(|words| {
                word_in(&words, 0) == Some(0) && (!is_new || word_in(&words, 8) == Some(0))
            });
            if !(is_known && is_free) {
                return Err(Refusal::new(
                    format!(
                        "its thread {} is not one that its C library made",
                        thread.tid
                    ),
                    "start the program with `memlog record`",
                ));
            }
        }
        Ok(())
    }

    /// The word of the program's list of what runs when it ends.
    pub fn last(&self) -> Option<u64> {
        let program = self.objects.first()?;
        program.last.filter(|last| last.1 >= 8).map(|last| last.0)
    }

    pub fn is_amid_loader(&self, threads: &Threads) -> bool {
        let loader = self.told.get(Auxiliary::LOADER).unwrap_or(0);
        let code = code_of(&lines(self.pid), loader);
        let (low, high) = code.unwrap_or((0, 0));
        let mut pcs = threads.all.iter().filter_map(|thread| thread.registers);
        pcs.any(|registers| (low..high).contains(&registers.pc()))
    }
}

fn busy() -> Refusal {
    Refusal::for_now(
        "one of its threads is always amid the loader of libraries",
        "try again, or give it longer by --wait",
    )
}
