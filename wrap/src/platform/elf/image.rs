//! The ELF headers of a file in memory: where its code and unwind tables lie.
//!
//! A mapping that was listed a moment ago may be gone by now, unmapped by
//! another thread: so memory is read by a system call that fails instead.
#![allow(unsafe_code)]
//! # Safety
//! Values are read into zeroed plain integers.

use crate::platform::arch;
use crate::platform::sys::width::elf::header::Header as ElfHeader;
use crate::platform::sys::width::elf::program_header::{
    PF_X, PT_GNU_EH_FRAME, PT_LOAD, PT_NOTE, ProgramHeader,
};
use crate::platform::sys::width::elf::section_header::SectionHeader;
use crate::platform::sys::width::wide;
use crate::platform::sys::{Fd, FileId, Os, Sys, page_bytes};

/// The program header of the unwind tables.
const TABLES: u32 = match arch::HAS_EXIDX {
    true => 0x7000_0001,
    false => PT_GNU_EH_FRAME,
};

/// What the headers say.
#[derive(Clone, Copy, Default)]
pub struct ElfImage {
    /// Runtime address minus the file's own numbering.
    pub bias: u64,
    /// First byte past the last segment.
    pub high: u64,
    /// First byte of the segment that the tables lie in: between segments
    /// there may be holes.
    pub tables_start: u64,
    /// First byte past it.
    pub tables_end: u64,
    /// Where the program begins, if it is one.
    pub entry: u64,
    /// .eh_frame_hdr or ARM's .ARM.exidx, and its bytes, or 0.
    pub header: u64,
    /// Bytes of .eh_frame_hdr.
    pub header_bytes: u64,
    /// .eh_frame, where only the section table names it; else 0.
    pub frames: u64,
    /// Bytes of .eh_frame.
    pub frames_bytes: u64,
    /// The linker's build-id.
    pub build_id: BuildId,
    /// Where it lies.
    build_id_at: u64,
}

/// A build-id; longer ones are cut.
#[derive(Clone, Copy, Default)]
pub struct BuildId {
    bytes: [[u8; 32]; 2],
    length: usize,
}

impl BuildId {
    /// The bytes, none where there is no id.
    pub fn get(&self) -> &[u8] {
        self.bytes.as_flattened().get(..self.length).unwrap_or(&[])
    }
}

/// Reads the headers of the image that starts at `low`; false if there is none.
/// `room` is for its program headers, of which as many are read at once.
#[inline(never)]
pub fn read(low: u64, image: &mut ElfImage, room: &mut [u8]) -> bool {
    *image = ElfImage::default();
    try_read(low, image, room).is_some()
}

fn try_read(low: u64, image: &mut ElfImage, room: &mut [u8]) -> Option<()> {
    let header = elf_header(low)?;
    // Before or behind the segments.
    let mut tables = None;
    let mut first_load = true;
    each_part(low, &header, room, |part| {
        let at = |address: u64| image.bias.wrapping_add(address);
        match part.p_type {
            PT_LOAD => {
                if first_load {
                    first_load = false;
                    image.bias =
                        low.wrapping_sub(wide(part.p_vaddr).wrapping_sub(wide(part.p_offset)));
                }
                let end = wide(part.p_vaddr).wrapping_add(wide(part.p_memsz));
                image.high = image.high.max(image.bias.wrapping_add(end));
            }
            TABLES => {
                tables = Some((wide(part.p_vaddr), wide(part.p_memsz)));
            }
            PT_NOTE if image.build_id.length == 0 => {
                let place = at(wide(part.p_vaddr));
                image.build_id_at = find_build_id(place, wide(part.p_memsz), &mut image.build_id);
            }
            _ => {}
        }
    })?;
    if let Some((address, bytes)) = tables {
        (image.header, image.header_bytes) = (image.bias.wrapping_add(address), bytes);
    }
    each_part(low, &header, room, |part| {
        let start = image.bias.wrapping_add(wide(part.p_vaddr));
        let end = start.wrapping_add(wide(part.p_memsz));
        if part.p_type == PT_LOAD && (start..end).contains(&image.header) {
            (image.tables_start, image.tables_end) = (start, end);
        }
    })?;
    if header.e_entry != 0 {
        image.entry = arch::strip(image.bias.wrapping_add(wide(header.e_entry)));
    }
    (!first_load).then_some(())
}

/// The header at an address, if an image of this machine's begins there.
fn elf_header(low: u64) -> Option<ElfHeader> {
    let header: ElfHeader = peek(low)?;
    let class = if size_of::<usize>() == 8 { 2 } else { 1 };
    let is_image =
        header.e_ident.get(..4) == Some(b"\x7fELF") && header.e_ident.get(4) == Some(&class);
    let has_parts = usize::from(header.e_phentsize) == size_of::<ProgramHeader>();
    (is_image && has_parts).then_some(header)
}

/// Whether the image that starts at `low` has a segment of code whose mapping
/// starts at `code`. `room` as for `read`.
#[inline(never)]
pub fn has_code(low: u64, code: u64, room: &mut [u8]) -> bool {
    let mut first = None;
    let mut has = false;
    let read = elf_header(low).and_then(|header| {
        each_part(low, &header, room, |part| {
            if part.p_type == PT_LOAD {
                let lies = wide(part.p_vaddr) & !page_bytes().wrapping_sub(1);
                let bias = *first.get_or_insert(low.wrapping_sub(lies));
                has |= part.p_flags & PF_X != 0 && bias.wrapping_add(lies) == code;
            }
        })
    });
    read.is_some() && has
}

/// Runs over the program headers, as many at a time as there is room for.
fn each_part(
    low: u64,
    header: &ElfHeader,
    room: &mut [u8],
    mut see: impl FnMut(&ProgramHeader),
) -> Option<()> {
    const EACH: usize = size_of::<ProgramHeader>();
    let most = room.len() / EACH;
    let mut at = low.wrapping_add(wide(header.e_phoff));
    let mut left = usize::from(header.e_phnum);
    while left > 0 {
        let count = left.min(most);
        let table = room.get_mut(..count * EACH)?;
        if table.is_empty() || !Os::read_memory(at, table) {
            return None;
        }
        for part in table.chunks_exact(EACH) {
            see(&program_header(part)?);
        }
        at = at.wrapping_add((count * EACH) as u64);
        left -= count;
    }
    Some(())
}

/// Whether the image at `low` is still the one read before: by its build-id,
/// or else by all that its headers say. `other` and `room` are to read it into.
pub fn is_same(image: &ElfImage, low: u64, other: &mut ElfImage, room: &mut [u8]) -> bool {
    if image.build_id.length == 0 {
        return read(low, other, room)
            && other.high == image.high
            && other.header == image.header
            && other.header_bytes == image.header_bytes;
    }
    let length = image.build_id.length;
    let room = other.build_id.bytes.as_flattened_mut().get_mut(..length);
    other.build_id.length = length;
    room.is_some_and(|room| Os::read_memory(image.build_id_at, room))
        && other.build_id.get() == image.build_id.get()
}

/// Notes of a segment that are looked at: programs have a handful, and each is
/// a system call.
const MAX_NOTES: usize = 64;

/// The NT_GNU_BUILD_ID note in a segment of notes: where it lies, or 0.
#[inline(never)]
fn find_build_id(mut at: u64, bytes: u64, id: &mut BuildId) -> u64 {
    let end = at.saturating_add(bytes);
    for _ in 0..MAX_NOTES {
        if at.saturating_add(12) > end {
            break;
        }
        let Some([name_bytes, text_bytes, kind]) = peek::<[u32; 3]>(at) else {
            break;
        };
        let padded = |bytes: u32| (u64::from(bytes) + 3) & !3;
        let text = at + 12 + padded(name_bytes);
        let next = text.saturating_add(padded(text_bytes));
        if next > end {
            break;
        }
        if kind == 3 && name_bytes == 4 {
            let length = (text_bytes as usize).min(64);
            let room = id.bytes.as_flattened_mut().get_mut(..length);
            if room.is_some_and(|room| Os::read_memory(text, room)) {
                id.length = length;
            }
            return text;
        }
        at = next;
    }
    0
}

fn program_header(bytes: &[u8]) -> Option<ProgramHeader> {
    read_struct(|into| {
        let fits = into.len() == bytes.len();
        if fits {
            into.copy_from_slice(bytes);
        }
        fits
    })
}

fn peek<T: Copy>(address: u64) -> Option<T> {
    read_struct(|bytes| Os::read_memory(address, bytes))
}

/// A struct of plain integers out of something that fills bytes.
fn read_struct<T: Copy>(fill: impl FnOnce(&mut [u8]) -> bool) -> Option<T> {
    let mut value = core::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the zeroed bytes of `value`, lent to be filled.
    let bytes =
        unsafe { core::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    // SAFETY: the ELF structs and arrays used here are plain integers.
    fill(bytes).then(|| unsafe { value.assume_init() })
}

/// Finds .eh_frame by the section table in the file: static programs linked
/// without --eh-frame-hdr have no program header that names it. `path` is a C
/// string.
pub fn find_frames_by_section(image: &mut ElfImage, path: &[u8], file: FileId) {
    let Ok(fd) = Os::open(path) else {
        return;
    };
    if Os::identity(fd).is_ok_and(|id| id.inode == file.inode)
        && let Some((address, bytes)) = frames_section(fd)
    {
        image.frames = image.bias.wrapping_add(address);
        image.frames_bytes = bytes;
        image.tables_start = image.frames;
        image.tables_end = image.frames.wrapping_add(bytes);
    }
    Os::close(fd);
}

fn frames_section(fd: Fd) -> Option<(u64, u64)> {
    const ENTRY: u64 = size_of::<SectionHeader>() as u64;
    let header: ElfHeader = read_file(fd, 0)?;
    let section = |index: u64| -> Option<SectionHeader> {
        read_file(fd, wide(header.e_shoff).checked_add(index * ENTRY)?)
    };
    let names = section(u64::from(header.e_shstrndx))?;
    for index in 1..u64::from(header.e_shnum) {
        let candidate = section(index)?;
        let at = wide(names.sh_offset).checked_add(u64::from(candidate.sh_name))?;
        if candidate.sh_addr != 0 && read_file::<[u8; 10]>(fd, at)? == *b".eh_frame\0" {
            return Some((wide(candidate.sh_addr), wide(candidate.sh_size)));
        }
    }
    None
}

fn read_file<T: Copy>(fd: Fd, offset: u64) -> Option<T> {
    read_struct(|bytes| Os::read_at(fd, bytes, offset) == Ok(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::{ElfImage, read};
    use goblin::elf64::header::Header;
    use goblin::elf64::program_header::{PT_GNU_EH_FRAME, PT_LOAD, ProgramHeader};

    /// More than the room takes at once; what counts comes last.
    #[test]
    fn all_program_headers_are_read() {
        const PARTS: usize = 100;
        let part = |kind, address, bytes| ProgramHeader {
            p_type: kind,
            p_vaddr: address,
            p_memsz: bytes,
            p_offset: address,
            ..ProgramHeader::default()
        };
        let mut parts = [part(0, 0, 0); PARTS];
        parts[0] = part(PT_LOAD, 0, 0x1000);
        parts[PARTS - 2] = part(PT_GNU_EH_FRAME, 0x5010, 0x20);
        parts[PARTS - 1] = part(PT_LOAD, 0x5000, 0x3000);
        let header = Header {
            e_ident: *b"\x7fELF\x02\0\0\0\0\0\0\0\0\0\0\0",
            e_phoff: size_of::<Header>() as u64,
            e_phnum: PARTS as u16,
            e_phentsize: size_of::<ProgramHeader>() as u16,
            ..Header::default()
        };
        let file = (header, parts);
        let low = &raw const file as u64;
        assert_eq!(&raw const file.1 as u64, low + header.e_phoff);
        let mut image = ElfImage::default();
        for room in [56, 56 * 73 + 5, 56 * 200] {
            assert!(read(low, &mut image, &mut vec![0; room]));
            let found = [
                image.high,
                image.header,
                image.tables_start,
                image.tables_end,
            ];
            assert_eq!(found.map(|at| at - low), [0x8000, 0x5010, 0x5000, 0x8000]);
        }
        assert!(!read(low, &mut image, &mut [0; 55]));
    }
}
