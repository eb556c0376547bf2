//! One ELF file: its build-id, its sections (unpacked, within limits), its links to others.

use object::read::{CompressionFormat, Object, ObjectSection};
use object::{SectionFlags, elf};

use crate::machine::Machine;
use crate::paths;
use crate::source::Store;

/// One packed byte makes at most this many: more than zlib can (1032), far more than debug
/// information ever reaches with zstd (about 10).
const MAX_RATIO: u64 = 1100;
/// No single section is larger once unpacked.
const MAX_SECTION: u64 = 16 << 30;

pub(crate) struct ElfFile<'a> {
    pub path: Vec<u8>,
    pub data: &'a [u8],
    pub elf: object::File<'a>,
}

impl<'a> ElfFile<'a> {
    /// Reads the headers, or says in a sentence what is wrong.
    pub(crate) fn parse(path: Vec<u8>, data: &'a [u8]) -> Result<Self, String> {
        if !data.starts_with(b"\x7fELF") {
            return Err(format!("{} is not an ELF file", paths::show(&path)));
        }
        match object::File::parse(data) {
            Ok(elf) => Ok(Self { path, data, elf }),
            Err(error) => Err(format!(
                "{} is a damaged ELF file: {error}",
                paths::show(&path)
            )),
        }
    }

    pub(crate) fn build_id(&self) -> Option<&'a [u8]> {
        self.elf
            .build_id()
            .ok()
            .flatten()
            .filter(|id| !id.is_empty())
    }

    pub(crate) fn machine(&self) -> Option<Machine> {
        Machine::of(self.data)
    }

    /// Whether the code itself is in the file, and not only what is known of it.
    pub(crate) fn has_code(&self) -> bool {
        self.elf.sections().any(|section| {
            matches!(section.flags(),
                SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR))
                && section.data().is_ok_and(|data| !data.is_empty())
        })
    }

    pub(crate) fn endian(&self) -> gimli::RunTimeEndian {
        if self.elf.is_little_endian() {
            gimli::RunTimeEndian::Little
        } else {
            gimli::RunTimeEndian::Big
        }
    }

    /// Whether the section is there with bytes in it (a stripped-off section has a header only).
    pub(crate) fn has_bytes(&self, name: &str) -> bool {
        self.elf
            .section_by_name(name)
            .and_then(|section| section.data().ok())
            .is_some_and(|data| !data.is_empty())
    }

    /// A section's bytes, unpacked; empty if there is none.
    pub(crate) fn section(&self, name: &str, store: &'a Store) -> Result<&'a [u8], String> {
        let Some(section) = self.elf.section_by_name(name) else {
            return Ok(&[]);
        };
        let wrong = |what: &str| format!("{name} of {} {what}", paths::show(&self.path));
        let packed = section
            .compressed_data()
            .map_err(|e| wrong(&format!("cannot be read: {e}")))?;
        if packed.format == CompressionFormat::None {
            return Ok(packed.data);
        }
        let most = (packed.data.len() as u64)
            .saturating_mul(MAX_RATIO)
            .min(MAX_SECTION);
        if packed.uncompressed_size > most {
            return Err(wrong("claims an impossible size once unpacked"));
        }
        let bytes = packed
            .decompress()
            .map_err(|e| wrong(&format!("cannot be unpacked: {e}")))?;
        Ok(store.keep_unpacked(bytes.into_owned()))
    }

    /// A section as gimli reads it; a section that cannot be read is empty and noted.
    pub(crate) fn reader(
        &self,
        name: &str,
        store: &'a Store,
        notes: &mut Vec<String>,
    ) -> gimli::EndianSlice<'a, gimli::RunTimeEndian> {
        let bytes = self.section(name, store).unwrap_or_else(|sentence| {
            notes.push(sentence);
            &[]
        });
        gimli::EndianSlice::new(bytes, self.endian())
    }

    /// Name and checksum of the separate debug file.
    pub(crate) fn debug_link(&self) -> Option<(&'a [u8], u32)> {
        self.elf.gnu_debuglink().ok().flatten()
    }

    /// Path and build-id of the file that dwz moved common parts to.
    pub(crate) fn alternate_link(&self) -> Option<(&'a [u8], &'a [u8])> {
        self.elf.gnu_debugaltlink().ok().flatten()
    }
}
