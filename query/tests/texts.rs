//! What texts stand for.

use memlog_query::{
    Address, Amount, Bytes, CountField, Expr, FirstMatch, Flag, FrameField, Length, LengthField,
    Matcher, Moment, MomentField, Pattern, Rule, Share, SizeField, Span, Test, TextField, Verdict,
    parse,
};

const S: u64 = 1_000_000_000;

fn percent(number: u64) -> Share {
    Share::from_per_billion(number * 10_000_000).expect("a share")
}

fn size(field: SizeField, span: Span<u64>) -> Expr {
    let span = match span {
        Span::AtLeast(end) => Span::AtLeast(Bytes(end)),
        Span::MoreThan(end) => Span::MoreThan(Bytes(end)),
        Span::AtMost(end) => Span::AtMost(Bytes(end)),
        Span::LessThan(end) => Span::LessThan(Bytes(end)),
        Span::Between(first, last) => Span::Between(Bytes(first), Bytes(last)),
    };
    Expr::Test(Test::Size { field, span })
}

fn count(field: CountField, span: Span<u64>) -> Expr {
    Expr::Test(Test::Count { field, span })
}

fn length(field: LengthField, span: Span<Length>) -> Expr {
    Expr::Test(Test::Length { field, span })
}

fn born(span: Span<Moment>) -> Expr {
    let field = MomentField::Born;
    Expr::Test(Test::Moment { field, span })
}

fn pattern(text: &str) -> Pattern {
    Pattern::new(text).expect("a pattern")
}

fn like(field: TextField, text: &str) -> Expr {
    let matcher = Matcher::Like(pattern(text));
    Expr::Test(Test::Text { field, matcher })
}

fn is(field: TextField, text: &str) -> Expr {
    let matcher = Matcher::Is(text.into());
    Expr::Test(Test::Text { field, matcher })
}

fn flag(flag: Flag) -> Expr {
    Expr::Test(Test::Flag(flag))
}

fn not(expr: Expr) -> Expr {
    expr.negated()
}

/// Each text stands for the tree, and so does what the tree prints.
fn stand_for(pairs: impl IntoIterator<Item = (&'static str, Expr)>) {
    for (text, tree) in pairs {
        assert_eq!(parse(text).as_ref(), Ok(&tree), "{text}");
        assert_eq!(parse(&tree.to_string()), Ok(tree), "{text}");
    }
}

#[test]
fn sizes_and_counts() {
    use CountField::{Depth, GroupAllocations};
    use SizeField::{GroupBytes, Size, Waste};
    stand_for([
        ("size >= 1MiB", size(Size, Span::AtLeast(1 << 20))),
        ("size>64K", size(Size, Span::MoreThan(64 << 10))),
        ("SIZE <= 1.5m", size(Size, Span::AtMost(3 << 19))),
        ("size < 1kB", size(Size, Span::LessThan(1 << 10))),
        ("size = 4096", size(Size, Span::only(4096))),
        ("size == 1e3", size(Size, Span::only(1000))),
        ("size != 0", not(size(Size, Span::only(0)))),
        ("waste in 1..2K", size(Waste, Span::Between(1, 2048))),
        ("waste in 1 .. 2K", size(Waste, Span::Between(1, 2048))),
        (
            "group_bytes in 2GiB..",
            size(GroupBytes, Span::AtLeast(2 << 30)),
        ),
        (
            "group-bytes IN ..1T",
            size(GroupBytes, Span::AtMost(1 << 40)),
        ),
        ("depth in 5..5", count(Depth, Span::only(5))),
        (
            "group-allocations >= 1_000_000",
            count(GroupAllocations, Span::AtLeast(1_000_000)),
        ),
        (
            "group-allocations >= 1e6",
            count(GroupAllocations, Span::AtLeast(1_000_000)),
        ),
        ("size_min = 64K", size(Size, Span::AtLeast(64 << 10))),
        ("backtrace_depth_max=7", count(Depth, Span::AtMost(7))),
    ]);
}

#[test]
fn durations_and_moments() {
    use LengthField::{GroupInterval, Lifetime};
    stand_for([
        (
            "lifetime < 10ms",
            length(Lifetime, Span::LessThan(Length::Ns(S / 100))),
        ),
        (
            "lifetime >= 12.5s",
            length(Lifetime, Span::AtLeast(Length::Ns(S * 25 / 2))),
        ),
        (
            "lifetime >= 3",
            length(Lifetime, Span::AtLeast(Length::Ns(3 * S))),
        ),
        (
            "lifetime = 4h3m2s",
            length(Lifetime, Span::only(Length::Ns(14582 * S))),
        ),
        (
            "group-interval > 2.5%",
            length(
                GroupInterval,
                Span::MoreThan(Length::Share(
                    Share::from_per_billion(25_000_000).expect("a share"),
                )),
            ),
        ),
        (
            "born in 20%..40%",
            born(Span::Between(
                Moment::Share(percent(20)),
                Moment::Share(percent(40)),
            )),
        ),
        (
            "born in start..3s",
            born(Span::Between(Moment::Start, Moment::SinceStartNs(3 * S))),
        ),
        ("born > RSS_peak", born(Span::MoreThan(Moment::RssPeak))),
        ("born <= heap-peak", born(Span::AtMost(Moment::HeapPeak))),
        (
            "born >= mark \"a b\"",
            born(Span::AtLeast(Moment::Mark("a b".into()))),
        ),
        (
            "born in mark load..mark 'done'",
            born(Span::Between(
                Moment::Mark("load".into()),
                Moment::Mark("done".into()),
            )),
        ),
        (
            "born < unix 1700000000.5s",
            born(Span::LessThan(Moment::UnixNs(1_700_000_000 * S + S / 2))),
        ),
        (
            "alive at 20%",
            alive(Moment::Share(percent(20)), Moment::Share(percent(20))),
        ),
        (
            "alive in 1s..end",
            alive(Moment::SinceStartNs(S), Moment::End),
        ),
        (
            "alive in ..1s",
            alive(Moment::Start, Moment::SinceStartNs(S)),
        ),
        (
            "alive in 1s.. and leaked",
            Expr::And(vec![
                alive(Moment::SinceStartNs(S), Moment::End),
                flag(Flag::Leaked),
            ]),
        ),
    ]);
}

fn alive(from: Moment, to: Moment) -> Expr {
    Expr::Test(Test::Alive { from, to })
}

#[test]
fn texts_and_numbers_of_threads() {
    use TextField::{File, FreedBy, Function, Kind, Thread};
    stand_for([
        ("function ~ \"parse\"", like(Function, "parse")),
        ("function ~ parse.*x", like(Function, "parse.*x")),
        ("function !~ 'a|b'", not(like(Function, "a|b"))),
        (r#"file ~ "\.rs$""#, like(File, r"\.rs$")),
        ("thread = worker-3", is(Thread, "worker-3")),
        ("thread == \"7\"", is(Thread, "7")),
        ("thread = 7", count(CountField::Tid, Span::only(7))),
        (
            "freed-by != 7",
            not(count(CountField::FreedByTid, Span::only(7))),
        ),
        ("freed-by ~ 7", like(FreedBy, "7")),
        ("kind = 'operator new'", is(Kind, "operator new")),
        ("thread = \"and\"", is(Thread, "and")),
        ("thread = ''", is(Thread, "")),
        (
            "function ~ \"it's \\\"x\\\"\"",
            like(Function, "it's \"x\""),
        ),
        ("negative_function_regex = abc", not(like(Function, "abc"))),
    ]);
}

#[test]
fn addresses_and_groups() {
    stand_for([
        (
            "address in 0x7f00..0x7fff",
            Expr::Test(Test::Address(Span::Between(
                Address(0x7f00),
                Address(0x7fff),
            ))),
        ),
        (
            "address >= 4096",
            Expr::Test(Test::Address(Span::AtLeast(Address(4096)))),
        ),
        (
            "contains = 0x7F10",
            Expr::Test(Test::Contains(Address(0x7f10))),
        ),
        (
            "contains != 16",
            not(Expr::Test(Test::Contains(Address(16)))),
        ),
        (
            "group-leaked >= 50%",
            Expr::Test(Test::GroupLeaked(Span::AtLeast(Amount::Share(percent(50))))),
        ),
        (
            "group-leaked = 0",
            Expr::Test(Test::GroupLeaked(Span::only(Amount::Count(0)))),
        ),
    ]);
}

#[test]
fn joined() {
    let [a, b, c] = [Flag::Leaked, Flag::Temporary, Flag::Moved].map(flag);
    let and = |parts: &[&Expr]| Expr::And(parts.iter().map(|part| (*part).clone()).collect());
    let or = |parts: &[&Expr]| Expr::Or(parts.iter().map(|part| (*part).clone()).collect());
    stand_for([
        ("", Expr::Test(Test::All)),
        (" \n", Expr::Test(Test::All)),
        ("ALL", Expr::Test(Test::All)),
        ("leaked", a.clone()),
        ("((leaked))", a.clone()),
        ("leaked and temporary And moved", and(&[&a, &b, &c])),
        ("leaked && temporary || moved", or(&[&and(&[&a, &b]), &c])),
        ("leaked or temporary and moved", or(&[&a, &and(&[&b, &c])])),
        (
            "(leaked or temporary) and moved",
            and(&[&or(&[&a, &b]), &c]),
        ),
        (
            "(leaked and temporary) and moved",
            and(&[&and(&[&a, &b]), &c]),
        ),
        ("not leaked and temporary", and(&[&not(a.clone()), &b])),
        ("!(leaked or !!moved)", not(or(&[&a, &not(not(c.clone()))]))),
    ]);
}

#[test]
fn the_rules_of_memtrail() {
    let rule = |verdict, field, text| Rule {
        verdict,
        field,
        pattern: pattern(text),
    };
    let rules = vec![
        rule(Verdict::Keep, FrameField::Function, "a"),
        rule(Verdict::Drop, FrameField::Module, "libc"),
    ];
    let tree = Test::FirstMatch(FirstMatch { rules });
    let none = Test::FirstMatch(FirstMatch { rules: Vec::new() });
    stand_for([
        (
            "first_match(+function ~ \"a\", -MODULE~libc)",
            Expr::Test(tree),
        ),
        ("first-match()", Expr::Test(none)),
    ]);
}

#[test]
fn the_example_is_understood() {
    let text = r#"size >= 1MiB and lifetime < 10ms and function ~ "parse" and not module ~ "libc" and thread = "worker-3" and born in 20%..40% and leaked"#;
    let tree = parse(text).expect("a filter");
    assert_eq!(tree.to_string(), text);
}

/// What a tree says is read with the same words everywhere.
#[test]
fn lists_of_one_or_none_are_not_joined() {
    assert_eq!(Expr::all_of(Vec::new()).to_string(), "all");
    assert_eq!(Expr::any_of(Vec::new()).to_string(), "not all");
    assert_eq!(Expr::any_of(vec![flag(Flag::Leaked)]), flag(Flag::Leaked));
}
