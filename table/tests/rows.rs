//! The table against its naive twin: each block in a list, with all that was said of it.

use std::collections::HashMap;

use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::ext::{Rss, RssSource};
use memlog_format::table::StackId;
use memlog_read::{Item, Kind, Place, Taker};
use memlog_table::{Builder, Column, Columns, Flags, NEVER, Rows, StackKey, Table, Unfit};
use proptest::prelude::*;

const KEY: &[u8] = b"a log";

/// A row as the twin has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    died: u64,
    born: u64,
    address: u64,
    size: u64,
    waste: u64,
    stack: u32,
    tid: u32,
    releaser: Option<u32>,
    release_stack: Option<u32>,
    api: Api,
    alignment_log2: u8,
    is_temporary: bool,
    is_moved: bool,
    is_lost_sight_of: bool,
    chain: (u64, u64),
}

#[derive(Default)]
struct Twin {
    event: u64,
    live: HashMap<u64, Row>,
    last: HashMap<u32, u64>,
    chain: HashMap<u32, (u64, u64)>,
    rows: Vec<Row>,
    ticks: Vec<u64>,
}

impl Twin {
    fn alloc(&mut self, place: Place, alloc: &Alloc, counts: bool) {
        if counts {
            self.event += 1;
            let before = self.ticks.last().copied().unwrap_or(0);
            self.ticks.push(before.max(place.tick));
        }
        let is_realloc = matches!(alloc.api, Api::Realloc | Api::Reallocarray);
        let chain = is_realloc
            .then(|| self.chain.remove(&place.stream))
            .flatten();
        let row = Row {
            died: NEVER,
            born: self.event,
            address: alloc.address,
            size: alloc.size,
            waste: alloc.usable - alloc.size,
            stack: alloc.stack.0,
            tid: place.tid,
            releaser: None,
            release_stack: None,
            api: alloc.api,
            alignment_log2: alloc.alignment_log2,
            is_temporary: false,
            is_moved: false,
            is_lost_sight_of: false,
            chain: chain.unwrap_or((self.event, 0)),
        };
        let other = self.live.insert(alloc.address, row);
        if let (Some(mut other), true) = (other, counts) {
            other.died = self.event;
            other.is_lost_sight_of = true;
            other.releaser = Some(place.tid);
            self.rows.push(other);
        }
        if counts {
            self.last.insert(place.stream, alloc.address);
        }
    }

    fn release(&mut self, place: Place, release: &Release) {
        self.event += 1;
        let before = self.ticks.last().copied().unwrap_or(0);
        self.ticks.push(before.max(place.tick));
        let is_temporary = self.last.get(&place.stream) == Some(&release.address);
        if is_temporary {
            self.last.remove(&place.stream);
        }
        if release.announced {
            self.chain.remove(&place.stream);
        }
        let Some(mut row) = self.live.remove(&release.address) else {
            return;
        };
        row.died = self.event;
        row.is_temporary = is_temporary;
        row.is_moved = release.announced;
        row.releaser = Some(place.tid);
        row.release_stack = release.stack.map(|stack| stack.0);
        // What came before the log begins no chain.
        if release.announced && row.chain.0 > 0 {
            self.chain
                .insert(place.stream, (row.chain.0, row.chain.1 + 1));
        }
        self.rows.push(row);
    }

    fn rows(mut self) -> Vec<Row> {
        let mut live: Vec<Row> = self.live.into_values().collect();
        live.sort_by_key(|row| (row.born, row.address));
        self.rows.extend(live);
        self.rows
    }
}

/// What a table has, in its order.
fn rows_of(table: &Table) -> Vec<Row> {
    let mut all = Vec::new();
    let mut rows = Rows::default();
    for chunk in 0..table.chunks().len() {
        table
            .read(chunk, Columns::ALL, &mut rows)
            .expect("a whole chunk");
        for row in 0..rows.len() {
            let get = |column| rows.get(column, row);
            let flags = Flags(get(Column::Flags));
            let went = get(Column::Died) != NEVER;
            let tid = |column| table.threads()[get(column) as usize].tid;
            let stack = |place: u64| table.stacks()[place as usize].id.0;
            let release_stack = get(Column::ReleaseStack).checked_sub(1);
            all.push(Row {
                died: get(Column::Died),
                born: get(Column::Born),
                address: get(Column::Address),
                size: get(Column::Size),
                waste: get(Column::Waste),
                stack: stack(get(Column::Stack)),
                tid: tid(Column::Thread),
                releaser: went.then(|| tid(Column::Releaser)),
                release_stack: release_stack.map(stack),
                api: flags.api(),
                alignment_log2: flags.alignment().checked_ilog2().unwrap_or(0) as u8,
                is_temporary: flags.is_temporary(),
                is_moved: flags.is_moved(),
                is_lost_sight_of: flags.is_lost_sight_of(),
                chain: (
                    get(Column::Born) - get(Column::ChainAge),
                    get(Column::ChainPlace),
                ),
            });
        }
    }
    all
}

/// One step of a made-up program: who, what, where.
type Act = (u8, u8, u16, u32, u8);

fn play(acts: &[Act], inherited: usize) -> (Vec<u8>, Twin) {
    let mut twin = Twin::default();
    let mut builder = Builder::new(Vec::new(), KEY);
    builder.log(0, 1 << 20);
    let mut tick = 0;
    for (number, &(who, what, at, size, more)) in acts.iter().enumerate() {
        if number == inherited {
            builder.start(0);
        }
        let counts = number >= inherited;
        tick += u64::from(more % 3);
        let stream = u32::from(who % 3);
        let place = Place {
            stream,
            tid: 100 + stream,
            tick: if more % 11 == 0 { tick / 2 } else { tick },
        };
        let address = 0x7000_0000 + 16 * u64::from(at % 300);
        let stack = StackId(8 + u32::from(more));
        let mut alloc = Alloc {
            api: [Api::Malloc, Api::Calloc, Api::Realloc][usize::from(what % 3)],
            address,
            size: u64::from(size) << (more % 9),
            usable: (u64::from(size) << (more % 9)) + u64::from(what),
            alignment_log2: what % 13,
            stack,
            order: None,
        };
        let mut release = Release {
            api: Api::Free,
            address,
            announced: false,
            stack: (what % 5 == 0).then_some(stack),
            order: None,
        };
        if !counts {
            twin.alloc(place, &alloc, false);
            builder.inherit_alloc(place, &alloc);
            continue;
        }
        match what % 8 {
            0..3 => {
                twin.alloc(place, &alloc, true);
                builder.alloc(place, &alloc);
            }
            3 => {
                // A realloc, which moves the block or does not.
                (release.api, release.announced) = (Api::Realloc, true);
                alloc.api = Api::Realloc;
                alloc.address += 16 * u64::from(more % 2);
                twin.release(place, &release);
                let Place { stream, tid, tick } = place;
                let kind = Kind::Release(release);
                builder.item(&Item {
                    stream,
                    tid,
                    tick,
                    kind,
                });
                twin.alloc(place, &alloc, true);
                builder.alloc(place, &alloc);
            }
            _ => {
                twin.release(place, &release);
                builder.release(place, &release);
            }
        }
    }
    if inherited >= acts.len() {
        builder.start(0);
    }
    let file = builder.finish(None, b"figures").expect("memory takes all");
    (file, twin)
}

fn check(acts: &[Act], inherited: usize) {
    let (file, twin) = play(acts, inherited);
    let table = Table::open(&file, KEY, u64::MAX).expect("what was made");
    assert_eq!(table.events(), twin.event);
    assert_eq!(table.figures(), b"figures");
    let ticks: Vec<u64> = (1..=twin.event)
        .map(|event| table.steps().tick_of(event))
        .collect();
    assert_eq!(ticks, twin.ticks);
    let expected = rows_of(&table);
    // Each stack held what its own blocks say.
    for (key, held) in table.stacks().iter().zip(table.held()).step_by(3) {
        let own = |row: &&Row| row.stack == key.id.0;
        let mut changes: Vec<(u64, bool, u64)> = Vec::new();
        for row in expected.iter().filter(own) {
            changes.push((row.born, true, row.size));
            changes.push((row.died, false, row.size));
        }
        // What is displaced goes before what displaces it comes.
        changes.sort_unstable();
        let (mut live, mut most, mut at) = (0, 0, 0);
        for (event, came, size) in changes {
            live = if came { live + size } else { live - size };
            if live > most && (event > 0 || came) {
                (most, at) = (live, event);
            }
        }
        assert_eq!((held.most, held.event), (most, at), "{key:?}");
    }
    let rows = twin.rows();
    assert_eq!(table.rows(), rows.len() as u64);
    assert_eq!(expected, rows);
}

fn acts(most: usize) -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(any::<Act>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_table_has_every_block(acts in acts(2000), inherited in 0usize..40) {
        check(&acts, inherited);
    }
}

/// Several chunks of rows, and chunks of blocks that never go.
#[test]
fn many_rows_come_back_too() {
    let mut seed = 5u64;
    let acts: Vec<Act> = (0..90_000)
        .map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bytes = (seed >> 8).to_le_bytes();
            let at = u16::from_le_bytes([bytes[2], bytes[3]]);
            (bytes[0], bytes[1], at, u32::from(bytes[4]) + 1, bytes[5])
        })
        .collect();
    check(&acts, 3);
    let mut builder = Builder::new(Vec::new(), KEY);
    builder.log(0, 1 << 20);
    builder.start(0);
    for number in 0..20_000u64 {
        let alloc = Alloc {
            api: Api::Malloc,
            address: 64 * (number + 1),
            size: number,
            usable: number,
            alignment_log2: 0,
            stack: StackId(9),
            order: None,
        };
        let place = Place {
            stream: 0,
            tid: 1,
            tick: number / 100,
        };
        builder.alloc(place, &alloc);
    }
    let file = builder.finish(Some(777), b"").expect("memory takes all");
    let table = Table::open(&file, KEY, u64::MAX).expect("what was made");
    assert_eq!((table.chunks().len(), table.end_tick()), (3, 777));
    assert!(
        table
            .chunks()
            .iter()
            .all(|chunk| chunk.is_live && chunk.may_live_at(20_000))
    );
    let rows = rows_of(&table);
    assert!(
        (0..)
            .zip(&rows)
            .all(|(number, row)| row.size == number && row.died == NEVER)
    );
    assert!(file.len() < 20_000 * 8, "{} bytes", file.len());
}

#[test]
fn what_is_not_the_table_is_refused() {
    let acts: Vec<Act> = (0..5000u32)
        .map(|n| (n as u8, (n * 7) as u8, n as u16, n, (n * 3) as u8))
        .collect();
    let (file, _) = play(&acts, 0);
    let refused = |bytes: &[u8], key: &[u8]| Table::open(bytes, key, u64::MAX).err();
    assert_eq!(refused(&file, KEY), None);
    assert_eq!(refused(&file, b"other"), Some(Unfit::Stale));
    assert_eq!(refused(b"", KEY), Some(Unfit::Foreign));
    assert_eq!(refused(b"MLTABLE0", KEY), Some(Unfit::Foreign));
    for length in 0..file.len() {
        let found = refused(&file[..length], KEY);
        let expected = if length < 8 {
            Unfit::Foreign
        } else {
            Unfit::Torn
        };
        assert_eq!(found, Some(expected), "{length}");
    }
    // A flipped bit is found when the table is opened, or when its chunk is read.
    for at in (14..file.len()).step_by(31) {
        let mut bytes = file.clone();
        bytes[at] ^= 1 << (at % 8);
        let is_found = match Table::open(&bytes, KEY, u64::MAX) {
            Err(_) => true,
            Ok(table) => {
                let mut rows = Rows::default();
                let mut chunks = 0..table.chunks().len();
                chunks.any(|chunk| table.read(chunk, Columns::ALL, &mut rows).is_err())
            }
        };
        assert!(is_found, "byte {at}");
    }
}

/// Only what is asked for is read, and it is the same.
#[test]
fn each_column_can_be_read_alone() {
    let acts: Vec<Act> = (0..30_000u32)
        .map(|n| (n as u8, (n * 5) as u8, (n * 31) as u16, n, (n * 3) as u8))
        .collect();
    let (file, _) = play(&acts, 10);
    let table = Table::open(&file, KEY, u64::MAX).expect("what was made");
    let (mut whole, mut part) = (Rows::default(), Rows::default());
    let columns = [
        Column::Born,
        Column::Address,
        Column::Releaser,
        Column::Flags,
        Column::Died,
    ];
    for chunk in 0..table.chunks().len() {
        table.read(chunk, Columns::ALL, &mut whole).expect("whole");
        // What was looked at before, and what was not.
        let unseen = Table::open(&file, KEY, u64::MAX).expect("what was made");
        for (table, column) in columns
            .iter()
            .flat_map(|&column| [(&table, column), (&unseen, column)])
        {
            table
                .read(chunk, Columns::of(&[column]), &mut part)
                .expect("whole");
            assert_eq!(part.column(column), whole.column(column), "{column:?}");
        }
    }
    let key = StackKey {
        log: 0,
        id: StackId(8),
    };
    assert!(table.stacks().contains(&key));
}

/// Takes so many bytes, and no more.
struct Full(usize);

impl std::io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(std::io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Wherever it becomes full, whoever writes then: the end says so.
#[test]
fn what_could_not_be_written_is_told() {
    let make = |room: usize| {
        let mut builder = Builder::new(Full(room), KEY);
        builder.log(0, 1 << 20);
        builder.start(0);
        for number in 0..60_000u64 {
            let place = Place {
                stream: 0,
                tid: 1,
                tick: number,
            };
            let alloc = Alloc {
                api: Api::Malloc,
                address: 64,
                size: number,
                usable: number,
                alignment_log2: 0,
                stack: StackId(9),
                order: None,
            };
            let release = Release {
                api: Api::Free,
                address: 64,
                announced: false,
                stack: None,
                order: None,
            };
            builder.alloc(place, &alloc);
            builder.release(place, &release);
        }
        builder.finish(None, b"")
    };
    let room = 10_000_000;
    let all = room - make(room).expect("room for all").0;
    assert!(all > 50_000, "several chunks: {all}");
    assert_eq!(make(all).expect("just enough").0, 0);
    for less in [all - 1, all / 2, all / 4, 20, 0] {
        let error = make(less).err().map(|error| error.kind());
        assert_eq!(error, Some(std::io::ErrorKind::StorageFull), "{less}");
    }
}

/// Other threads go on while resident memory is read or a moment is marked: what they do
/// stands behind it, and has its own time.
#[test]
fn moments_move_no_times_of_events() {
    let at = |tick: u64| Place {
        stream: 0,
        tid: 1,
        tick,
    };
    let item = |tick: u64, kind| Item {
        stream: 1,
        tid: 2,
        tick,
        kind,
    };
    let alloc = |address: u64| Alloc {
        api: Api::Malloc,
        address,
        size: 7,
        usable: 24,
        alignment_log2: 0,
        stack: StackId(9),
        order: None,
    };
    let reading = Rss {
        source: RssSource::MaxRss,
        peak_kb: 1000,
        now_kb: 0,
        own_kb: 0,
        stamp: 1,
    };
    let mut builder = Builder::new(Vec::new(), KEY);
    builder.log(0, 1 << 20);
    builder.start(0);
    builder.alloc(at(10), &alloc(64));
    builder.item(&item(100, Kind::Rss(reading)));
    builder.alloc(at(50), &alloc(128));
    builder.item(&item(200, Kind::Mark(b"here")));
    builder.alloc(at(150), &alloc(192));
    let file = builder.finish(None, b"").expect("a vector takes all");
    let table = Table::open(&file, KEY, u64::MAX).expect("what was made");
    let ticks: Vec<u64> = (1..=3).map(|event| table.steps().tick_of(event)).collect();
    assert_eq!(ticks, [10, 50, 150]);
    let (reading, mark) = (&table.readings()[0], &table.marks()[0]);
    assert_eq!((reading.event, reading.tick), (1, 100));
    assert_eq!((mark.event, mark.tick, table.end_tick()), (2, 200, 200));
}
