//! Packed files of anybody: cut, bent, and made to be anything else. What comes out is what
//! went in, or an error, or the word that it is no packed file; never a panic.

use std::io::{self, Read};

use memlog_pack::archive::{Member, read, write};

/// What lies in a packed file: names and contents.
type Logs = Vec<(Vec<u8>, Vec<u8>)>;

fn unpacked(bytes: &[u8]) -> io::Result<Option<Logs>> {
    let mut logs = Logs::new();
    let is_one = read(bytes, |packed| {
        let mut log = Vec::new();
        packed.content.read_to_end(&mut log)?;
        assert_eq!(log.len() as u64, packed.length);
        logs.push((packed.name.to_vec(), log));
        Ok(())
    })?;
    Ok(is_one.then_some(logs))
}

fn packed(logs: &[(&[u8], &[u8])]) -> Vec<u8> {
    let members = logs.iter().map(|&(name, content)| Member {
        name: name.to_vec(),
        changed: 1,
        length: content.len() as u64,
        content,
    });
    let mut out = Vec::new();
    write(members.collect(), &mut out).expect("memory takes all");
    out
}

/// Bytes of which some come again, as in a log.
fn content(length: usize, seed: u32) -> Vec<u8> {
    let mut word = seed;
    let mut next = || {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (word >> 28) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn logs_come_out_as_they_went_in() {
    for lengths in [&[0][..], &[1, 511, 512, 513], &[200_000, 0, 3]] {
        let contents: Vec<_> = (1..)
            .zip(lengths)
            .map(|(seed, &length)| content(length, seed))
            .collect();
        let logs: Vec<_> = contents
            .iter()
            .map(|log| (&b"a.memlog"[..], &log[..]))
            .collect();
        let found = unpacked(&packed(&logs)).expect("whole").expect("packed");
        let names: Vec<_> = found
            .iter()
            .map(|(name, _)| String::from_utf8_lossy(name))
            .collect();
        let wanted = ["a.memlog", "a.000.memlog", "a.001.memlog", "a.002.memlog"];
        assert_eq!(names, wanted[..lengths.len()]);
        assert!(found.iter().map(|(_, log)| log).eq(&contents));
    }
}

#[test]
fn a_name_is_only_a_name() {
    let long = [b'n'; 300];
    let names: [&[u8]; 6] = [
        b"../../etc/passwd",
        b"/",
        b"..",
        b"\xff\0\n",
        b".hidden",
        &long,
    ];
    for name in names {
        let found = unpacked(&packed(&[(name, b"x")]))
            .expect("whole")
            .expect("packed");
        let name = String::from_utf8(found[0].0.clone()).expect("text");
        assert!(name.ends_with(".memlog") && name.len() <= 100, "{name}");
        assert!(!name.starts_with('.') && !name.contains('/'), "{name}");
        assert!(name.chars().all(|c| !c.is_control()), "{name}");
    }
}

#[test]
fn what_is_cut_is_told() {
    let whole = packed(&[
        (b"a.memlog", &content(3000, 1)),
        (b"b.memlog", &content(700, 2)),
    ]);
    for length in 0..whole.len() {
        let found = unpacked(&whole[..length]);
        assert!(
            !matches!(found, Ok(Some(_))),
            "{length} of {} bytes",
            whole.len()
        );
    }
    assert!(matches!(unpacked(&whole), Ok(Some(_))));
}

#[test]
fn what_is_bent_is_told_or_harmless() {
    let logs = [(&b"a.memlog"[..], &content(900, 1)[..])];
    let whole = packed(&logs);
    let right = unpacked(&whole).expect("whole");
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bent = whole.clone();
            bent[at] ^= 1 << bit;
            if let Ok(Some(found)) = unpacked(&bent) {
                assert_eq!(Some(found), right, "bit {bit} of byte {at}");
            }
        }
    }
}

/// A tar of zeros of a gigabyte takes little: what a reader does not want it need not take.
#[test]
fn a_reader_may_stop() {
    struct Zeros;
    impl Read for Zeros {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            out.fill(0);
            Ok(out.len())
        }
    }
    let length = 20 << 20;
    let mut bomb = Vec::new();
    let member = Member {
        name: b"a.memlog".to_vec(),
        changed: 0,
        length,
        content: Zeros.take(length),
    };
    write(vec![member], &mut bomb).expect("memory takes all");
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let mut taken = 0;
    let stopped = read(&bomb[..], |packed| {
        assert_eq!(packed.length, length);
        taken += packed.content.take(1000).read_to_end(&mut Vec::new())?;
        Err(io::Error::other("enough"))
    });
    assert_eq!((taken, stopped.is_err()), (1000, true));
}

/// Where it cannot be written that is an error, however the encoder takes it.
#[test]
fn a_disk_may_be_full() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let log = content(300_000, 3);
    for room in [0, 10, 1000, 100_000] {
        let member = Member {
            name: b"a".to_vec(),
            changed: 0,
            length: log.len() as u64,
            content: &log[..],
        };
        let error = write(vec![member], &mut Full(room)).expect_err("no room");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{room}");
    }
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
    let member = Member {
        name: b"a".to_vec(),
        changed: 0,
        length: 5,
        content: Broken,
    };
    assert!(write(vec![member], &mut Vec::new()).is_err());
}

/// A bare tar, a tar of others in zstd's frame, and no tar in one.
#[test]
fn others_files_are_others() {
    let frame = |bytes: &[u8]| {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    };
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(3);
    tar.append_data(&mut header, "heaptrack.txt", &b"abc"[..])
        .expect("memory takes all");
    let tar = tar.into_inner().expect("memory takes all");
    assert!(unpacked(&tar).is_err() || matches!(unpacked(&tar), Ok(None)));
    for bytes in [&frame(&tar)[..], &frame(b"v 10501 3\n"), &frame(b"")] {
        assert!(matches!(unpacked(bytes), Ok(None)));
    }
}

/// A tar of these, packed: names as they are, kinds, the lengths that are told, contents.
fn foreign(members: &[(&[u8], tar::EntryType, u64, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for &(name, kind, length, content) in members {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_entry_type(kind);
        header.set_size(length);
        header.set_cksum();
        tar.extend(header.as_bytes());
        tar.extend(content);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.extend([0; 1024]);
    ruzstd::encoding::compress_to_vec(&tar[..], ruzstd::encoding::CompressionLevel::Fastest)
}

const FIRST: (&[u8], tar::EntryType, u64, &[u8]) =
    (b"memlog-pack-1", tar::EntryType::Regular, 2, b"ab");

/// Whoever made it, a log goes into the folder that was named, as a log, and once.
#[test]
fn names_of_others_are_only_names() {
    let kind = tar::EntryType::Regular;
    let names: [&[u8]; 9] = [
        b"../../etc/passwd",
        b"/etc/cron.d/x.memlog",
        b".bashrc",
        b"..",
        b"a/../..",
        b"x.memlog",
        b"y/x.memlog",
        b"-rf",
        b"a\n\x1b[2J",
    ];
    let members: Vec<_> = [FIRST]
        .into_iter()
        .chain(names.map(|name| (name, kind, 1, &b"x"[..])))
        .collect();
    let found = unpacked(&foreign(&members))
        .expect("whole")
        .expect("packed");
    let mut met = std::collections::HashSet::new();
    for (name, _) in &found {
        let name = String::from_utf8(name.clone()).expect("text");
        assert!(
            name.ends_with(".memlog") && !name.starts_with('.'),
            "{name}"
        );
        assert!(!name.contains(['/', '\n', '\x1b']), "{name}");
        assert!(met.insert(name.clone()), "{name}");
    }
    assert_eq!(found.len(), names.len());
    // Links and folders are nothing that comes out.
    for kind in [
        tar::EntryType::Symlink,
        tar::EntryType::Link,
        tar::EntryType::Directory,
    ] {
        let log = (&b"a"[..], tar::EntryType::Regular, 1, &b"x"[..]);
        let found = unpacked(&foreign(&[FIRST, (b"b", kind, 0, b""), log]));
        assert_eq!(found.expect("whole").expect("packed").len(), 1);
    }
}

/// Of what no log is no more is read than a packed file may have.
#[test]
fn what_is_no_log_is_bound() {
    let log = (&b"a"[..], tar::EntryType::Regular, 1, &b"x"[..]);
    let zeros = vec![0; 3 << 20];
    for kind in [
        tar::EntryType::GNULongName,
        tar::EntryType::XHeader,
        tar::EntryType::Fifo,
    ] {
        let large = (&b"b"[..], kind, zeros.len() as u64, &zeros[..]);
        for members in [[FIRST, large, log], [large, FIRST, log]] {
            let found = unpacked(&foreign(&members));
            assert!(!matches!(found, Ok(Some(_))), "{kind:?}");
        }
        // And where it is only told.
        assert!(unpacked(&foreign(&[FIRST, (b"b", kind, 1 << 50, b"")])).is_err());
    }
    let mut frames = foreign(&[FIRST, log]);
    assert!(matches!(unpacked(&frames), Ok(Some(_))));
    frames.extend(ruzstd::encoding::compress_to_vec(
        &zeros[..],
        ruzstd::encoding::CompressionLevel::Fastest,
    ));
    assert!(unpacked(&frames).is_err());
    let many = vec![log; 65];
    let many: Vec<_> = [FIRST].into_iter().chain(many).collect();
    assert!(unpacked(&foreign(&many)).is_err());
}
