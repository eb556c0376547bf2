//! Values that no version may change: they stand in logs.

use memlog_format::api::{Api, NAMES, TOLD};
use memlog_format::chunk::{CHUNK_SIZE, checksum};
use memlog_format::counter::{ALL, AREA_AT, AREA_COUNT, AREA_END, Counter};
use memlog_format::event::{Alloc, Deltas, Event, Release, predicted_usable};
use memlog_format::ext::Ext;
use memlog_format::order::{CELL_BITS, CELLS, cell};
use memlog_format::table::{
    CODES_PER_CHUNK, Code, FIRST_CODE, FIRST_NODE, NODES_PER_CHUNK, StackId, id_of,
};
use memlog_format::varint::{Reader, Writer};

fn bytes_of(value: u64) -> Vec<u8> {
    let mut out = [0; 10];
    let mut writer = Writer::new(&mut out);
    writer.var(value);
    let length = writer.finish().expect("a varint fits ten bytes");
    out[..length].to_vec()
}

#[test]
fn varints() {
    assert_eq!(bytes_of(0), [0]);
    assert_eq!(bytes_of(127), [0x7F]);
    assert_eq!(bytes_of(128), [0x80, 1]);
    assert_eq!(bytes_of(300), [0xAC, 2]);
    assert_eq!(bytes_of(16_383), [0xFF, 0x7F]);
    assert_eq!(bytes_of(16_384), [0x80, 0x80, 1]);
    assert_eq!(
        bytes_of(u64::MAX >> 1),
        [[0xFF; 8].as_slice(), &[0x7F]].concat()
    );
    assert_eq!(bytes_of(u64::MAX), [[0xFF; 9].as_slice(), &[1]].concat());
}

#[test]
fn varints_at_their_limits() {
    let read = |bytes: &[u8]| Reader::new(bytes).var().map_err(|error| error.offset);
    assert_eq!(read(&[]), Err(0));
    assert_eq!(read(&[0x80]), Err(1));
    // Longer than needed is read: the length of a meta record is always three.
    assert_eq!(read(&[0x85, 0x80, 0]), Ok(5));
    assert_eq!(
        read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]),
        Ok(0)
    );
    // Bit 64 and an eleventh byte are not.
    let mut bytes = [0xFF; 11];
    bytes[9] = 2;
    assert!(read(&bytes).is_err());
    bytes[9] = 0x81;
    assert!(read(&bytes).is_err());
    let narrow = |bytes: &[u8]| Reader::new(bytes).var32().ok();
    assert_eq!(narrow(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), Some(u32::MAX));
    assert_eq!(narrow(&[0x80, 0x80, 0x80, 0x80, 0x10]), None);
    // A length longer than the address space, on machines of any width.
    let mut bytes = [0xFF; 12];
    bytes[9] = 1;
    assert!(Reader::new(&bytes).blob().is_err());
    assert!(Reader::new(&bytes).bytes(usize::MAX).is_err());
}

#[test]
fn entry_points() {
    for (index, (api, name)) in NAMES.into_iter().enumerate() {
        assert_eq!(api as usize, index + 1, "{name}");
        assert_eq!(Api::from_byte(api as u8), Some(api));
        assert_eq!(api.name(), name);
    }
    assert_eq!(Api::from_byte(NAMES.len() as u8 + 1), None);
    assert_eq!(Api::from_byte(255), None);
    let aligned: Vec<_> = NAMES.iter().filter(|(api, _)| api.is_aligned()).collect();
    let numbers: Vec<_> = aligned.iter().map(|(api, _)| *api as u8).collect();
    assert_eq!(numbers, [7, 8, 9, 19, 20]);
    assert_eq!(Api::Free as u8, 5);
    assert_eq!(Api::DeleteArray as u8, 22);
}

/// What the program tells of has numbers that no record may have, and stands in a record of a
/// function that an older reader knows, behind two bytes that it skips.
#[test]
fn what_is_told_stands_for_itself_behind_a_word() {
    for (index, (api, name)) in TOLD.into_iter().enumerate() {
        let number = (NAMES.len() + index + 1) as u8;
        assert_eq!((api as u8, api.name()), (number, name));
        assert_eq!(
            (Api::from_byte(number), Api::from_number(number)),
            (None, Some(api))
        );
        assert_eq!(api.recorded().told(), api);
        assert!(api.is_told() && !api.recorded().is_told());
    }
    assert_eq!(Api::from_number((NAMES.len() + TOLD.len() + 1) as u8), None);
    assert_eq!([Api::from_number(0), Api::from_byte(0)], [None, None]);
    let put = |api, announced| {
        let mut bytes = [0; 64];
        let mut out = Writer::new(&mut bytes);
        let (mut deltas, size) = (Deltas::default(), 5);
        match api {
            Api::Pool | Api::Free => deltas.put_release(
                &mut out,
                &Release {
                    api,
                    address: 32,
                    announced,
                    stack: None,
                    order: None,
                },
            ),
            _ => deltas.put_alloc(
                &mut out,
                &Alloc {
                    api,
                    address: 32,
                    size,
                    usable: predicted_usable(size),
                    alignment_log2: 0,
                    stack: StackId(1),
                    order: None,
                },
            ),
        }
        let length = out.finish().expect("it fits");
        bytes[..length].to_vec()
    };
    for (api, _) in TOLD {
        let plain = put(api.recorded(), false);
        assert_eq!(put(api, false), [&[17 << 3, 0], &plain[..]].concat());
        // Alone, or before what is none of its, it changes nothing.
        let lone = [&[17 << 3, 0], &[17 << 3, 0], &[5 | 1 << 3][..], &plain].concat();
        let (mut deltas, mut reader) = (Deltas::default(), Reader::new(&lone));
        let mut next = || deltas.next(&mut reader).expect("a record").expect("one");
        assert_eq!([next(), next()], [Event::Ext(Ext::Custom); 2]);
        assert_eq!(next(), Event::Tick(1));
        let found = match next() {
            Event::Alloc(alloc) => alloc.api,
            Event::Release(release) => release.api,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, api.recorded());
    }
}

/// However many stand behind each other, none of them is looked into twice.
#[test]
fn many_words_and_nothing_behind() {
    let bytes = [17 << 3, 0].repeat(30_000);
    let (mut deltas, mut reader) = (Deltas::default(), Reader::new(&bytes));
    let mut count = 0;
    while let Some(event) = deltas.next(&mut reader).expect("a record") {
        assert_eq!(event, Event::Ext(Ext::Custom));
        count += 1;
    }
    assert_eq!(count, 30_000);
}

#[test]
fn counters() {
    // No gaps but for those of an earlier memlog, whose logs still have them.
    let numbers = (0..AREA_COUNT).filter(|number| ![24, 25].contains(number));
    assert!(
        ALL.len() <= numbers.clone().count(),
        "the area is too small"
    );
    for (number, &(counter, name)) in numbers.zip(ALL) {
        assert_eq!(counter as usize, number, "{name}");
        assert_eq!(ALL.iter().filter(|(_, other)| *other == name).count(), 1);
    }
    assert_eq!((AREA_AT, AREA_END), (64, 576));
    let mut chunk = vec![0; AREA_END];
    chunk[64 + 8 * 13..][..8].copy_from_slice(&0x0102_0304_0506_0708u64.to_le_bytes());
    assert_eq!(Counter::Stamps.read(&chunk), 0x0102_0304_0506_0708);
    assert_eq!(Counter::Stamps.read(&chunk[..64]), 0);
    assert_eq!(Counter::TableRaces as u8, 21);
    assert_eq!(Counter::AllocationsFailed as u8, 32);
}

#[test]
fn order_cells() {
    assert_eq!((CELL_BITS, CELLS), (16, 65_536));
    for (address, expected) in [
        (0, 0),
        (0xFFF, 0),
        (0x1000, 1),
        (0x1_0000, 0x10),
        (0x3FF_FFFF, 0x3FFF),
        (0x400_0000, 0xDE37),
        (0x5555_5576_B2A0, 0xA766),
        (0x5555_5576_C000, 0xA761),
        (0x7FFF_E800_0B20, 0x01E3),
        (0x7FFF_E800_1000, 0x01E2),
        (0x0FFF_FFFF_F000, 0xB751),
        (u64::MAX, 0xCB98),
    ] {
        assert_eq!(cell(address), expected, "{address:#x}");
    }
    for address in (0..64).map(|bit| u64::MAX >> bit) {
        assert!(cell(address) < CELLS);
    }
}

/// Ids name each usable position of each chunk once, in order, and never a
/// position under a header.
#[test]
fn ids() {
    for (per_chunk, first) in [(NODES_PER_CHUNK, FIRST_NODE), (CODES_PER_CHUNK, FIRST_CODE)] {
        let usable = per_chunk - first;
        let id = |count| id_of(count, per_chunk, first);
        assert_eq!(id(0), Some(first));
        assert_eq!(id(usable - 1), Some(per_chunk - 1));
        assert_eq!(id(usable), Some(per_chunk + first));
        let mut last = 0;
        for count in 0..3 * usable {
            let id = id(count).expect("small");
            assert!(id > last && id % per_chunk >= first);
            assert_eq!(count, id / per_chunk * usable + id % per_chunk - first);
            last = id;
        }
        let chunks = 1u64 << 32 >> per_chunk.ilog2();
        let most = (chunks * u64::from(usable) - 1) as u32;
        assert_eq!(id(most), Some(u32::MAX));
        assert_eq!(id(most + 1), None);
        assert_eq!(id(u32::MAX), None);
    }
}

#[test]
fn ids_of_no_table() {
    for (per_chunk, first) in [(0, 0), (8, 8), (8, 9), (0, u32::MAX)] {
        assert_eq!(id_of(0, per_chunk, first), None);
    }
    assert_eq!(id_of(u32::MAX, u32::MAX, 1), None);
    assert_eq!(id_of(u32::MAX, 1, 0), Some(u32::MAX));
}

#[test]
fn roots() {
    assert_eq!((NODES_PER_CHUNK, FIRST_NODE), (8192, 8));
    assert_eq!((CODES_PER_CHUNK, FIRST_CODE), (4096, 4));
    for id in 0..FIRST_NODE {
        let stack = StackId(id);
        assert!(stack.is_root() && stack.root_name() != "not a root");
        assert_eq!(stack.is_cut(), id > 1);
    }
    assert!(!StackId(8).is_root() && !StackId(8).is_cut());
    assert_eq!(StackId::CUT_UNSUPPORTED.0, 7);
}

#[test]
fn names_are_looked_up_inside_the_call() {
    let mut code = Code {
        address: 0x1000,
        module: 1,
        exact: false,
    };
    assert_eq!(code.lookup_address(), 0xFFF);
    code.exact = true;
    assert_eq!(code.lookup_address(), 0x1000);
}

#[test]
fn usable_sizes() {
    for (size, usable) in [
        (0, 24),
        (24, 24),
        (25, 40),
        (40, 40),
        (100, 104),
        (4096, 4104),
    ] {
        assert_eq!(predicted_usable(size), usable);
    }
    for size in [u64::MAX, u64::MAX - 22, u64::MAX - 23] {
        assert!(predicted_usable(size) > u64::MAX - 64);
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length)
        .map(|index| (index * 31 + index / 256) as u8)
        .collect()
}

#[test]
fn checksums() {
    for (bytes, expected) in [
        (vec![], 0x7337_34C8_2212_F9CF),
        (b"memlog".to_vec(), 0x264D_5766_7DF6_8D14),
        (vec![0; 31], 0x508A_9753_6B1E_F635),
        (vec![0; 32], 0x2E1C_C8C8_68ED_3938),
        (pattern(39), 0x6E12_A158_F068_5BE9),
        (pattern(CHUNK_SIZE - 64), 0x53E4_79E1_AA25_CB93),
    ] {
        let sum = checksum(&bytes);
        assert_eq!(sum, expected, "{} bytes: {sum:#018x}", bytes.len());
    }
}

/// One flipped bit, or zeros more or fewer, always give another checksum.
#[test]
fn checksums_see_every_bit() {
    let all = (0..=100).chain([4096, CHUNK_SIZE - 64]);
    for length in all {
        let mut bytes = pattern(length);
        let sum = checksum(&bytes);
        let step = if length > 100 { 1031 } else { 1 };
        for bit in (0..8 * length).step_by(step) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(checksum(&bytes), sum, "bit {bit} of {length} bytes");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes.push(0);
        assert_ne!(checksum(&bytes), sum, "a zero more than {length} bytes");
    }
}
