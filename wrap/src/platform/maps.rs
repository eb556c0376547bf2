//! /proc/self/maps, read by raw calls into a borrowed buffer.

use crate::platform::ground::Ground;
use crate::platform::slices::move_to_front;
use crate::platform::sys::{FileId, Os, Sys};

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

/// The beginning of a file in memory, while its code is waited for: a file
/// that is only read (a debugger's, a library looked at as data) is no module,
/// and other mappings must not even be looked into (devices, the kernel's).
#[derive(Default)]
pub struct Start {
    low: u64,
    high: u64,
    file: FileId,
}

impl Start {
    /// The image that this line makes certain: the range of its beginning.
    /// `has_code`: whether the headers at an address tell of code at another.
    /// In a small file that lld or mold linked, headers and code share a page,
    /// which is then mapped twice: the code's mapping begins the file as well.
    pub fn with<'a>(
        &mut self,
        line: &Line<'a>,
        has_code: impl FnOnce(u64, u64) -> bool,
    ) -> Option<Line<'a>> {
        // Batch systems hand programs out through /dev/shm.
        let is_device = line.path.starts_with(b"/dev/") && !line.path.starts_with(b"/dev/shm/");
        let is_file = line.file.inode != 0 && !is_device;
        if !line.readable || !(is_file || line.path == b"[vdso]") {
            return None;
        }
        let waits = self.low != 0 && self.file == line.file;
        if line.offset == 0 && !(waits && line.executable && has_code(self.low, line.low)) {
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
pub struct Line<'a> {
    /// First byte.
    pub low: u64,
    /// First byte past it.
    pub high: u64,
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written to.
    pub writable: bool,
    /// Whether code in it can run.
    pub executable: bool,
    /// Whether what is written goes into the file.
    pub shared: bool,
    offset: u64,
    /// The file mapped.
    pub file: FileId,
    /// Its name.
    pub path: &'a [u8],
}

impl<'a> Line<'a> {
    /// Of what is mapped at an address and stands in no maps.
    pub fn of_start(low: u64, path: &'a [u8]) -> Self {
        Self {
            low,
            high: low,
            readable: true,
            writable: false,
            executable: true,
            shared: false,
            offset: 0,
            file: FileId::default(),
            path,
        }
    }
}

/// The mapped region around an address.
pub fn region_of(ground: &Ground, address: u64, buffer: &mut [u8]) -> Region {
    let mut region = Region::default();
    each_line(ground, buffer, |line| {
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
pub fn each_line(ground: &Ground, buffer: &mut [u8], mut see: impl FnMut(Line)) -> bool {
    if ground.must_be_quiet() {
        return false;
    }
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
pub fn take_lines(bytes: &[u8], see: &mut impl FnMut(Line)) -> usize {
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

/// A line without its end.
pub fn parse_line(text: &[u8]) -> Option<Line<'_>> {
    let mut rest = text;
    let low = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b"-")?;
    let high = number(&mut rest, 16)?;
    rest = rest.strip_prefix(b" ")?;
    let readable = rest.first() == Some(&b'r');
    let writable = rest.get(1) == Some(&b'w');
    let executable = rest.get(2) == Some(&b'x');
    let shared = rest.get(3) == Some(&b's');
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
        writable,
        executable,
        shared,
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
        value = value
            .wrapping_mul(u64::from(base))
            .wrapping_add(u64::from(digit));
        *text = rest;
        digits += 1;
    }
    (digits > 0).then_some(value)
}
