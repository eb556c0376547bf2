//! Traces that no log of the other tests has.

use super::*;
use crate::flame::Node;

const PROCESS: Process = Process {
    name: "prog\u{1b}",
    pid: u32::MAX,
    start_unix_ns: 7,
    end_ns: u64::MAX,
};

fn read(flame: &Flame, dumps: &[Dump], counters: &[Counter]) -> Vec<Packet> {
    let bytes = perfetto(flame, PROCESS, dumps, counters);
    Trace::decode(&bytes[..]).expect("a trace").packet
}

#[test]
fn nothing_has_a_trace() {
    let packets = read(&Flame::default(), &[], &[]);
    assert_eq!(packets.len(), 2);
    let process = packets[1]
        .track_descriptor
        .clone()
        .and_then(|track| track.process);
    assert_eq!(process.expect("a process").process_name, "prog\\u{1b}");
}

/// Names are clean, equal stacks have one number, and what is told once is not told again.
#[test]
fn names_of_an_enemy_are_told_once() {
    let name = |function: &str, module: Option<&str>| Name {
        function: function.to_owned(),
        location: Some("a\nb.c:x:7".to_owned()),
        module: module.map(str::to_owned),
    };
    let node = |label, caller| Node {
        label: Label::Named(label),
        caller,
    };
    let flame = Flame {
        names: vec![name("a\r\u{202e}b", None), name("", Some("/lib/\u{7}x"))],
        // A label that no name has, and one that calls itself.
        nodes: vec![
            node(0, None),
            node(1, Some(0)),
            node(9, Some(1)),
            node(0, Some(0)),
        ],
        ..Flame::default()
    };
    let held = Held {
        bytes: u64::MAX,
        blocks: 1,
    };
    let ends = [None, Some(1), Some(2), Some(3), Some(77)];
    let dump = |ns| Dump {
        ns,
        sums: ends.map(|end| (end, held, Held::default())).to_vec(),
    };
    let counter = Counter {
        name: "heap",
        about: "",
        points: vec![(u64::MAX, u64::MAX)],
    };
    let packets = read(&flame, &[dump(0), dump(u64::MAX)], &[counter]);
    let profiles: Vec<_> = packets
        .iter()
        .filter_map(|packet| packet.profile_packet.as_ref())
        .collect();
    let [first, second] = profiles[..] else {
        panic!("{packets:?}");
    };
    assert!(first.continued && !second.continued);
    assert_eq!((first.index, second.index), (0, 1));
    assert_eq!(first.callstacks.len(), ends.len());
    assert!(
        first
            .callstacks
            .iter()
            .all(|stack| !stack.frame_ids.is_empty())
    );
    assert!(second.strings.is_empty() && second.callstacks.is_empty());
    assert_eq!(
        second.process_dumps[0].samples,
        first.process_dumps[0].samples
    );
    let texts: Vec<&str> = first.strings.iter().map(|text| &text.str[..]).collect();
    assert!(texts.contains(&"a\\r\\u{202e}b"), "{texts:?}");
    assert!(texts.contains(&"/lib/\\u{7}x"), "{texts:?}");
    let symbols = packets
        .iter()
        .filter_map(|packet| packet.module_symbols.as_ref());
    let paths: Vec<&str> = symbols.clone().map(|symbols| &symbols.path[..]).collect();
    assert_eq!(paths, ["", "/lib/\\u{7}x"]);
    let lines = symbols.flat_map(|symbols| &symbols.address_symbols);
    let lines = lines.flat_map(|symbols| &symbols.lines);
    let places: Vec<_> = lines
        .map(|line| (&line.source_file_name[..], line.line_number))
        .collect();
    assert_eq!(places, [("a\\nb.c:x", 7); 2]);
}
