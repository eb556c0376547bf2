//! What a log says whose recorder left blocks out that lived shortly, as
//! `memlog record --cull` asks for: the text of [`Key::Culled`](crate::meta::Key::Culled).

/// Blocks that lived less than so many nanoseconds may be in the sums only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Culled {
    /// The threshold.
    pub below_ns: u64,
}

impl Culled {
    /// What the text says: a number in decimal, and whatever a newer memlog has
    /// to add behind a blank.
    pub fn of(text: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(text).ok()?;
        let below_ns = text.split(' ').next()?.parse().ok()?;
        Some(Self { below_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::Culled;

    #[test]
    fn what_it_says_is_read() {
        let culled = |below_ns| Some(Culled { below_ns });
        assert_eq!(Culled::of(b"10000000"), culled(10_000_000));
        assert_eq!(Culled::of(b"18446744073709551615"), culled(u64::MAX));
        assert_eq!(Culled::of(b"5 more"), culled(5));
        for other in [&b""[..], b"ten", b"-1", b"18446744073709551616", b"\xff"] {
            assert_eq!(Culled::of(other), None);
        }
    }
}
