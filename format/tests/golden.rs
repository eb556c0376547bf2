//! The golden log: this code writes it byte for byte, and reads in it what the
//! recipe put there. `MEMLOG_BLESS=1` writes the file anew.

mod recipe;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, checksum};
use memlog_format::counter::{ALL, AREA_END};
use memlog_format::event::Deltas;
use memlog_format::meta::Record;
use memlog_format::table::{CODE_SIZE, Code, FIRST_CODE, FIRST_NODE, NODE_SIZE, Node};
use memlog_format::varint::Reader;

const PATH: &str = "golden/v1/tiny.memlog";

fn golden() -> Vec<u8> {
    let path = recipe::repository(PATH);
    if recipe::is_blessing() {
        std::fs::write(&path, recipe::log()).expect(PATH);
    }
    std::fs::read(&path).expect(PATH)
}

/// The committed bytes of the golden's chunk of this kind, from `from` on.
fn body(log: &[u8], kind: Kind, from: usize) -> (Header, &[u8]) {
    let mut chunks = log.chunks(CHUNK_SIZE).filter_map(|chunk| {
        let header = Header::decode(chunk).expect("a chunk").expect("in use");
        let committed = header.committed as usize;
        (header.kind == kind).then(|| (header, &chunk[from..committed]))
    });
    chunks.next().expect("a chunk of each kind")
}

#[test]
fn is_what_the_recipe_makes() {
    let (golden, made) = (golden(), recipe::log());
    assert_eq!(golden.len(), made.len());
    let differs = golden.iter().zip(&made).position(|(a, b)| a != b);
    assert_eq!(differs, None, "the first offset that differs");
}

#[test]
fn seals_hold() {
    let golden = golden();
    let mut sealed = 0;
    for chunk in golden.chunks(CHUNK_SIZE) {
        let header = Header::decode(chunk).expect("a chunk").expect("in use");
        if header.is_sealed() {
            let committed = &chunk[HEADER_SIZE..header.committed as usize];
            assert_eq!(checksum(committed), header.checksum);
            sealed += 1;
        }
    }
    assert_eq!(sealed, 2);
}

#[test]
fn holds_the_events() {
    let golden = golden();
    let (header, bytes) = body(&golden, Kind::Events, HEADER_SIZE);
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    let mut reader = Reader::new(bytes);
    for expected in recipe::events() {
        assert_eq!(deltas.next(&mut reader), Ok(Some(expected)));
    }
    assert_eq!(deltas.next(&mut reader), Ok(None));
}

#[test]
fn holds_the_meta_records() {
    let golden = golden();
    let (_, bytes) = body(&golden, Kind::Meta, AREA_END);
    let mut reader = Reader::new(bytes);
    for expected in recipe::meta() {
        assert_eq!(Record::next(&mut reader), Ok(Some(expected)));
    }
    assert_eq!(Record::next(&mut reader), Ok(None));
}

#[test]
fn holds_the_counters() {
    let golden = golden();
    for &(counter, name) in ALL {
        let set = recipe::COUNTERS.iter().find(|(other, _)| *other == counter);
        let expected = set.map_or(0, |&(_, value)| value);
        assert_eq!(counter.read(&golden), expected, "{name}");
    }
}

#[test]
fn holds_the_tables() {
    let golden = golden();
    let (_, bytes) = body(&golden, Kind::Nodes, 0);
    let nodes = bytes.chunks(NODE_SIZE).skip(FIRST_NODE as usize);
    let nodes: Vec<_> = nodes.map_while(Node::decode).collect();
    assert_eq!(nodes, recipe::NODES);
    let (_, bytes) = body(&golden, Kind::Codes, 0);
    let codes = bytes.chunks(CODE_SIZE).skip(FIRST_CODE as usize);
    let codes: Vec<_> = codes.map_while(Code::decode).collect();
    assert_eq!(codes, recipe::CODES);
}
