//! What values of settings mean: when to record, and what signals do.

use crate::process::control::Act;
use crate::process::settings::{After, after, seconds, signals};

const NS: u64 = 1_000_000_000;

#[test]
fn seconds_have_fractions() {
    assert_eq!(seconds(b"5"), Some(5 * NS));
    assert_eq!(seconds(b"0.25"), Some(NS / 4));
    assert_eq!(seconds(b"1.0000000019"), Some(NS + 1));
    for bad in ["", ".", "5.", ".5", "-1", "1e3", "5s", "99999999999999"] {
        assert_eq!(seconds(bad.as_bytes()), None, "{bad}");
    }
    let (ns, is_wall) = (1_700_000_000 * NS + NS / 2, true);
    assert_eq!(after(b"@1700000000.5"), Some(After { ns, is_wall }));
    assert_eq!(after(b"@"), None);
}

#[test]
fn signals_have_acts() {
    let list = |text: &[u8]| {
        let mut all = Vec::new();
        signals(text, |number, act| all.push((number, act))).then_some(all)
    };
    let expected = vec![(libc::SIGUSR1, Act::Toggle), (40, Act::Snapshot)];
    assert_eq!(list(b"USR1=toggle,40=snapshot"), Some(expected));
    assert_eq!(list(b"SIGHUP=stop"), Some(vec![(libc::SIGHUP, Act::Stop)]));
    let bad = [
        "",
        "USR1",
        "USR1=",
        "KILL=stop",
        "11=stop",
        "65=stop",
        "34=stop",
        "USR1=x",
    ];
    for bad in bad {
        assert_eq!(list(bad.as_bytes()), None, "{bad}");
    }
}
