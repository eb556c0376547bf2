use memlog_analysis::Held;

use super::*;

fn name(function: &str) -> Name {
    Name {
        function: function.to_owned(),
        location: Some("mesh.c:7".to_owned()),
        module: None,
    }
}

fn answer() -> Taken {
    let mut ranks = Ranks::default();
    for rank in [0, 3, u64::MAX] {
        let process = Process {
            rank,
            node: "n12".to_owned(),
            pid: 7,
            start_unix_ns: u64::MAX,
            log: "logs/3 \"a\"\u{e9}.memlog".to_owned(),
            rss_peak_bytes: (rank > 0).then_some(u64::MAX),
            heap_peak_bytes: Some(rank / 2),
            bytes: 9,
            blocks: (rank != 3).then_some(1),
            end: [End::InOrder, End::None, End::Runs][(rank % 3) as usize],
            lost_events: rank,
            finding: (rank == 3).then(|| "a torn tail".to_owned()),
        };
        let places = [
            ((i64::MIN, "mesh < main".to_owned()), 5),
            ((2, "copy < main".to_owned()), rank),
        ];
        let places = places.map(|(key, bytes)| (key, Held { bytes, blocks: 2 }));
        ranks.add(process, places, |key| vec![name(&key.1), name("main")]);
    }
    ranks.leave_out(
        "child of a rank",
        LeftOut::one("a.memlog".to_owned(), "process 3".to_owned()),
    );
    ranks.notes.insert("a note".to_owned());
    Taken {
        job: "77".to_owned(),
        settings: Settings {
            by: By::Stack,
            at: "50%".to_owned(),
            filter: Some("size > 3".to_owned()),
        },
        ranks,
    }
}

#[test]
fn an_answer_comes_back() {
    let answer = answer();
    assert_eq!(decode(&encode(&answer)).expect("an answer"), answer);
    let empty = Taken {
        ranks: Ranks::default(),
        settings: Settings {
            filter: None,
            ..answer.settings.clone()
        },
        ..answer
    };
    assert_eq!(decode(&encode(&empty)).expect("an answer"), empty);
}

/// Each byte in turn is another, or the last; what is still an answer can be merged and told.
#[test]
fn whatever_it_is_it_is_an_answer_or_a_sentence() {
    let good = encode(&answer());
    let mut answers = 0;
    let mut check = |bytes: &[u8]| match decode(bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(taken) => {
            answers += 1;
            assert!(At::from_str(&taken.settings.at).is_ok() && taken.settings.blocks().is_ok());
            let ranks = taken.ranks.merge(answer().ranks).sorted();
            let spread = ranks.spread(|process| process.rss_peak_bytes);
            assert!(spread.is_none_or(|spread| spread.imbalance() >= 0.0));
            let _ = (ranks.outliers().len(), ranks.missing(), ranks.nodes().len());
            for (_, site) in ranks.sites() {
                let _ = (ranks.least(site), ranks.mean(site));
            }
        }
    };
    for at in 0..good.len() {
        check(&good[..at]);
        for byte in [b'0', b'-', b'"', b'[', b'}', 0, 0xFF] {
            let mut bad = good.clone();
            bad[at] = byte;
            check(&bad);
        }
    }
    assert!(answers > 100);
    let later = [b"memlog-ranks-part-2\n", &good[MAGIC.len()..]].concat();
    let error = decode(&later).expect_err("another version").to_string();
    assert_eq!(error, "it is of another version of memlog");
}
