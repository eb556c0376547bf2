use super::*;

fn asked(ask: &Ask) {
    let mut out = Vec::new();
    ask.put(&mut out);
    let (kind, length) = head(out[..HEAD].try_into().unwrap()).unwrap();
    assert_eq!(length, out.len() - HEAD);
    assert_eq!(Ask::read(kind, &out[HEAD..]).unwrap(), *ask);
    // Half a question is none, and neither is one with more behind it.
    for end in HEAD..out.len() {
        let half = Ask::read(kind, &out[HEAD..end]);
        assert!(
            half.is_err()
                || matches!(
                    ask,
                    Ask::Open { .. } | Ask::Write { .. } | Ask::Commit { .. }
                )
        );
    }
}

#[test]
fn questions_come_back() {
    asked(&Ask::Hello {
        version: VERSION,
        sender: [7; 16],
        host: b"vm",
    });
    asked(&Ask::Open {
        log: 1,
        name: b"vm.1.memlog",
        start: b"MLOG",
    });
    asked(&Ask::Sums {
        log: 1,
        first: 2,
        count: 3,
    });
    asked(&Ask::Write {
        log: 1,
        at: 1 << 40,
        bytes: &[1; 100],
    });
    asked(&Ask::Commit {
        log: 1,
        patches: b"123",
    });
    asked(&Ask::Finish {
        log: 9,
        bytes: 65536,
    });
    asked(&Ask::Leave { log: 9 });
    asked(&Ask::Ping);
}

#[test]
fn answers_come_back() {
    let answers = [
        Answer::Hello { version: 7 },
        Answer::Opened {
            bytes: 5,
            name: b"x",
        },
        Answer::Refused {
            why: Why::Full,
            text: b"no room",
        },
        Answer::Sums(&[3; 32]),
        Answer::Done,
    ];
    for answer in answers {
        let mut out = Vec::new();
        answer.put(&mut out);
        let (kind, _) = head(out[..HEAD].try_into().unwrap()).unwrap();
        assert_eq!(Answer::read(kind, &out[HEAD..]).unwrap(), answer);
    }
}

#[test]
fn lengths_are_not_believed() {
    assert!(head([4, 255, 255, 255, 255]).is_err());
    let mut sums = Vec::new();
    Ask::Sums {
        log: 0,
        first: 0,
        count: u32::MAX,
    }
    .put(&mut sums);
    assert!(Ask::read(3, &sums[HEAD..]).is_err());
    let long = vec![0; MOST_DATA + 13];
    assert!(Ask::read(4, &long).is_err());
}

#[test]
fn pieces_come_back_up_to_the_first_that_is_cut() {
    let mut out = Vec::new();
    Patches::put(&mut out, 5, b"five");
    Patches::put(&mut out, 6, b"");
    let all: Vec<_> = Patches(&out).map(Result::unwrap).collect();
    assert_eq!(all, [(5, &b"five"[..]), (6, &b""[..])]);
    let mut cut = Patches(&out[..out.len() - 1]);
    assert!(cut.next().unwrap().is_ok() && cut.next().unwrap().is_err());
    assert!(cut.next().is_none());
}
