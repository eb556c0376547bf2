//! Which code lies where: the list of module instances.
//!
//! Read from /proc/self/maps and the mapped program headers, by raw calls:
//! never through ld.so, whose locks may be held by the very thread that calls
//! malloc, or by one that a fork left behind. An instance lives from one load
//! to one unload; its id is never used again, so that a library loaded where
//! another was does not inherit its stacks.
#![allow(unsafe_code)]
//! # Safety
//! Program headers and unwind tables are read where the kernel says that an
//! ELF file is mapped readable, and within the bounds of its segments.

use crate::sys::{FileId, Os, Sys};
use crate::sink::MAX_PATH;
use crate::slices::move_to_front;
use goblin::elf64::header::Header as ElfHeader;
use goblin::elf64::program_header::{PT_GNU_EH_FRAME, PT_LOAD, PT_NOTE, ProgramHeader};
use goblin::elf64::section_header::SectionHeader;

/// Instances kept at most.
pub const MAX_MODULES: usize = 4096;
const BUFFER: usize = 8192;

/// A module instance.
#[derive(Clone, Copy, Default)]
pub struct Module {
    /// Its id in the log, from 1.
    pub id: u32,
    /// First mapped byte.
    pub low: u64,
    /// First byte past it.
    pub high: u64,
    /// Runtime address minus the file's own numbering.
    pub bias: u64,
    /// .eh_frame_hdr and its bytes, or 0.
    pub header: u64,
    /// Bytes of .eh_frame_hdr.
    pub header_bytes: u64,
    /// .eh_frame, where only the section table names it; else 0.
    pub frames: u64,
    /// Bytes of .eh_frame.
    pub frames_bytes: u64,
    file: FileId,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Gone,
    /// Seen in the reading under way, or found by it.
    Seen,
    /// From an earlier reading.
    Known,
    /// Its destructors ran: what lies there next is another instance.
    Leaving,
}

/// What a reading of the maps found, for who writes the log.
pub enum Found<'a> {
    /// A new instance.
    Loaded {
        /// The instance.
        module: &'a Module,
        /// Its file.
        path: &'a [u8],
        /// Its build-id, or nothing.
        build_id: &'a [u8],
    },
    /// An instance that is no more.
    Unloaded {
        /// Which.
        id: u32,
    },
}

/// A mapped region, as far as stacks care.
#[derive(Clone, Copy, Default)]
pub struct Region {
    /// First byte.
    pub low: u64,
    /// First byte past it.
    pub high: u64,
    /// Whether code in it can run.
    pub executable: bool,
}

/// The list and what reading it takes. Lies in zeroed memory of the recorder,
/// never on a stack.
pub struct Modules {
    instances: Instances,
    buffer: [u8; BUFFER],
    path: [u8; MAX_PATH],
}

struct Instances {
    list: [Module; MAX_MODULES],
    count: usize,
    last_id: u32,
}

/// The beginning of a file in memory, while its code is waited for: a file
/// that is only read (a debugger's, a library looked at as data) is no module,
/// and other mappings must not even be looked into (devices, the kernel's).
#[derive(Default)]
struct Start {
    low: u64,
    high: u64,
    file: FileId,
}

impl Start {
    /// The image that this line makes certain: the range of its beginning.
    fn with<'a>(&mut self, line: &Line<'a>) -> Option<Line<'a>> {
        let is_file = line.file.inode != 0 && !line.path.starts_with(b"/dev/");
        if !line.readable || !(is_file || line.path == b"[vdso]") {
            return None;
        }
        if line.offset == 0 {
            (self.low, self.high, self.file) = (line.low, line.high, line.file);
        }
        if !line.executable || self.low == 0 || self.file != line.file {
            return None;
        }
        let (low, high) = (core::mem::take(&mut self.low), self.high);
        Some(Line { low, high, ..*line })
    }
}

/// A line of /proc/self/maps.
struct Line<'a> {
    low: u64,
    high: u64,
    readable: bool,
    executable: bool,
    offset: u64,
    file: FileId,
    path: &'a [u8],
}

impl Modules {
    /// The instance at a code address.
    pub fn find(&self, address: u64) -> Option<&Module> {
        let mut known = self.instances.list.iter().take(self.instances.count);
        known.find(|module| {
            module.state != State::Gone && (module.low..module.high).contains(&address)
        })
    }

    /// The destructors of the module around this address have run.
    pub fn leaving(&mut self, address: u64) {
        for module in self.instances.known() {
            if (module.low..module.high).contains(&address) && module.state == State::Seen {
                module.state = State::Leaving;
            }
        }
    }

    /// Reads the maps and tells what changed.
    pub fn refresh(&mut self, mut tell: impl FnMut(Found)) {
        for module in self.instances.known() {
            if module.state == State::Seen {
                module.state = State::Known;
            }
        }
        let Self {
            instances,
            buffer,
            path,
        } = self;
        let mut start = Start::default();
        let complete = each_line(buffer, |line| {
            if let Some(image) = start.with(&line) {
                instances.see(&image, path, &mut tell);
            }
        });
        instances.bury(complete, tell);
    }

    /// Forgets what was told, so that the next reading tells all of it: the
    /// log of a forked child starts in the middle.
    pub fn tell_again(&mut self) {
        self.instances.count = 0;
    }

    /// A buffer for reading maps with.
    pub fn buffer(&mut self) -> &mut [u8] {
        &mut self.buffer
    }
}

impl Instances {
    fn known(&mut self) -> impl Iterator<Item = &mut Module> {
        self.list.iter_mut().take(self.count)
    }

    fn see(&mut self, line: &Line, name: &mut [u8], tell: &mut impl FnMut(Found)) {
        let known = self.known().find(|module| {
            module.low == line.low && module.file == line.file && module.state == State::Known
        });
        if let Some(module) = known {
            module.state = State::Seen;
            return;
        }
        let Some((mut module, build_id)) = read_headers(line, name) else {
            return;
        };
        let count = self.count;
        let free = self.known().position(|module| module.state == State::Gone);
        let Some(place) = self.list.get_mut(free.unwrap_or(count)) else {
            return;
        };
        self.last_id += 1;
        module.id = self.last_id;
        *place = module;
        self.count += usize::from(free.is_none());
        tell(Found::Loaded {
            module: &module,
            path: line.path,
            build_id,
        });
    }

    /// What a reading did not see is gone; after a torn one, nothing is.
    fn bury(&mut self, complete: bool, mut tell: impl FnMut(Found)) {
        for module in self.known() {
            match module.state {
                State::Known if !complete => module.state = State::Seen,
                State::Known | State::Leaving => {
                    module.state = State::Gone;
                    tell(Found::Unloaded { id: module.id });
                }
                _ => {}
            }
        }
    }
}

/// The mapped region around an address.
pub fn region_of(address: u64, buffer: &mut [u8]) -> Region {
    let mut region = Region::default();
    each_line(buffer, |line| {
        if line.readable && (line.low..line.high).contains(&address) {
            region = Region {
                low: line.low,
                high: line.high,
                executable: line.executable,
            };
        }
    });
    region
}

/// Runs over the lines of the maps; false if they could not be read whole.
fn each_line(buffer: &mut [u8], mut see: impl FnMut(Line)) -> bool {
    let Ok(fd) = Os::open(b"/proc/self/maps\0") else {
        return false;
    };
    let mut held = 0;
    let mut complete = false;
    while let Some(room) = buffer.get_mut(held..) {
        match Os::read(fd, room) {
            Ok(0) => {
                complete = held == 0;
                break;
            }
            Ok(count) => held += count,
            Err(_) => break,
        }
        let used = take_lines(buffer.get(..held).unwrap_or(&[]), &mut see);
        if used == 0 && held >= buffer.len() {
            break;
        }
        move_to_front(buffer, used.min(held), held);
        held -= used.min(held);
    }
    Os::close(fd);
    complete
}

/// Handles the whole lines at the front; how many bytes they were.
fn take_lines(bytes: &[u8], see: &mut impl FnMut(Line)) -> usize {
    let mut used = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let Some((b'\n', text)) = line.split_last() else {
            break;
        };
        used += line.len();
        if let Some(line) = parse_line(text) {
            see(line);
        }
    }
    used
}

fn parse_line(text: &[u8]) -> Option<Line<'_>> {
    let mut rest = text;
    let low = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b"-")?;
    let high = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b" ")?;
    let readable = rest.first() == Some(&b'r');
    let executable = rest.get(2) == Some(&b'x');
    rest = rest.get(5..)?;
    let offset = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b" ")?;
    let major = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b":")?;
    let minor = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b" ")?;
    let inode = number(&mut rest, 10)?;
    while let Some(shorter) = rest.strip_prefix(b" ") {
        rest = shorter;
    }
    Some(Line {
        low,
        high,
        readable,
        executable,
        offset,
        file: FileId {
            device: major << 32 | minor,
            inode,
        },
        path: rest,
    })
}

fn number(text: &mut &[u8], base: u32) -> Option<u64> {
    let mut value = 0u64;
    let mut digits = 0;
    while let Some((&byte, rest)) = text.split_first() {
        let Some(digit) = (byte as char).to_digit(base) else {
            break;
        };
        value = value.wrapping_mul(u64::from(base)).wrapping_add(u64::from(digit));
        *text = rest;
        digits += 1;
    }
    (digits > 0).then_some(value)
}

/// Reads a struct out of the program's memory.
///
/// # Safety
/// `address` is readable for the size of `T`, which is plain data.
unsafe fn peek<T: Copy>(address: u64) -> T {
    // SAFETY: by the caller; alignment is not assumed.
    unsafe { (address as *const T).read_unaligned() }
}

/// Reads the ELF headers mapped at the start of a file.
fn read_headers(line: &Line, name: &mut [u8]) -> Option<(Module, &'static [u8])> {
    if line.high - line.low < size_of::<ElfHeader>() as u64 {
        return None;
    }
    // SAFETY: the kernel says that the range is mapped and readable.
    let header: ElfHeader = unsafe { peek(line.low) };
    let expected_class = if size_of::<usize>() == 8 { 2 } else { 1 };
    if header.e_ident.get(..4) != Some(b"\x7fELF") || header.e_ident.get(4) != Some(&expected_class)
    {
        return None;
    }
    let mut module = Module {
        low: line.low,
        high: line.high,
        file: line.file,
        state: State::Seen,
        ..Module::default()
    };
    let mut build_id: &'static [u8] = &[];
    let mut first_load = true;
    let table = line.low + header.e_phoff;
    let bytes = u64::from(header.e_phnum) * size_of::<ProgramHeader>() as u64;
    if table + bytes > line.high || usize::from(header.e_phentsize) != size_of::<ProgramHeader>() {
        return None;
    }
    for index in 0..u64::from(header.e_phnum) {
        // SAFETY: inside the mapped first segment, checked above.
        let part: ProgramHeader = unsafe { peek(table + index * 56) };
        match part.p_type {
            PT_LOAD => {
                if first_load {
                    first_load = false;
                    let start = part.p_vaddr.wrapping_sub(part.p_offset);
                    module.bias = line.low.wrapping_sub(start);
                }
                let end = part.p_vaddr.wrapping_add(part.p_memsz);
                module.high = module.high.max(module.bias.wrapping_add(end));
            }
            PT_GNU_EH_FRAME => {
                module.header = module.bias.wrapping_add(part.p_vaddr);
                module.header_bytes = part.p_memsz;
            }
            PT_NOTE if build_id.is_empty() => {
                let at = module.bias.wrapping_add(part.p_vaddr);
                if at >= line.low && at + part.p_memsz <= line.high {
                    build_id = find_build_id(at, part.p_memsz);
                }
            }
            _ => {}
        }
    }
    if module.header == 0 {
        find_frames_by_section(&mut module, line.path, name);
    }
    Some((module, build_id))
}

/// The NT_GNU_BUILD_ID note in a note segment that is mapped.
fn find_build_id(mut at: u64, bytes: u64) -> &'static [u8] {
    let end = at + bytes;
    while at + 12 <= end {
        // SAFETY: inside the note segment, which the caller found mapped.
        let [name_bytes, text_bytes, kind]: [u32; 3] = unsafe { peek(at) };
        let text = at + 12 + u64::from(name_bytes).next_multiple_of(4);
        let next = text + u64::from(text_bytes).next_multiple_of(4);
        if next > end {
            break;
        }
        if kind == 3 && name_bytes == 4 {
            // SAFETY: as above; the segment is mapped as long as the module.
            return unsafe {
                core::slice::from_raw_parts(text as *const u8, text_bytes.min(64) as usize)
            };
        }
        at = next;
    }
    &[]
}

/// Finds .eh_frame by the section table in the file: static programs linked
/// without --eh-frame-hdr have no program header that names it.
fn find_frames_by_section(module: &mut Module, path: &[u8], name: &mut [u8]) {
    for (place, &byte) in name.iter_mut().zip(path.iter().chain(&[0])) {
        *place = byte;
    }
    let name = name.get(..=path.len()).unwrap_or(&[]);
    let Ok(fd) = Os::open(name) else {
        return;
    };
    if Os::identity(fd).is_ok_and(|id| id.inode == module.file.inode)
        && let Some((address, bytes)) = frames_section(fd)
    {
        module.frames = module.bias.wrapping_add(address);
        module.frames_bytes = bytes;
    }
    Os::close(fd);
}

fn read_struct<T: Copy>(fd: crate::sys::Fd, offset: u64) -> Option<T> {
    let mut value = core::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the zeroed bytes of `value`, lent for the read.
    let bytes = unsafe {
        core::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>())
    };
    if Os::read_at(fd, bytes, offset) != Ok(bytes.len()) {
        return None;
    }
    // SAFETY: the ELF structs are plain integers; every byte was read.
    Some(unsafe { value.assume_init() })
}

fn frames_section(fd: crate::sys::Fd) -> Option<(u64, u64)> {
    const ENTRY: u64 = size_of::<SectionHeader>() as u64;
    let header: ElfHeader = read_struct(fd, 0)?;
    let section = |index: u64| -> Option<SectionHeader> {
        read_struct(fd, header.e_shoff.checked_add(index * ENTRY)?)
    };
    let names = section(u64::from(header.e_shstrndx))?;
    for index in 1..u64::from(header.e_shnum) {
        let candidate = section(index)?;
        let at = names.sh_offset.checked_add(u64::from(candidate.sh_name))?;
        if candidate.sh_addr != 0 && read_struct::<[u8; 10]>(fd, at)? == *b".eh_frame\0" {
            return Some((candidate.sh_addr, candidate.sh_size));
        }
    }
    None
}
