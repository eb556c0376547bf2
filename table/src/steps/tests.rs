use super::*;
use memlog_format::chunk::checksum;
use proptest::prelude::*;

/// Pieces as a writer makes them, behind some bytes, and where they lie.
fn written(steps: &[Step]) -> (Vec<u8>, Vec<StepsChunk>) {
    let mut gatherer = Gatherer::default();
    let full = steps.iter().filter_map(|s| gatherer.at(s.event, s.tick));
    let mut chunks: Vec<_> = full.collect();
    chunks.extend(Some(gatherer.rest()).filter(|rest| !rest.is_empty()));
    let (mut file, mut list) = (vec![0xA5; 5], Vec::new());
    for steps in chunks {
        let offset = file.len();
        put(&steps, &mut file);
        list.push(StepsChunk {
            piece: Piece {
                offset: offset as u64,
                length: (file.len() - offset) as u64,
                checksum: checksum(&file[offset..]),
            },
            steps: steps.len() as u64,
        });
        file.push(0xA5);
    }
    (file, list)
}

fn open<'b>(file: &'b [u8], list: &[StepsChunk], few: usize) -> Option<Steps<'b>> {
    let mut tail = Vec::new();
    put_list(list, &mut tail);
    let mut bytes = Bytes(&tail);
    let steps = Steps::read_form(&mut bytes, file, few);
    assert!(steps.is_none() || bytes.0.is_empty());
    steps
}

/// Both forms say what the plain list says.
fn check(naive: &[Step], events: &[u64], ticks: &[u64]) {
    let (file, list) = written(naive);
    for few in [0, usize::MAX] {
        let steps = open(&file, &list, few).expect("what was written");
        assert_eq!(
            matches!(steps.0, Form::Plain(_)),
            few > 0 || naive.is_empty()
        );
        assert_eq!(
            (steps.len(), steps.is_empty()),
            (naive.len(), naive.is_empty())
        );
        assert!(steps.iter().eq(naive.iter().copied()));
        let near = naive
            .iter()
            .flat_map(|step| [step.event - 1, step.event, step.event + 1]);
        for event in near.chain(events.iter().copied()) {
            let count = naive.partition_point(|step| step.event <= event);
            assert_eq!(steps.step_of(event), count.saturating_sub(1), "{event}");
            let tick = count.checked_sub(1).map_or(0, |at| naive[at].tick);
            assert_eq!(steps.tick_of(event), tick, "{event}");
        }
        let near = naive.iter().flat_map(|step| {
            [
                step.tick.saturating_sub(1),
                step.tick,
                step.tick.saturating_add(1),
            ]
        });
        for tick in near.chain(ticks.iter().copied()) {
            let after = naive.partition_point(|step| step.tick <= tick);
            let event = naive.get(after).map_or(u64::MAX - 1, |step| step.event - 1);
            assert_eq!(steps.event_at(tick), event, "{tick}");
        }
        let apart = naive.windows(2).map(|pair| pair[1].tick - pair[0].tick);
        assert_eq!(steps.grain(), apart.min().unwrap_or(1));
        for width in [0, 1, 10, 5000, u64::MAX] {
            let mut thin = naive.to_vec();
            thin.dedup_by_key(|step| step.tick / width.max(1));
            assert!(steps.thinned(width).iter().eq(thin), "{width}");
        }
    }
}

/// Steps that are so far apart, in events and in ticks, the first at these.
fn steps(first: (u64, u64), apart: impl IntoIterator<Item = (u64, u64)>) -> Vec<Step> {
    let (mut event, mut tick) = first;
    let mut steps = vec![Step { event, tick }];
    for (events, ticks) in apart {
        event += events.max(1);
        tick += ticks.max(1);
        steps.push(Step { event, tick });
    }
    steps
}

const FAR: [u64; 5] = [0, 1, 1 << 40, u64::MAX - 1, u64::MAX];

#[test]
fn an_event_has_the_tick_of_its_step() {
    let mut gatherer = Gatherer::default();
    let (mut naive, mut tick) = (Vec::new(), 3);
    let mut all = Vec::new();
    for event in 1..50_000u64 {
        tick += u64::from(event % 7 == 0) * (event % 5);
        // One stream is behind another.
        let told = tick - u64::from(event % 3 == 0).min(tick);
        all.extend(gatherer.at(event, told).into_iter().flatten());
        naive.push(naive.last().copied().unwrap_or(0).max(told));
    }
    all.append(&mut gatherer.rest());
    let (file, list) = written(&all);
    for few in [0, usize::MAX] {
        let steps = open(&file, &list, few).expect("what was written");
        for (event, &tick) in (1..).zip(&naive) {
            assert_eq!(steps.tick_of(event), tick);
        }
        assert_eq!(steps.tick_of(0), 0);
    }
}

/// Of groups, of chunks, and of the index.
#[test]
fn steps_are_the_same_at_all_borders() {
    check(&[], &FAR, &FAR);
    for count in [1, 2, 1023, 1024, 1025, 8191, 8192, 8193, 9216, 16384, 16385] {
        for apart in [(1, 1), (1, 3), (3, 1), (1000, 7), (1 << 40, 1 << 40)] {
            check(&steps((7, 100), vec![apart; count - 1]), &FAR, &FAR);
        }
    }
}

/// The shortest time may be that between two groups.
#[test]
fn the_grain_is_the_least_of_all() {
    for place in [1, 1023, 1024, 1025, 2047, 2048] {
        let apart = (1..3000).map(|at| (1, if at == place { 2 } else { 5 }));
        check(&steps((1, 0), apart), &[], &[]);
    }
}

/// Whatever was written: the widest numbers too.
#[test]
fn a_pause_may_be_as_long_as_it_likes() {
    for place in [1, 500, 1023, 1024, 1500] {
        for wide in [55, 56, 57, 58, 63] {
            let apart = |at| if at == place { 1 << wide } else { at % 3 + 1 };
            let apart: Vec<_> = (1..1501).map(|at| (at % 2 + 1, apart(at))).collect();
            check(&steps((1, 0), apart.iter().copied()), &FAR, &FAR);
            check(
                &steps((1, 0), apart.iter().map(|&(e, t)| (t, e))),
                &FAR,
                &FAR,
            );
        }
    }
}

/// Of a program that allocates all the time, and now and then is asleep.
#[test]
fn a_step_takes_few_bits() {
    let mut seed = 1u64;
    let apart = (1..100_000u64).map(|at| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (
            1,
            6 + (seed >> 60) + u64::from(at % 10_000 == 0) * 1_000_000,
        )
    });
    let (file, _) = written(&steps((1, 0), apart));
    assert!(file.len() < 100_000 * 7 / 4, "{} bytes", file.len());
}

/// Whichever bit is another one: there are no steps, and the table is made anew.
#[test]
fn what_is_damaged_is_refused() {
    let all = steps((1, 0), (0..10_000).map(|at| (at % 3, at % 50)));
    let (file, list) = written(&all);
    assert!(open(&file, &list, 0).is_some());
    let inside = |at: usize| {
        let lies = |chunk: &StepsChunk| {
            (chunk.piece.offset..chunk.piece.offset + chunk.piece.length).contains(&(at as u64))
        };
        list.iter().any(lies)
    };
    for at in (0..file.len()).step_by(17) {
        let mut bytes = file.clone();
        bytes[at] ^= 1 << (at % 8);
        assert_eq!(open(&bytes, &list, 0).is_none(), inside(at), "byte {at}");
        assert!(open(&file[..at], &list, 0).is_none(), "{at} bytes");
    }
    let refused = |change: fn(&mut Vec<StepsChunk>)| {
        let mut list = list.clone();
        change(&mut list);
        assert!(open(&file, &list, 0).is_none());
    };
    refused(|list| list.swap(0, 1));
    refused(|list| list[1] = list[0]);
    refused(|list| list[0].steps -= 1);
    refused(|list| list[0].steps = 0);
    refused(|list| list[0].steps += 1);
    refused(|list| list[1].steps += 1024);
    refused(|list| list[0].steps = u64::MAX);
    refused(|list| list[0].piece.offset = u64::MAX);
    refused(|list| list[1].piece.length = u64::MAX);
}

/// Whoever says that it is whole: time does not go back.
#[test]
fn groups_that_fall_are_refused() {
    let all = steps((5000, 5000), vec![(1, 1); 2047]);
    let opens = |second: fn(&mut Step)| {
        let mut all = all.clone();
        all[1024..].iter_mut().for_each(second);
        let mut file = Vec::new();
        put(&all, &mut file);
        let piece = Piece {
            offset: 0,
            length: file.len() as u64,
            checksum: checksum(&file),
        };
        let chunk = StepsChunk { piece, steps: 2048 };
        open(&file, &[chunk], 0).is_some()
    };
    assert!(opens(|_| {}));
    assert!(!opens(|step| step.event -= 1025));
    assert!(!opens(|step| step.tick -= 1025));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn packed_steps_are_those_of_a_plain_list(
        first in (1u64..5000, 0u64..1 << 40),
        parts in prop::collection::vec((0u32..30, 0u32..40, 1usize..1500, any::<u64>()), 0..6),
        events in prop::collection::vec(any::<u64>(), 20),
        ticks in prop::collection::vec(any::<u64>(), 20),
    ) {
        let apart = parts.iter().flat_map(|&(events, ticks, count, seed)| {
            let random = move |at: u64| (at ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (0..count as u64).map(move |at| {
                let random = random(at);
                (random >> 20 & ((1 << events) - 1), random >> 24 & ((1 << ticks) - 1))
            })
        });
        let near = |numbers: &[u64]| numbers.iter().map(|&n| n >> (n % 64)).collect::<Vec<_>>();
        check(&steps(first, apart), &near(&events), &near(&ticks));
    }

    /// Someone summed what he wrote.
    #[test]
    fn no_bytes_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        counts in prop::collection::vec(0u64..9000, 0..3),
        asked in prop::collection::vec(any::<u64>(), 5),
    ) {
        let (mut file, mut list) = written(&steps((1, 0), (0..9000).map(|at| (at % 3, at % 50))));
        for (place, byte) in damage {
            let first = list[0].piece.length as usize;
            file[5 + place.index(first)] = byte;
        }
        for chunk in &mut list {
            let (offset, length) = (chunk.piece.offset as usize, chunk.piece.length as usize);
            chunk.piece.checksum = checksum(&file[offset..offset + length]);
        }
        let whole = Piece { offset: 0, length: bytes.len() as u64, checksum: checksum(&bytes) };
        let other = counts.iter().map(|&steps| StepsChunk { piece: whole, steps });
        let other: Vec<_> = other.take(1).collect();
        for (file, list) in [(&file, &list), (&bytes, &other)] {
            let Some(found) = open(file, list, 0) else { continue };
            let all: Vec<_> = found.iter().collect();
            prop_assert!(all.windows(2).all(|p| p[0].event <= p[1].event && p[0].tick <= p[1].tick));
            let _ = (found.grain(), found.thinned(10));
            for &asked in asked.iter().chain(&FAR) {
                let count = all.partition_point(|step| step.event <= asked);
                let _ = found.event_at(asked);
                prop_assert!(count == 0 || found.tick_of(asked) <= all[all.len() - 1].tick);
            }
        }
        let _ = Steps::read(&mut Bytes(&bytes), &file);
    }
}
