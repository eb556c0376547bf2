//! Logs in a tar, packed by zstd: what memlog did not write, `tar` can unpack.
//!
//! The first member tells that it is one of ours. Then come the log, its parent's, and so on.

use std::io::{self, BufRead, Read, Write};

use ruzstd::decoding::StreamingDecoder;
use tar::{Archive, EntryType, Header};

use crate::zstd;

/// How files that zstd packed begin.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The first member's name.
const FIRST: &str = "memlog-pack-1";
/// What a reader of it should know.
const ABOUT: &[u8] = b"Logs of memlog with all names in them.\n\
    memlog report FILE reads this file as it is, so do the other commands.\n\
    memlog extract FILE unpacks it, and tar -xf does.\n";
/// A tar's unit.
const BLOCK: usize = 512;
/// So much of a name is kept: older tars know no more.
const MAX_NAME: usize = 96;

/// No packed file has more logs: a process and its parents.
const MOST_LOGS: usize = 64;
/// What is no log in a packed file is no larger: the first member, what fills the last block.
const MOST_OF_OTHERS: u64 = 1 << 20;

/// A log that is to be packed.
pub struct Member<R> {
    /// Its file's name, without folders.
    pub name: Vec<u8>,
    /// When it was written, in seconds since 1970.
    pub changed: u64,
    /// Its bytes, and how many they are.
    pub content: R,
    /// How many.
    pub length: u64,
}

/// Packs logs.
pub fn write<R: Read>(members: Vec<Member<R>>, out: &mut dyn Write) -> io::Result<()> {
    let about = Member {
        name: FIRST.into(),
        changed: 0,
        content: ABOUT,
        length: ABOUT.len() as u64,
    };
    let mut all: Vec<Box<dyn Read + '_>> = vec![Box::new(packed(about)?)];
    let mut names: Vec<Vec<u8>> = Vec::new();
    for mut member in members {
        member.name = free(&names, &member.name);
        names.push(member.name.clone());
        all.push(Box::new(packed(member)?));
    }
    all.push(Box::new(io::repeat(0).take(2 * BLOCK as u64)));
    zstd::frame(OneBehindTheOther(all), out)
}

/// A member's header, its bytes, and what fills the last block.
fn packed<'r, R: Read + 'r>(member: Member<R>) -> io::Result<impl Read + 'r> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_path(String::from_utf8_lossy(&member.name).as_ref())?;
    header.set_mode(0o600);
    header.set_size(member.length);
    header.set_mtime(member.changed);
    header.set_cksum();
    let fill = member.length.next_multiple_of(BLOCK as u64) - member.length;
    let header = io::Cursor::new(header.as_bytes().to_vec());
    Ok(header.chain(member.content).chain(io::repeat(0).take(fill)))
}

/// A name that no other has and that any system takes: `.000` before its ending, `.001` ...
fn free(taken: &[Vec<u8>], name: &[u8]) -> Vec<u8> {
    const ENDING: &str = ".memlog";
    let is_usual = |c: char| c.is_alphanumeric() || "._-+@%,".contains(c);
    let text: String = String::from_utf8_lossy(name)
        .chars()
        .map(|c| if is_usual(c) { c } else { '_' })
        .collect();
    let stem = text
        .strip_suffix(ENDING)
        .unwrap_or(&text)
        .trim_start_matches('.');
    let mut stem = if stem.is_empty() { "log" } else { stem };
    while stem.len() + ENDING.len() + 4 > MAX_NAME {
        let mut end = stem.len() - 1;
        while !stem.is_char_boundary(end) {
            end -= 1;
        }
        stem = &stem[..end];
    }
    let names = (0..).map(|number: u32| format!("{stem}.{number:03}{ENDING}"));
    let mut names = std::iter::once(format!("{stem}{ENDING}")).chain(names);
    let is_free = |name: &String| !taken.iter().any(|other| other == name.as_bytes());
    names.find(is_free).unwrap_or_default().into_bytes()
}

/// A log in a packed file.
pub struct Packed<'r> {
    /// What its file may be called: a name without folders that ends as logs do, and that no
    /// other log of the packed file has.
    pub name: &'r [u8],
    /// How many bytes it has: no more come.
    pub length: u64,
    /// Its bytes.
    pub content: &'r mut dyn Read,
}

/// Unpacks: `take` gets each log, in their order. False if the file is zstd's and no packed
/// log. What comes is bound by the lengths that `take` is told before; all else is small, or
/// an error.
pub fn read(
    input: impl BufRead,
    mut take: impl FnMut(Packed) -> io::Result<()>,
) -> io::Result<bool> {
    let mut archive = Archive::new(Zstd::Between(input));
    let mut names: Vec<Vec<u8>> = Vec::new();
    let Ok(entries) = archive.entries() else {
        return Ok(false);
    };
    let mut is_first = true;
    // As they are: long names of other tars would be read into memory whole.
    for entry in entries.raw(true) {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(_) if is_first => return Ok(false),
            Err(error) => return Err(cut(&error)),
        };
        if is_first && *entry.path_bytes() != *FIRST.as_bytes() {
            return Ok(false);
        }
        let length = entry.size();
        match (is_first, entry.header().entry_type()) {
            (false, EntryType::Regular | EntryType::Continuous) => {
                if names.len() == MOST_LOGS {
                    return Err(cut(&"it has more logs than any process has parents"));
                }
                let name = free(&names, plain(&entry.path_bytes()));
                names.push(name.clone());
                let mut counted = Counted {
                    inner: &mut entry,
                    count: 0,
                };
                take(Packed {
                    name: &name,
                    length,
                    content: &mut counted,
                })?;
                if counted.count < length {
                    return Err(cut(&"it ends before a log in it does"));
                }
            }
            // It is passed over by reading it.
            _ if length > MOST_OF_OTHERS => {
                return Err(cut(&"it has something large that is no log"));
            }
            _ => {}
        }
        is_first = false;
    }
    if is_first {
        return Ok(false);
    }
    // The checksum stands behind the tar's end.
    let mut rest = archive.into_inner().take(MOST_OF_OTHERS + 1);
    let behind = io::copy(&mut rest, &mut io::sink()).map_err(|error| cut(&error))?;
    match (names.len(), behind) {
        (0, _) => Err(cut(&"no log is in it")),
        (_, behind) if behind > MOST_OF_OTHERS => Err(cut(&"more comes behind its end")),
        _ => Ok(true),
    }
}

fn cut(reason: &dyn std::fmt::Display) -> io::Error {
    let sentence = format!("the packed log is damaged or was cut: {reason}");
    io::Error::new(io::ErrorKind::InvalidData, sentence)
}

/// The last part of a name: nothing is put elsewhere.
fn plain(name: &[u8]) -> &[u8] {
    let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    match last {
        b"" | b"." | b".." => b"log.memlog",
        last => last.split(|&byte| byte == 0).next().unwrap_or(last),
    }
}

/// How much was read.
struct Counted<'r> {
    inner: &'r mut dyn Read,
    count: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out).map_err(|error| cut(&error))?;
        self.count += count as u64;
        Ok(count)
    }
}

/// Readers as one.
struct OneBehindTheOther<'r>(Vec<Box<dyn Read + 'r>>);

impl Read for OneBehindTheOther<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while let Some(first) = self.0.first_mut() {
            match first.read(out)? {
                0 if !out.is_empty() => drop(self.0.remove(0)),
                count => return Ok(count),
            }
        }
        Ok(0)
    }
}

/// Frames of zstd, one behind the other: other packers make several.
enum Zstd<R: BufRead> {
    Between(R),
    Frame(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    End,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::End) {
                Self::End => return Ok(0),
                Self::Between(mut input) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new(input).map_err(io::Error::other)?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => match frame.read(out)? {
                    0 if !out.is_empty() => {
                        let told = frame.decoder.get_checksum_from_data();
                        if told.is_some() && told != frame.decoder.get_calculated_checksum() {
                            return Err(io::Error::other("its bytes do not fit their checksum"));
                        }
                        *self = Self::Between(frame.into_inner());
                    }
                    count => {
                        *self = Self::Frame(frame);
                        return Ok(count);
                    }
                },
            }
        }
    }
}
