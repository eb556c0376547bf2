//! Damaged and crafted files: any answer will do, but there is one.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::sync::Arc;

use common::{Folder, all, alone, probes};
use memlog_symbols::{Bytes, Lookup, ModuleSpec, Store, Symbolizer};

/// Asks a few questions of a file with these bytes.
fn ask(bytes: &[u8], addresses: &[u64]) -> Vec<Lookup> {
    let bytes: Arc<Vec<u8>> = Arc::new(bytes.to_vec());
    let source = |path: &[u8]| -> std::io::Result<Bytes> {
        if path == b"/victim" || path.ends_with(b".dwp") || path.ends_with(b".dwo") {
            Ok(bytes.clone())
        } else {
            Err(std::io::ErrorKind::NotFound.into())
        }
    };
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, source, alone());
    let module = symbols.add_module(&ModuleSpec {
        path: b"/victim".to_vec(),
        build_id: vec![],
    });
    let found = all(&symbols, module, addresses);
    assert!(found.iter().all(|lookup| lookup.frames.len() <= 512));
    symbols.notes(module);
    found
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn victims() -> Vec<(Vec<u8>, Vec<u64>)> {
    let folder = Folder::new();
    folder.write("victim.c", programs::C);
    folder.write("victim.cc", programs::CPP);
    let mut list = Vec::new();
    for line in [
        "cc -O2 -gdwarf-5 -o v0 victim.c",
        "cc -O2 -gdwarf-4 -gz=zlib -o v1 victim.c",
        "cc -O2 -gdwarf-5 -gsplit-dwarf -o v2 victim.c",
        "g++ -O1 -gdwarf-4 -fdebug-types-section -o v3 victim.cc",
        "powerpc64-linux-gnu-gcc -O2 -g -shared -fPIC -nostdlib -o v4 victim.c",
    ] {
        if folder.try_run(line) {
            let file = folder.path(line.split_whitespace().rev().nth(1).unwrap());
            let addresses: Vec<u64> = probes(&file).into_iter().step_by(37).take(24).collect();
            list.push((std::fs::read(&file).unwrap(), addresses));
        }
    }
    list
}

#[test]
fn cut_anywhere() {
    for (bytes, addresses) in victims() {
        let mut random = Random(1);
        for _ in 0..60 {
            ask(&bytes[..random.below(bytes.len())], &addresses);
        }
        for length in (0..200).step_by(3) {
            ask(&bytes[..length], &addresses);
            ask(&bytes[..bytes.len() - length], &addresses);
        }
    }
}

#[test]
fn damaged_anywhere() {
    let rounds = std::env::var("MEMLOG_HOSTILE_ROUNDS").map_or(150, |n| n.parse().unwrap());
    for (seed, (bytes, addresses)) in victims().into_iter().enumerate() {
        let mut random = Random(seed as u64);
        for _ in 0..rounds {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(40) {
                let at = random.below(damaged.len());
                damaged[at] = match random.below(4) {
                    0 => 0,
                    1 => 0xff,
                    _ => random.below(256) as u8,
                };
            }
            ask(&damaged, &addresses);
        }
    }
}

/// A section header table and the sections after it, 64 bits, little-endian.
fn elf(sections: &[(&str, u32, u64, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let mut data = vec![0; 64];
    let mut headers = vec![0; 64];
    let mut add = |name: &str, kind: u32, flags: u64, bytes: &[u8], names: &mut Vec<u8>| {
        let (at, offset) = (names.len() as u32, data.len() as u64);
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        let bytes = if name == ".shstrtab" {
            names.clone()
        } else {
            bytes.to_vec()
        };
        headers.extend_from_slice(&at.to_le_bytes());
        headers.extend_from_slice(&kind.to_le_bytes());
        for word in [flags, 0x1000, offset, bytes.len() as u64, 0, 1, 0] {
            headers.extend_from_slice(&word.to_le_bytes());
        }
        data.extend_from_slice(&bytes);
    };
    for (name, kind, flags, bytes) in sections {
        add(name, *kind, *flags, bytes, &mut names);
    }
    add(".shstrtab", 3, 0, &[], &mut names);
    let count = (sections.len() + 2) as u16;
    let table = data.len() as u64;
    data.extend_from_slice(&headers);
    data[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    data[16..18].copy_from_slice(&3_u16.to_le_bytes());
    data[18..20].copy_from_slice(&62_u16.to_le_bytes());
    data[20..24].copy_from_slice(&1_u32.to_le_bytes());
    data[40..48].copy_from_slice(&table.to_le_bytes());
    data[52..54].copy_from_slice(&64_u16.to_le_bytes());
    data[58..60].copy_from_slice(&64_u16.to_le_bytes());
    data[60..62].copy_from_slice(&count.to_le_bytes());
    data[62..64].copy_from_slice(&(count - 1).to_le_bytes());
    data
}

/// A unit with a function at 0x1000 and functions inlined in functions inlined in ...
fn nested(depth: usize) -> Vec<u8> {
    #[rustfmt::skip]
    let abbreviations = [
        1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0, // unit: low_pc addr, high_pc data4
        2, 0x2e, 1, 0x11, 0x01, 0x12, 0x06, 0, 0, // subprogram: the same
        3, 0x1d, 1, 0, 0,                         // inlined subroutine, nothing
        0,
    ];
    let mut entries = Vec::new();
    for tag in [1, 2] {
        entries.push(tag);
        entries.extend_from_slice(&0x1000_u64.to_le_bytes());
        entries.extend_from_slice(&0x100_u32.to_le_bytes());
    }
    entries.extend(std::iter::repeat_n(3, depth));
    entries.extend(std::iter::repeat_n(0, depth + 2));
    let mut unit = ((entries.len() + 7) as u32).to_le_bytes().to_vec();
    unit.extend_from_slice(&[4, 0, 0, 0, 0, 0, 8]);
    unit.extend_from_slice(&entries);
    elf(&[
        (".debug_info", 1, 0, &unit),
        (".debug_abbrev", 1, 0, &abbreviations),
    ])
}

#[test]
fn inlined_without_end() {
    assert_eq!(ask(&nested(100), &[0x1010])[0].frames.len(), 1);
    assert_eq!(ask(&nested(3_000_000), &[0x1010])[0].frames.len(), 0);
}

#[test]
fn a_section_that_claims_to_be_huge() {
    // ELFCOMPRESS_ZLIB, 8 TiB once unpacked.
    let mut packed = vec![1, 0, 0, 0, 0, 0, 0, 0];
    packed.extend_from_slice(&(8_u64 << 40).to_le_bytes());
    packed.extend_from_slice(&[0; 24]);
    ask(&elf(&[(".debug_info", 1, 0x800, &packed)]), &[0x1010]);
}
