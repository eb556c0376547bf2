//! What is printed parses to what it was printed of.

use memlog_query::{
    Address, Amount, Bytes, Expr, FIELDS, Field, FirstMatch, FrameField, Length, Matcher, Moment,
    OrderedField, Pattern, Rule, Share, Span, Test, Verdict, parse,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        cases: 512,
        ..ProptestConfig::default()
    }
}

/// Edges, and what has units.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..5u64,
        any::<u64>(),
        Just(u64::MAX),
        (
            0..2000u64,
            select(vec![
                1u64,
                1000,
                1_000_000,
                60_000_000_000,
                1024,
                1 << 20,
                1 << 40
            ])
        )
            .prop_map(|(count, unit)| count * unit),
    ]
}

fn share() -> impl Strategy<Value = Share> {
    let billionths = prop_oneof![
        0..=1_000_000_000u64,
        (0..=100u64).prop_map(|n| n * 10_000_000)
    ];
    billionths.prop_map(|number| Share::from_per_billion(number).expect("a share"))
}

fn text() -> impl Strategy<Value = String> {
    let letters = select(vec![
        'a', 'Z', '0', '"', '\'', '\\', ' ', '\n', '.', '(', '\u{6f22}', '%', '~',
    ]);
    prop_oneof![
        vec(letters, 0..8).prop_map(|letters| letters.into_iter().collect()),
        any::<String>(),
        select(vec!["and", "mark", "..", "7", "\\"]).prop_map(str::to_owned),
    ]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    let written = select(vec![
        "",
        "^a.*b$",
        r"\d+\.rs",
        "\"x\"",
        r"\\",
        "(?i)parse|load",
        "[^']",
    ]);
    prop_oneof![
        written.prop_map(str::to_owned),
        text().prop_map(|text| text.replace(['\\', '(', '.'], "x")),
    ]
    .prop_map(|text| Pattern::new(&text).unwrap_or_else(|_| Pattern::new("x").expect("a pattern")))
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![
        number().prop_map(Moment::SinceStartNs),
        share().prop_map(Moment::Share),
        number().prop_map(Moment::UnixNs),
        select(vec![
            Moment::Start,
            Moment::End,
            Moment::RssPeak,
            Moment::HeapPeak
        ]),
        text().prop_map(Moment::Mark),
    ]
}

fn length() -> impl Strategy<Value = Length> {
    prop_oneof![
        number().prop_map(Length::Ns),
        share().prop_map(Length::Share)
    ]
}

fn amount() -> impl Strategy<Value = Amount> {
    prop_oneof![
        number().prop_map(Amount::Count),
        share().prop_map(Amount::Share)
    ]
}

/// Any, of which ranges are given as they can be written: the least end first, for
/// which `key` says which of two that is, where it can be said.
fn span<T: Clone + std::fmt::Debug, K: PartialOrd>(
    value: impl Strategy<Value = T> + Clone,
    key: impl Fn(&T) -> Option<(u8, K)> + Clone,
) -> impl Strategy<Value = Span<T>> {
    let between = move |(first, last): (T, T)| match (key(&first), key(&last)) {
        (Some((kind, one)), Some((same, other))) if kind == same && one > other => {
            Span::Between(last, first)
        }
        _ => Span::Between(first, last),
    };
    prop_oneof![
        value.clone().prop_map(Span::AtLeast),
        value.clone().prop_map(Span::MoreThan),
        value.clone().prop_map(Span::AtMost),
        value.clone().prop_map(Span::LessThan),
        value.clone().prop_map(Span::only),
        (value.clone(), value).prop_map(between),
    ]
}

fn moments() -> impl Strategy<Value = Span<Moment>> {
    span(moment().boxed(), |moment| match moment {
        Moment::SinceStartNs(ns) => Some((0, *ns)),
        Moment::UnixNs(ns) => Some((1, *ns)),
        Moment::Share(share) => Some((2, share.per_billion())),
        _ => None,
    })
}

fn lengths() -> impl Strategy<Value = Span<Length>> {
    span(length().boxed(), |length| match length {
        Length::Ns(ns) => Some((0, *ns)),
        Length::Share(share) => Some((1, share.per_billion())),
    })
}

fn amounts() -> impl Strategy<Value = Span<Amount>> {
    span(amount().boxed(), |amount| match amount {
        Amount::Count(count) => Some((0, *count)),
        Amount::Share(share) => Some((1, share.per_billion())),
    })
}

fn numbers() -> impl Strategy<Value = Span<u64>> {
    span(number().boxed(), |number| Some((0, *number)))
}

fn matcher() -> impl Strategy<Value = Matcher> {
    prop_oneof![
        text().prop_map(Matcher::Is),
        pattern().prop_map(Matcher::Like)
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    let verdict = select(vec![Verdict::Keep, Verdict::Drop]);
    let field = select(vec![FrameField::Function, FrameField::Module]);
    (verdict, field, pattern()).prop_map(|(verdict, field, pattern)| Rule {
        verdict,
        field,
        pattern,
    })
}

fn alive() -> impl Strategy<Value = Test> {
    moments().prop_map(|span| match span {
        Span::Between(from, to) => Test::Alive { from, to },
        Span::AtLeast(from) | Span::MoreThan(from) => Test::Alive {
            from,
            to: Moment::End,
        },
        Span::AtMost(to) | Span::LessThan(to) => Test::Alive {
            from: Moment::Start,
            to,
        },
    })
}

fn of_field(field: Field) -> BoxedStrategy<Test> {
    match field {
        Field::All => Just(Test::All).boxed(),
        Field::Ordered(field) => of_ordered(field),
        Field::Text(field) => matcher()
            .prop_map(move |matcher| Test::Text { field, matcher })
            .boxed(),
        Field::Flag(flag) => Just(Test::Flag(flag)).boxed(),
        Field::Contains => number()
            .prop_map(|number| Test::Contains(Address(number)))
            .boxed(),
        Field::Alive => alive().boxed(),
        Field::FirstMatch => vec(rule(), 0..4)
            .prop_map(|rules| Test::FirstMatch(FirstMatch { rules }))
            .boxed(),
    }
}

fn of_ordered(field: OrderedField) -> BoxedStrategy<Test> {
    match field {
        OrderedField::Size(field) => {
            span(number().prop_map(Bytes).boxed(), |bytes| Some((0, *bytes)))
                .prop_map(move |span| Test::Size { field, span })
                .boxed()
        }
        OrderedField::Count(field) => numbers()
            .prop_map(move |span| Test::Count { field, span })
            .boxed(),
        OrderedField::Length(field) => lengths()
            .prop_map(move |span| Test::Length { field, span })
            .boxed(),
        OrderedField::Moment(field) => moments()
            .prop_map(move |span| Test::Moment { field, span })
            .boxed(),
        OrderedField::Address => span(number().prop_map(Address).boxed(), |address| {
            Some((0, *address))
        })
        .prop_map(Test::Address)
        .boxed(),
        OrderedField::GroupLeaked => amounts().prop_map(Test::GroupLeaked).boxed(),
    }
}

fn test() -> impl Strategy<Value = Test> {
    let fields: Vec<Field> = FIELDS.iter().map(|entry| entry.field).collect();
    select(fields).prop_flat_map(of_field)
}

fn expr() -> impl Strategy<Value = Expr> {
    test()
        .prop_map(Expr::Test)
        .prop_recursive(6, 40, 4, |inner| {
            prop_oneof![
                vec(inner.clone(), 2..5).prop_map(Expr::And),
                vec(inner.clone(), 2..5).prop_map(Expr::Or),
                inner.prop_map(Expr::negated),
            ]
        })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_test_is_what_it_prints(test in test()) {
        let expr = Expr::Test(test);
        prop_assert_eq!(parse(&expr.to_string()), Ok(expr));
    }

    #[test]
    fn a_tree_is_what_it_prints(expr in expr()) {
        prop_assert_eq!(parse(&expr.to_string()), Ok(expr));
    }

    #[test]
    fn any_text_is_a_tree_or_an_error(text in text()) {
        match parse(&text) {
            Ok(expr) => prop_assert_eq!(parse(&expr.to_string()), Ok(expr)),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    /// What a tree prints, with letters lost and put in, so that most of it is right.
    #[test]
    fn a_damaged_text_is_a_tree_or_an_error(
        expr in expr(),
        at in any::<prop::sample::Index>(),
        lost in 0..3usize,
        put in text(),
    ) {
        let mut letters: Vec<char> = expr.to_string().chars().collect();
        let at = at.index(letters.len());
        let end = (at + lost).min(letters.len());
        letters.splice(at..end, put.chars());
        let text: String = letters.into_iter().collect();
        match parse(&text) {
            Ok(expr) => prop_assert_eq!(parse(&expr.to_string()), Ok(expr)),
            Err(error) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column()));
                prop_assert_eq!(error.caret().lines().count(), 2);
            }
        }
    }
}
