//! What a request asks: bytehound's parameters by their names, its filters, and a filter
//! in our own language as `where`.

use std::collections::HashMap;
use std::str::FromStr;

use memlog_query::{Expr, ParseError, from_old, parse};

use crate::reply::Refusal;

/// Parameters that are no filters. Those that a route has no use for mean nothing there;
/// the last four are of bytehound's own page.
const WORDS: [&str; 13] = [
    "skip",
    "count",
    "sort_by",
    "order",
    "generate_graphs",
    "with_regions",
    "with_usage_history",
    "id",
    "strip_template_args",
    "page",
    "page_size",
    "show_full_backtraces",
    "group_allocations",
];

/// Filters that blocks and mappings have.
const OF_BOTH: [&str; 21] = [
    "from",
    "to",
    "lifetime",
    "address_min",
    "address_max",
    "size_min",
    "size_max",
    "lifetime_min",
    "lifetime_max",
    "backtrace_depth_min",
    "backtrace_depth_max",
    "backtraces",
    "deallocation_backtraces",
    "function_regex",
    "source_regex",
    "negative_function_regex",
    "negative_source_regex",
    "alive_at",
    "alive_at_2",
    "jemalloc",
    "custom_filter",
];

const OF_BLOCKS: [&str; 23] = [
    "first_size_min",
    "first_size_max",
    "last_size_min",
    "last_size_max",
    "mmaped",
    "arena",
    "marker",
    "group_interval_min",
    "group_interval_max",
    "group_max_total_usage_first_seen_min",
    "group_max_total_usage_first_seen_max",
    "group_leaked_allocations_min",
    "group_leaked_allocations_max",
    "group_allocations_min",
    "group_allocations_max",
    "chain_length_min",
    "chain_length_max",
    "chain_lifetime_min",
    "chain_lifetime_max",
    "position_in_chain_min",
    "position_in_chain_max",
    "from_map",
    "where",
];

const OF_MAPS: [&str; 7] = [
    "peak_rss_min",
    "peak_rss_max",
    "bytehound",
    "readable",
    "writable",
    "executable",
    "where",
];

/// What a route's filters are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Blocks,
    Maps,
}

/// A request, understood.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Which blocks, or mappings.
    pub filter: Option<Expr>,
    /// A script that chooses some of them.
    pub custom: Option<String>,
    words: HashMap<String, String>,
}

impl Asked {
    /// That of a query.
    pub fn of(query: Option<&str>, of: Of) -> Result<Self, Refusal> {
        let (mut asked, mut filters) = (Self::default(), Vec::new());
        let mut known = Vec::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if name == "token" {
                continue;
            }
            if known.contains(&name) {
                return Err(Refusal::asked(
                    format!("{name:?} is given twice"),
                    "give each parameter once; where=... takes any number of conditions",
                ));
            }
            match name.as_ref() {
                word if WORDS.contains(&word) => {
                    asked.words.insert(word.to_owned(), value.into_owned());
                }
                "custom_filter" => asked.custom = Some(value.clone().into_owned()),
                filter if is_of(filter, of) => filters.push(filter_of(filter, &value)?),
                _ => return Err(unknown(&name, of)),
            }
            known.push(name);
        }
        asked.filter = (!filters.is_empty()).then(|| Expr::all_of(filters));
        Ok(asked)
    }

    /// And what another filter says.
    pub fn and(&mut self, filter: Expr) {
        let all = self.filter.take().into_iter().chain([filter]);
        self.filter = Some(Expr::all_of(all.collect()));
    }

    /// A number, if it is given.
    pub fn number<N: FromStr>(&self, name: &str) -> Result<Option<N>, Refusal> {
        let Some(value) = self.words.get(name) else {
            return Ok(None);
        };
        value.parse().map(Some).map_err(|_| {
            Refusal::asked(
                format!("{name}={value:?} is not a number that it takes"),
                "whole numbers from 0 on",
            )
        })
    }

    /// Whether something is wished for.
    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.words.get(name).map(String::as_str) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(value) => Err(Refusal::asked(
                format!("{name}={value:?} is neither true nor false"),
                "say true or false",
            )),
        }
    }

    /// One of some words; the first where none is given.
    pub fn choice<T: Copy>(&self, name: &str, all: &[(&str, T)]) -> Result<T, Refusal> {
        let value = self.words.get(name).map(String::as_str);
        let value = value.or(all.first().map(|(word, _)| *word));
        let found = all.iter().find(|(word, _)| Some(*word) == value);
        found.map(|(_, found)| *found).ok_or_else(|| {
            let words: Vec<_> = all.iter().map(|(word, _)| *word).collect();
            Refusal::asked(
                format!("{name}={:?} is unknown", value.unwrap_or_default()),
                format!("{name} is one of {}", words.join(", ")),
            )
        })
    }

    /// The filters of a query, as the end of an address.
    pub fn filters(query: Option<&str>) -> String {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let pairs = pairs.filter(|(name, _)| name != "token" && !WORDS.contains(&name.as_ref()));
        let mut end = form_urlencoded::Serializer::for_suffix(String::from("?"), 1);
        match end.extend_pairs(pairs).finish() {
            none if none == "?" => String::new(),
            filters => filters,
        }
    }

    /// Whether the last comes first.
    pub fn is_reversed(&self) -> Result<bool, Refusal> {
        self.choice("order", &[("asc", false), ("dsc", true)])
    }

    /// How many rows are left out, and how many come behind them.
    pub fn window(&self) -> Result<(u64, u64), Refusal> {
        let skip = self.number("skip")?.unwrap_or(0);
        Ok((skip, self.number("count")?.unwrap_or(u64::MAX)))
    }
}

fn is_of(name: &str, of: Of) -> bool {
    let own: &[&str] = match of {
        Of::Blocks => &OF_BLOCKS,
        Of::Maps => &OF_MAPS,
    };
    OF_BOTH.contains(&name) || own.contains(&name)
}

fn filter_of(name: &str, value: &str) -> Result<Expr, Refusal> {
    let wrong = |error: ParseError| Refusal::asked(format!("{name}: {error}"), error.caret());
    match name {
        "where" => parse(value).map_err(wrong),
        name => from_old(name, value).map_err(wrong),
    }
}

fn unknown(name: &str, of: Of) -> Refusal {
    let what = match of {
        Of::Blocks => "blocks",
        Of::Maps => "mappings",
    };
    Refusal::asked(
        format!("there is no parameter {name:?} for {what}"),
        "doc/BYTEHOUND.md has all parameters, doc/FILTERS.md all filters",
    )
}

#[cfg(test)]
mod tests {
    use memlog_query::OLD_NAMES;

    use super::*;

    /// All filters of bytehound's are taken where they are of use.
    #[test]
    fn every_filter_has_its_place() {
        for old in &OLD_NAMES {
            let is_one = is_of(old.name, Of::Blocks) || is_of(old.name, Of::Maps);
            assert!(is_one, "{}", old.name);
        }
        let own = OF_BOTH.iter().chain(&OF_BLOCKS).chain(&OF_MAPS);
        for name in own.filter(|name| **name != "where") {
            assert!(OLD_NAMES.iter().any(|old| old.name == *name), "{name}");
        }
    }

    #[test]
    fn filters_come_together() {
        let text = |query: &str| {
            let asked = Asked::of(Some(query), Of::Blocks).expect("it is right");
            asked.filter.map(|filter| filter.to_string())
        };
        assert_eq!(text("token=1&skip=3"), None);
        assert_eq!(text("size_min=4096").as_deref(), Some("size >= 4KiB"));
        assert_eq!(
            text("size_min=4096&where=leaked+or+temporary").as_deref(),
            Some("size >= 4KiB and (leaked or temporary)")
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let why = |query: &str| {
            let refused = Asked::of(Some(query), Of::Blocks).and_then(|asked| {
                asked.window()?;
                asked.is_reversed()?;
                asked.flag("strip_template_args")
            });
            refused.expect_err(query).sentence
        };
        assert_eq!(why("skip=-1"), "skip=\"-1\" is not a number that it takes");
        assert_eq!(why("order=up"), "order=\"up\" is unknown");
        assert_eq!(why("size_min=1&size_min=2"), "\"size_min\" is given twice");
        assert_eq!(
            why("colour=red"),
            "there is no parameter \"colour\" for blocks"
        );
        assert!(why("function_regex=(").starts_with("function_regex: column 1: "));
        assert!(why("where=size+>").starts_with("where: column 7: "));
        assert!(why("strip_template_args=maybe").contains("neither true nor false"));
    }
}
