//! What is printed at the end: a name and a value on each line.

use crate::outside;

const ROOM: usize = 8192;

/// Takes lines.
pub struct Say {
    text: [u8; ROOM],
    length: usize,
}

impl Default for Say {
    fn default() -> Self {
        Self {
            text: [0; ROOM],
            length: 0,
        }
    }
}

impl Say {
    /// A number.
    pub fn number(&mut self, name: &str, value: u64) {
        let mut digits = [0; 20];
        let mut from = digits.len();
        let mut rest = value;
        loop {
            from -= 1;
            digits[from] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.line(name, &digits[from..]);
    }

    /// Bytes up to the end of the line.
    pub fn line(&mut self, name: &str, value: &[u8]) {
        for part in [name.as_bytes(), b" ", value, b"\n"] {
            let end = self.length + part.len();
            if let Some(place) = self.text.get_mut(self.length..end) {
                place.copy_from_slice(part);
                self.length = end;
            }
        }
    }

    /// Prints them.
    pub fn end(&self) {
        outside::write(&self.text[..self.length]);
    }
}

/// Has `tell` told the path of the file that is mapped at an address.
pub fn file_at(address: usize, mut tell: impl FnMut(&[u8])) {
    let maps = outside::open(c"/proc/self/maps");
    let mut room = [0; 4096];
    let (mut from, mut kept) = (0, 0);
    loop {
        let read = outside::read(maps, &mut room[kept..], from);
        from += read as u64;
        let end = kept + read;
        let mut begin = 0;
        while let Some(length) = room[begin..end].iter().position(|&byte| byte == b'\n') {
            if let Some(path) = path_of(&room[begin..begin + length], address) {
                return tell(path);
            }
            begin += length + 1;
        }
        // A line longer than all the room is none that is looked for.
        if read == 0 || begin == 0 && end == room.len() {
            return;
        }
        room.copy_within(begin..end, 0);
        kept = end - begin;
    }
}

/// The path of a line of maps, if the address lies there.
fn path_of(line: &[u8], address: usize) -> Option<&[u8]> {
    let line_text = core::str::from_utf8(line).ok()?;
    let (range, _) = line_text.split_once(' ')?;
    let (low, high) = range.split_once('-')?;
    let [low, high] = [low, high].map(|text| usize::from_str_radix(text, 16));
    let is_it = (low.ok()?..high.ok()?).contains(&address);
    let path = line.iter().position(|&byte| byte == b'/')?;
    is_it.then_some(&line[path..])
}
