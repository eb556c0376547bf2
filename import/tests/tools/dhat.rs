//! DHAT's profiles.

use memlog_import::Lack;

use super::{golden, seen, sentence, total, within};

/// What valgrind printed at the end of the run that left the file.
#[test]
fn the_sums_are_those_that_dhat_printed() {
    let (made, seen) = seen(&golden("dhat.json"));
    assert_eq!(total(&seen.came), (1154, 1_023_131));
    assert_eq!(total(&seen.peak), (101, 156_811));
    assert_eq!(total(&seen.live), (101, 156_811));
    assert_eq!(within(&seen.came, "churn"), (1000, 700_000));
    assert_eq!(within(&seen.live, "churn"), (0, 0));
    assert_eq!(within(&seen.live, "copy_of"), (60, 1200));
    // The frames of valgrind's own malloc are none of the program's.
    assert_eq!(within(&seen.came, "malloc"), (0, 0));
    assert!(made.lacks.contains(&Lack::Lifetimes) && made.lacks.contains(&Lack::Times));
}

fn profile(point: &str) -> String {
    format!(
        "{{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,\
         \"bkacc\":false,\"tu\":\"us\",\"Mtu\":\"s\",\"tuth\":5,\"cmd\":\"./v\",\"pid\":7,\
         \"te\":20,\"tg\":10,\"pps\":[{point}],\
         \"ftbl\":[\"[root]\",\"0x1: malloc (in /x/vgpreload_dhat.so)\",\"0x2: f (a.c:1)\"]}}"
    )
}

fn point([tb, tbk, gb, gbk, eb, ebk]: [u64; 6]) -> String {
    format!(
        "{{\"tb\":{tb},\"tbk\":{tbk},\"gb\":{gb},\"gbk\":{gbk},\"eb\":{eb},\"ebk\":{ebk},\
         \"fs\":[1,2]}}"
    )
}

/// Whatever a program did, what is made of its sums has the same sums.
#[test]
fn all_sums_of_real_blocks_come_back() {
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    for _ in 0..300 {
        let mut sums = [0; 6];
        for _ in 0..next(6) {
            let size = [0, 1, 5, 5, 4000][next(5) as usize];
            let (at_peak, at_end) = (next(2), next(2));
            let parts = [1, at_peak, at_end];
            for (part, sum) in parts.iter().zip(sums.chunks_mut(2)) {
                sum[0] += part * size;
                sum[1] += part;
            }
        }
        let [tb, tbk, gb, gbk, eb, ebk] = sums;
        let (_, seen) = seen(profile(&point(sums)).as_bytes());
        assert_eq!(total(&seen.came), (tbk, tb), "{sums:?}");
        assert_eq!(total(&seen.live), (ebk, eb), "{sums:?}");
        // A peak of one of several points need not be where this one is largest.
        assert_eq!(seen.curve.get(&10).copied().unwrap_or(0), gb, "{sums:?}");
        assert!(
            gbk == 0 || gb == 0 || seen.peak.contains_key("f"),
            "{sums:?}"
        );
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    for sums in [
        [10, 1, 20, 1, 0, 0],
        [10, 1, 10, 2, 0, 0],
        [10, 0, 10, 0, 0, 0],
        [10, 2, 4, 1, 5, 1],
        [u64::MAX; 6].map(|most| most - 1),
    ] {
        let said = sentence(profile(&point(sums)).as_bytes());
        let fits = sums[0] == u64::MAX - 1;
        let expected = match fits {
            // So many blocks are more than a log of sums may have.
            true => {
                "its sums stand for 18446744073709551614 blocks or more, and a log of sums \
                     may have 100 million"
            }
            false => "line 1: expected sums that do not contradict each other, found 'pps[0]'",
        };
        assert_eq!(said, expected, "{sums:?}");
    }
    let frame = sentence(profile(&point([1, 1, 1, 1, 0, 0]).replace("[1,2]", "[3]")).as_bytes());
    assert_eq!(
        frame,
        "line 1: expected a number below 3 in pps[0], found '3'"
    );
    let change = |from: &str, to: &str| sentence(profile("").replace(from, to).as_bytes());
    let mode = change("\"heap\"", "\"copy\"");
    assert_eq!(
        mode,
        "line 1: expected a profile of the mode heap, found 'copy'"
    );
    let newer = change("Version\":2", "Version\":3");
    assert_eq!(
        newer,
        "its form is version 3 of DHAT's, and memlog knows them up to 2"
    );
    let older = change("Version\":2", "Version\":1");
    assert_eq!(
        older,
        "line 1: expected version 2 of DHAT's form, found '1'"
    );
    for key in ["x", "pps"] {
        let deep = change("\"pps\":[", &format!("\"{key}\":{}", "[".repeat(100_000)));
        assert!(
            deep.starts_with("line 1: expected a profile as DHAT writes it"),
            "{deep}"
        );
    }
}
