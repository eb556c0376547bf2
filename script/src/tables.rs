//! The words that choose, by bytehound's names, and the filters that they are.

use memlog_query::{CountField, LengthField, MomentField, OrderedField, SizeField, Span};

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

impl Side {
    pub fn span<T>(self, end: T) -> Span<T> {
        match self {
            Self::AtLeast => Span::AtLeast(end),
            Self::MoreThan => Span::MoreThan(end),
            Self::AtMost => Span::AtMost(end),
            Self::LessThan => Span::LessThan(end),
        }
    }
}

use Side::{AtLeast, AtMost, LessThan, MoreThan};

const fn size(field: SizeField) -> OrderedField {
    OrderedField::Size(field)
}

const fn count(field: CountField) -> OrderedField {
    OrderedField::Count(field)
}

const fn length(field: LengthField) -> OrderedField {
    OrderedField::Length(field)
}

const fn moment(field: MomentField) -> OrderedField {
    OrderedField::Moment(field)
}

/// A word, what it compares, and how.
pub(crate) type Compared = (&'static str, OrderedField, Side);

/// Of lists of both kinds.
#[rustfmt::skip] // a table
pub(crate) const OF_BOTH: [Compared; 14] = [
    ("only_larger_or_equal", size(SizeField::Size), AtLeast),
    ("only_larger", size(SizeField::Size), MoreThan),
    ("only_smaller_or_equal", size(SizeField::Size), AtMost),
    ("only_smaller", size(SizeField::Size), LessThan),
    ("only_address_at_least", OrderedField::Address, AtLeast),
    ("only_address_at_most", OrderedField::Address, AtMost),
    ("only_allocated_after_at_least", moment(MomentField::Born), AtLeast),
    ("only_allocated_until_at_most", moment(MomentField::Born), AtMost),
    ("only_deallocated_after_at_least", moment(MomentField::Died), AtLeast),
    ("only_deallocated_until_at_most", moment(MomentField::Died), AtMost),
    ("only_alive_for_at_least", length(LengthField::Lifetime), AtLeast),
    ("only_alive_for_at_most", length(LengthField::Lifetime), AtMost),
    ("only_backtrace_length_at_least", count(CountField::Depth), AtLeast),
    ("only_backtrace_length_at_most", count(CountField::Depth), AtMost),
];

/// Of blocks.
#[rustfmt::skip] // a table
pub(crate) const OF_BLOCKS: [Compared; 22] = [
    ("only_first_size_larger_or_equal", size(SizeField::FirstSize), AtLeast),
    ("only_first_size_larger", size(SizeField::FirstSize), MoreThan),
    ("only_first_size_smaller_or_equal", size(SizeField::FirstSize), AtMost),
    ("only_first_size_smaller", size(SizeField::FirstSize), LessThan),
    ("only_last_size_larger_or_equal", size(SizeField::LastSize), AtLeast),
    ("only_last_size_larger", size(SizeField::LastSize), MoreThan),
    ("only_last_size_smaller_or_equal", size(SizeField::LastSize), AtMost),
    ("only_last_size_smaller", size(SizeField::LastSize), LessThan),
    ("only_chain_length_at_least", count(CountField::ChainLength), AtLeast),
    ("only_chain_length_at_most", count(CountField::ChainLength), AtMost),
    ("only_chain_alive_for_at_least", length(LengthField::ChainLifetime), AtLeast),
    ("only_chain_alive_for_at_most", length(LengthField::ChainLifetime), AtMost),
    ("only_position_in_chain_at_least", count(CountField::ChainPosition), AtLeast),
    ("only_position_in_chain_at_most", count(CountField::ChainPosition), AtMost),
    ("only_group_allocations_at_least", count(CountField::GroupAllocations), AtLeast),
    ("only_group_allocations_at_most", count(CountField::GroupAllocations), AtMost),
    ("only_group_interval_at_least", length(LengthField::GroupInterval), AtLeast),
    ("only_group_interval_at_most", length(LengthField::GroupInterval), AtMost),
    ("only_group_max_total_usage_first_seen_at_least", moment(MomentField::GroupPeak), AtLeast),
    ("only_group_max_total_usage_first_seen_at_most", moment(MomentField::GroupPeak), AtMost),
    ("only_group_leaked_allocations_at_least", OrderedField::GroupLeaked, AtLeast),
    ("only_group_leaked_allocations_at_most", OrderedField::GroupLeaked, AtMost),
];

/// A word without a value, and the old filter that it is.
pub(crate) type Plain = (&'static str, &'static str, &'static str);

/// Of lists of both kinds.
pub(crate) const PLAIN_OF_BOTH: [Plain; 4] = [
    ("only_leaked", "lifetime", "only_leaked"),
    ("only_temporary", "lifetime", "only_temporary"),
    ("only_jemalloc", "jemalloc", "yes"),
    ("only_not_jemalloc", "jemalloc", "no"),
];

/// Of blocks.
pub(crate) const PLAIN_OF_BLOCKS: [Plain; 5] = [
    ("only_chain_leaked", "lifetime", "only_chain_leaked"),
    ("only_ptmalloc_mmaped", "mmaped", "yes"),
    ("only_ptmalloc_not_mmaped", "mmaped", "no"),
    ("only_ptmalloc_from_main_arena", "arena", "main"),
    ("only_ptmalloc_not_from_main_arena", "arena", "non_main"),
];

/// Of mappings.
pub(crate) const PLAIN_OF_MAPS: [Plain; 8] = [
    ("only_bytehound", "bytehound", "only_true"),
    ("only_not_bytehound", "bytehound", "only_false"),
    ("only_readable", "readable", "only_true"),
    ("only_not_readable", "readable", "only_false"),
    ("only_writable", "writable", "only_true"),
    ("only_not_writable", "writable", "only_false"),
    ("only_executable", "executable", "only_true"),
    ("only_not_executable", "executable", "only_false"),
];

/// A word with a regular expression, and the old filter that it is.
pub(crate) const PATTERNS: [(&str, &str); 4] = [
    ("only_passing_through_function", "function_regex"),
    (
        "only_not_passing_through_function",
        "negative_function_regex",
    ),
    ("only_passing_through_source", "source_regex"),
    ("only_not_passing_through_source", "negative_source_regex"),
];

/// What memlog does not know of single mappings.
pub(crate) const OF_PEAK_RSS: [(&str, &str); 2] = [
    ("only_peak_rss_at_least", "peak_rss_min"),
    ("only_peak_rss_at_most", "peak_rss_max"),
];
