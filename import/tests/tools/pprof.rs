//! Profiles in pprof's form. Messages are written byte by byte here.

use memlog_import::Lack;

use super::{golden, seen, sentence, total, within};

/// What `go tool pprof -top -unit=B` printed of the file, by -sample_index.
#[test]
fn gos_sums_are_those_that_pprof_prints() {
    let (made, seen) = seen(&golden("go.pb.gz"));
    assert_eq!(within(&seen.live, "main.table"), (1, 1_048_576));
    assert_eq!(within(&seen.live, "main.churn"), (1, 10_240));
    assert_eq!(within(&seen.came, "main.churn").0, 101);
    // Inlined into main.main.
    assert_eq!(within(&seen.live, "main.inl"), (10, 53_760));
    assert!(
        seen.live
            .keys()
            .any(|stack| stack.starts_with("main.inl < main.main"))
    );
    // The rate is 1: no block was passed over.
    assert!(!made.lacks.contains(&Lack::Exactness));
    assert!(made.lacks.contains(&Lack::Times));
}

#[test]
fn a_converted_profile_says_the_same_as_its_text() {
    let (_, text) = seen(&golden("gperftools.heap"));
    let (_, made) = seen(&golden("gperftools.pb.gz"));
    assert_eq!(total(&made.live), total(&text.live));
    assert_eq!(total(&made.came), total(&text.came));
    assert_eq!(within(&made.came, "churn"), (1000, 700_000));
    assert_eq!(within(&made.live, "copy_of"), (60, 1200));
}

/// A field of bytes.
fn field(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![tag << 3 | 2];
    varint(&mut field, bytes.len() as u64);
    field.extend_from_slice(bytes);
    field
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

fn numbers(tag: u8, numbers: &[i64]) -> Vec<u8> {
    let mut packed = Vec::new();
    for &number in numbers {
        varint(&mut packed, number as u64);
    }
    field(tag, &packed)
}

fn number(tag: u8, number: u64) -> Vec<u8> {
    let mut field = vec![tag << 3];
    varint(&mut field, number);
    field
}

/// A profile with types of these names, and more fields.
fn profile(types: &[&str], more: &[Vec<u8>]) -> Vec<u8> {
    let mut profile = Vec::new();
    for at in 1..=types.len() {
        profile.extend(field(1, &[8, at as u8, 16, 0]));
    }
    profile.extend(more.concat());
    profile.extend(field(6, b""));
    types
        .iter()
        .for_each(|name| profile.extend(field(6, name.as_bytes())));
    profile
}

fn sample(locations: &[i64], values: &[i64]) -> Vec<u8> {
    field(2, &[numbers(1, locations), numbers(2, values)].concat())
}

#[test]
fn what_is_missing_is_no_knowledge() {
    let of = |types: &[&str], values: &[i64]| {
        let (made, seen) = seen(&profile(types, &[sample(&[1], values)]));
        let gone = made.lacks.contains(&Lack::Gone);
        (total(&seen.came), total(&seen.live), gone)
    };
    let both = [
        "alloc_objects",
        "alloc_space",
        "inuse_objects",
        "inuse_space",
    ];
    assert_eq!(of(&both, &[5, 50, 2, 20]), ((5, 50), (2, 20), false));
    assert_eq!(of(&both, &[5, 50]), ((5, 50), (0, 0), false));
    assert_eq!(of(&both[..2], &[5, 50]), ((5, 50), (0, 0), false));
    assert_eq!(of(&both[2..], &[2, 20]), ((2, 20), (2, 20), true));
    assert_eq!(
        of(&["objects", "space"], &[2, 20]),
        ((2, 20), (2, 20), true)
    );
    // Less came than is live: what is live counts.
    assert_eq!(of(&both, &[1, 10, 2, 20]), ((2, 20), (2, 20), false));
    let processor = sentence(&profile(&["samples", "cpu"], &[sample(&[1], &[1, 2])]));
    assert_eq!(
        processor,
        "offset 0: expected a profile of the heap: alloc_space, inuse_space or space, found \
         'samples, cpu'"
    );
    let less = sentence(&profile(&both, &[sample(&[1], &[-1, -5, 0, 0])]));
    assert_eq!(
        less,
        "offset 0: expected values that are not negative: a difference is no profile, found \
         'sample 0'"
    );
}

/// Code without names is named from its module's file: the address and the bias count.
#[test]
fn code_without_names_is_in_its_module() {
    let mapping = [
        number(1, 1),
        number(2, 0x5555_5555_6000),
        number(3, 0x5555_5555_8000),
        number(4, 0x1000),
        number(5, 3),
    ];
    let low = [
        number(1, 2),
        number(2, 0x40_0000),
        number(3, 0x50_0000),
        number(5, 3),
    ];
    let location = |id, mapping, address| {
        field(
            4,
            &[number(1, id), number(2, mapping), number(3, address)].concat(),
        )
    };
    let more = [
        sample(&[1, 2, 9], &[1, 10]),
        field(3, &mapping.concat()),
        field(3, &low.concat()),
        location(1, 1, 0x5555_5555_6123),
        location(2, 2, 0x40_1234),
    ];
    let (_, seen) = seen(&profile(&["objects", "space", "/opt/v"], &more));
    let stacks: Vec<_> = seen.live.keys().collect();
    let missing = "(location 9 that the profile does not have)";
    assert_eq!(stacks, [&format!("v+1123 < v+401234 < {missing}")]);
}
