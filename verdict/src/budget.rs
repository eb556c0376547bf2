//! What is limited.

use memlog_query::{CountField, Expr, SizeField, Span, Test, parse};

use crate::measure::{Amounts, Measure};

/// Limits of some blocks, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// What it is called.
    pub name: String,
    /// Which blocks; all if there is none.
    pub filter: Option<Expr>,
    /// The most that each measure may have.
    pub limits: Amounts,
    /// A file of suppressions of leaks, as it was written down.
    pub suppressions: Option<String>,
}

impl Budget {
    /// What that of all blocks is called.
    pub const ALL: &'static str = "all";
    /// What that of an option's filter is called.
    pub const CHOSEN: &'static str = "chosen blocks";

    /// That of all blocks.
    pub fn of_all(limits: Amounts) -> Self {
        Self {
            name: Self::ALL.to_owned(),
            filter: None,
            limits,
            suppressions: None,
        }
    }

    /// Its filter as text.
    pub fn filter_text(&self) -> Option<String> {
        self.filter.as_ref().map(ToString::to_string)
    }
}

/// An amount as filters write it: `2GiB` of bytes, `1e6` of a number. What is wrong with it
/// else, in words.
pub fn amount_of(measure: Measure, text: &str) -> Result<u64, &'static str> {
    let (field, expected) = match measure.is_bytes() {
        true => (
            "size",
            "a size such as 1000000, 500K, 1.5MiB or 2GiB is expected",
        ),
        false => (
            "chain-length",
            "a number such as 1000000, 1_000_000 or 1e6 is expected",
        ),
    };
    // It is one value and nothing else.
    match parse(&format!("{field} <= {}", text.trim())) {
        Ok(Expr::Test(Test::Size {
            field: SizeField::Size,
            span: Span::AtMost(bytes),
        })) => Ok(bytes.0),
        Ok(Expr::Test(Test::Count {
            field: CountField::ChainLength,
            span: Span::AtMost(count),
        })) => Ok(count),
        _ => Err(expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_those_of_filters() {
        let peak = |text| amount_of(Measure::Peak, text);
        assert_eq!(peak("2GiB"), Ok(2 << 30));
        assert_eq!(peak(" 1.5m "), Ok(3 << 19));
        assert_eq!(peak("0"), Ok(0));
        let calls = |text| amount_of(Measure::Allocations, text);
        assert_eq!(calls("1e6"), Ok(1_000_000));
        for wrong in ["", "x", "-1", "1 or leaked", "5%", "1..2", "99999999T"] {
            assert!(peak(wrong).is_err(), "{wrong}");
            assert!(calls(wrong).is_err(), "{wrong}");
        }
        assert!(calls("2GiB").is_err() && calls("1.5").is_err());
    }
}
