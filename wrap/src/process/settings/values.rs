//! What values of settings mean.

use crate::platform::text::decimal;
use crate::process::census::Detail;
use crate::process::control::Act;

/// A size: `100`, `64k`, `1.5`-free, `2G`, `2GiB`, `2GB` (all binary).
pub fn size(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let mut unit = unit.iter().map(u8::to_ascii_lowercase);
    let shift = match unit.next() {
        None | Some(b'b') => 0,
        Some(b'k') => 10,
        Some(b'm') => 20,
        Some(b'g') => 30,
        Some(b't') => 40,
        Some(_) => return None,
    };
    let rest_is_fine = match unit.next() {
        None => true,
        Some(b'b') => shift > 0 && unit.next().is_none(),
        Some(b'i') => shift > 0 && unit.next() == Some(b'b') && unit.next().is_none(),
        Some(_) => false,
    };
    let number = decimal(number)?;
    rest_is_fine.then(|| number.checked_mul(1 << shift))?
}

/// What is to be left of a limit, and whether the program ends otherwise:
/// `5`, `5%`, `5,stop`. 0 watches nothing.
pub fn guard(text: &[u8]) -> Option<(u8, bool)> {
    let (text, may_end) = match text.strip_suffix(b",stop") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let percent = decimal(text.strip_suffix(b"%").unwrap_or(text))?;
    (percent < 100).then_some((percent as u8, may_end && percent > 0))
}

/// Events that a flight recorder keeps if it is not told how much.
const FLIGHT_BYTES: u64 = 64 << 20;

/// A size, or a switch for the usual one.
pub(super) fn flight_size(text: &[u8]) -> Option<u64> {
    match switch(text) {
        Some(on) => Some(if on { FLIGHT_BYTES } else { 0 }),
        None => size(text),
    }
}

/// How much may be spent on what is resident in which mapping.
pub(super) fn detail(text: &[u8]) -> Option<Detail> {
    match text {
        b"off" => Some(Detail::Never),
        b"auto" => Some(Detail::Cheap),
        b"always" => Some(Detail::Always),
        _ => None,
    }
}

/// When recording begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Nanoseconds since 1970 if it is a time of day, else since the image began.
    pub ns: u64,
    /// Which of the two.
    pub is_wall: bool,
}

/// Seconds from now, or `@` and seconds since 1970.
pub fn after(text: &[u8]) -> Option<After> {
    let (text, is_wall) = match text.strip_prefix(b"@") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let ns = seconds(text)?;
    Some(After { ns, is_wall })
}

/// Nanoseconds of `5`, `0.25`: of a fraction nine digits count.
pub fn seconds(text: &[u8]) -> Option<u64> {
    const NS: u64 = 1_000_000_000;
    let point = text.iter().position(|&byte| byte == b'.');
    let (whole, part) = text.split_at_checked(point.unwrap_or(text.len()))?;
    let mut ns = decimal(whole)?.checked_mul(NS)?;
    let mut unit = NS;
    if let [b'.', digits @ ..] = part {
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        for &digit in is_number.then_some(digits)? {
            unit /= 10;
            ns = ns.checked_add(u64::from(digit - b'0') * unit)?;
        }
    }
    Some(ns)
}

/// The signals of `USR1=toggle,40=snapshot` with what they do; false if that is no such
/// list.
pub fn signals(text: &[u8], mut take: impl FnMut(i32, Act)) -> bool {
    text.split(|&byte| byte == b',').all(|one| {
        let at = one.iter().position(|&byte| byte == b'=');
        let Some((name, act)) = at.and_then(|at| one.split_at_checked(at)) else {
            return false;
        };
        let act = match act {
            b"=start" => Act::Start,
            b"=stop" => Act::Stop,
            b"=toggle" => Act::Toggle,
            b"=snapshot" => Act::Snapshot,
            _ => return false,
        };
        match signal(name) {
            Some(number) => {
                take(number, act);
                true
            }
            None => false,
        }
    })
}

/// The number of a signal that a program may leave to us: no fault's, and none that ends
/// or stops it without asking.
fn signal(name: &[u8]) -> Option<i32> {
    const KNOWN: [(&[u8], i32); 9] = [
        (b"USR1", libc::SIGUSR1),
        (b"USR2", libc::SIGUSR2),
        (b"HUP", libc::SIGHUP),
        (b"URG", libc::SIGURG),
        (b"WINCH", libc::SIGWINCH),
        (b"IO", libc::SIGIO),
        (b"PROF", libc::SIGPROF),
        (b"VTALRM", libc::SIGVTALRM),
        (b"QUIT", libc::SIGQUIT),
    ];
    /// Real-time signals, which the C libraries keep the first few of.
    const REAL_TIME: core::ops::RangeInclusive<u64> = 35..=64;
    let name = name.strip_prefix(b"SIG").unwrap_or(name);
    let known = KNOWN.iter().find(|(known, _)| *known == name);
    let number = || decimal(name).filter(|number| REAL_TIME.contains(number));
    known
        .map(|&(_, number)| number)
        .or_else(|| number().map(|number| number as i32))
}

/// How long blocks live at most that are left out, if nobody says how long.
const CULLED_NS: u64 = 10_000_000;

/// A time with its unit, such as `10ms`, `1.5s`, `500us`, `2m`, in nanoseconds; or a
/// switch for the usual one.
pub fn culled(text: &[u8]) -> Option<u64> {
    if let Some(on) = switch(text) {
        return Some(if on { CULLED_NS } else { 0 });
    }
    let digits = text
        .iter()
        .take_while(|&byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let (number, unit) = text.split_at_checked(digits)?;
    let ns = seconds(number)?;
    match unit {
        b"m" => ns.checked_mul(60),
        b"s" => Some(ns),
        b"ms" => Some(ns / 1000),
        b"us" => Some(ns / 1_000_000),
        _ => None,
    }
}

/// A switch.
pub fn switch(text: &[u8]) -> Option<bool> {
    match text {
        b"1" | b"true" | b"yes" | b"on" => Some(true),
        b"0" | b"false" | b"no" | b"off" => Some(false),
        _ => None,
    }
}
