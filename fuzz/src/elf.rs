//! A little-endian 64-bit ELF file around given sections, so that what is
//! changed is what the sections say and not where they lie.

const HEADER: usize = 64;
const SECTION: usize = 64;
const PROGBITS: u32 = 1;
const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;

/// Appends to `out` a file of these sections: a name, and its bytes. A section
/// `.text` of the given address is added; `.symtab` is linked to `.strtab`.
pub fn program(out: &mut Vec<u8>, sections: &[(&str, &[u8])], text: (u64, u64)) {
    out.clear();
    out.resize(HEADER, 0);
    let mut names = vec![0];
    let mut table = vec![0; SECTION];
    let strings = sections.iter().position(|(name, _)| *name == ".strtab");
    for (name, bytes) in sections {
        let kind = match *name {
            ".symtab" => SYMTAB,
            ".strtab" => STRTAB,
            _ => PROGBITS,
        };
        // Its own header, and that of the table's first entry, come before.
        let link = match kind {
            SYMTAB => strings.map_or(0, |at| at as u32 + 1),
            _ => 0,
        };
        section(
            &mut table,
            names.len(),
            kind,
            (0, 0),
            (out.len(), bytes.len()),
            link,
        );
        names.extend(name.as_bytes());
        names.push(0);
        out.extend(*bytes);
        out.resize(out.len().next_multiple_of(8), 0);
    }
    let executable = 6;
    section(
        &mut table,
        names.len(),
        8,
        (executable, text.0),
        (0, text.1 as usize),
        0,
    );
    names.extend(b".text\0");
    section(
        &mut table,
        names.len(),
        STRTAB,
        (0, 0),
        (out.len(), names.len() + 10),
        0,
    );
    names.extend(b".shstrtab\0");
    out.extend(&names);
    out.resize(out.len().next_multiple_of(8), 0);
    let (table_at, count) = (out.len() as u64, (table.len() / SECTION) as u16);
    out.extend(&table);
    out[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    let words: [(usize, u64, usize); 8] = [
        (16, 2, 2),
        (18, 62, 2),
        (20, 1, 4),
        (40, table_at, 8),
        (52, HEADER as u64, 2),
        (58, SECTION as u64, 2),
        (60, u64::from(count), 2),
        (62, u64::from(count) - 1, 2),
    ];
    for (at, value, bytes) in words {
        out[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }
}

fn section(
    table: &mut Vec<u8>,
    name: usize,
    kind: u32,
    (flags, address): (u64, u64),
    (offset, size): (usize, usize),
    link: u32,
) {
    let entry = if kind == SYMTAB { 24 } else { 0 };
    table.extend((name as u32).to_le_bytes());
    table.extend(kind.to_le_bytes());
    for word in [flags, address, offset as u64, size as u64] {
        table.extend(word.to_le_bytes());
    }
    table.extend(link.to_le_bytes());
    table.extend(0u32.to_le_bytes());
    table.extend(1u64.to_le_bytes());
    table.extend((entry as u64).to_le_bytes());
}
