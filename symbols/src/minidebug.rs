//! `.gnu_debugdata`: an xz-packed ELF file inside a stripped one, with a symbol table for the
//! functions that dynamic linking does not name.

use std::io::Read;

use crate::elf_file::ElfFile;
use crate::paths;
use crate::source::Store;

/// Of the decoder's dictionary: what `xz -9` needs.
const MAX_DICTIONARY_KIB: u32 = 96 << 10;
const MAX_UNPACKED: u64 = 256 << 20;

/// The file inside, if there is one.
pub(crate) fn inside<'a>(
    image: &ElfFile<'a>,
    store: &'a Store,
    notes: &mut Vec<String>,
) -> Option<ElfFile<'a>> {
    let packed = image
        .section(".gnu_debugdata", store)
        .ok()
        .filter(|data| !data.is_empty())?;
    let path = paths::with_suffix(&image.path, b" (.gnu_debugdata)");
    let mut unpacked = Vec::new();
    let read = lzma_rust2::XzReader::new_mem_limit(packed, false, MAX_DICTIONARY_KIB)
        .take(MAX_UNPACKED)
        .read_to_end(&mut unpacked);
    let found = match read {
        Ok(_) => ElfFile::parse(path, store.keep_unpacked(unpacked)),
        Err(error) => Err(format!(
            "{} cannot be unpacked: {error}",
            paths::show(&path)
        )),
    };
    found.map_err(|sentence| notes.push(sentence)).ok()
}
