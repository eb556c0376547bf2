//! What chooses of lists, by bytehound's names. Each word is a filter of memlog's language.

use memlog_query::{
    Address, Amount, Bytes, CountField, Expr, Flag, MomentField, OrderedField, Share, Span, Test,
    from_old,
};
use rhai::{Array, Dynamic, Engine};

use crate::block::Map;
use crate::chosen::Chosen;
use crate::env::{Made, refused};
use crate::list::{AllocationList, List, MapList};
use crate::tables::{
    Compared, OF_BLOCKS, OF_BOTH, OF_PEAK_RSS, PATTERNS, PLAIN_OF_BLOCKS, PLAIN_OF_BOTH,
    PLAIN_OF_MAPS, Plain, Side,
};
use crate::time::Duration;
use crate::words::lists::Listed;

/// Milliardths of a whole.
const WHOLE: f64 = 1e9;

pub(super) fn teach(engine: &mut Engine) {
    common::<AllocationList>(engine);
    common::<MapList>(engine);
    OF_BLOCKS
        .iter()
        .for_each(|word| compared::<AllocationList>(engine, *word));
    PLAIN_OF_BLOCKS
        .iter()
        .for_each(|word| plain::<AllocationList>(engine, *word));
    PLAIN_OF_MAPS
        .iter()
        .for_each(|word| plain::<MapList>(engine, *word));
    for (word, old) in OF_PEAK_RSS {
        engine.register_fn(word, move |list: &mut MapList, bytes: i64| {
            filtered(list, old, &bytes.to_string())
        });
    }
    engine.register_fn(
        "only_with_marker",
        |list: &mut AllocationList, marker: i64| filtered(list, "marker", &marker.to_string()),
    );
    engine.register_fn(
        "only_with_marker",
        |list: &mut AllocationList, marker: &str| filtered(list, "marker", marker),
    );
    engine.register_fn(
        "only_from_maps",
        |list: &mut AllocationList, maps: Dynamic| {
            let mut all = None;
            in_maps(&list.0, maps, &mut all)?;
            let none = || Chosen::from(Expr::any_of(Vec::new()));
            list.0.and(&all.unwrap_or_else(none)).map(AllocationList)
        },
    );
}

fn common<L: Listed>(engine: &mut Engine) {
    OF_BOTH.iter().for_each(|word| compared::<L>(engine, *word));
    PLAIN_OF_BOTH
        .iter()
        .for_each(|word| plain::<L>(engine, *word));
    for (word, old) in PATTERNS {
        engine.register_fn(word, move |list: &mut L, pattern: &str| {
            filtered(list, old, pattern)
        });
    }
    engine.register_fn(
        "only_leaked_or_deallocated_after",
        |list: &mut L, after: Duration| {
            let after = compare(
                OrderedField::Moment(MomentField::Died),
                Side::MoreThan,
                Value::Time(after),
            );
            let leaked = Expr::Test(Test::Flag(Flag::Leaked));
            let either = Expr::any_of(vec![leaked, after]);
            list.list().filtered(either).map(L::of)
        },
    );
    engine.register_fn("only_alive_at", |list: &mut L, moments: Array| -> Made<L> {
        let mut all = Vec::new();
        for one in moments {
            let name = one.type_name();
            let wrong = || {
                refused(format!(
                    "only_alive_at takes an array of durations; this is {name}"
                ))
            };
            let at = one.try_cast::<Duration>().ok_or_else(wrong)?.moment();
            all.push(Expr::Test(Test::Alive {
                from: at.clone(),
                to: at,
            }));
        }
        list.list().filtered(Expr::all_of(all)).map(L::of)
    });
}

/// What is compared with.
#[derive(Clone, Copy)]
enum Value {
    Number(u64),
    Time(Duration),
    Share(Share),
}

/// The filter of a comparison.
fn compare(field: OrderedField, side: Side, value: Value) -> Expr {
    let number = match value {
        Value::Number(number) => number,
        Value::Time(time) => time.ns,
        Value::Share(_) => 0,
    };
    let time = Duration { ns: number };
    Expr::Test(match field {
        OrderedField::Size(field) => Test::Size {
            field,
            span: side.span(Bytes(number)),
        },
        OrderedField::Count(field) => Test::Count {
            field,
            span: side.span(number),
        },
        OrderedField::Length(field) => Test::Length {
            field,
            span: side.span(time.length()),
        },
        OrderedField::Moment(field) => Test::Moment {
            field,
            span: side.span(time.moment()),
        },
        OrderedField::Address => Test::Address(side.span(Address(number))),
        OrderedField::GroupLeaked => Test::GroupLeaked(side.span(match value {
            Value::Share(share) => Amount::Share(share),
            _ => Amount::Count(number),
        })),
    })
}

fn compared<L: Listed>(engine: &mut Engine, (word, field, side): Compared) {
    let choose = move |list: &L, value: Value| -> Made<L> {
        list.list().filtered(compare(field, side, value)).map(L::of)
    };
    match field {
        OrderedField::Length(_) | OrderedField::Moment(_) => {
            engine.register_fn(word, move |list: &mut L, value: Duration| {
                choose(list, Value::Time(value))
            });
        }
        _ => {
            engine.register_fn(word, move |list: &mut L, value: i64| {
                let number = u64::try_from(value);
                let number = number.map_err(|_| {
                    refused(format!("{word} takes a number of 0 or more, not {value}"))
                })?;
                choose(list, Value::Number(number))
            });
        }
    }
    if field == OrderedField::GroupLeaked {
        engine.register_fn(word, move |list: &mut L, value: f64| {
            let billionths = (0.0..=1.0)
                .contains(&value)
                .then(|| (value * WHOLE).round() as u64);
            let share = billionths.and_then(Share::from_per_billion);
            let share = share.ok_or_else(|| {
                refused(format!("{word} takes a part from 0.0 to 1.0, not {value}"))
            })?;
            choose(list, Value::Share(share))
        });
    }
}

fn plain<L: Listed>(engine: &mut Engine, (word, old, value): Plain) {
    engine.register_fn(word, move |list: &mut L| filtered(list, old, value));
}

/// What a filter of bytehound's lets through.
fn filtered<L: Listed>(list: &L, old: &'static str, value: &str) -> Made<L> {
    let own = list.list();
    let filter = own.log.env.filter(old, value, || from_old(old, value))?;
    own.filtered(filter).map(L::of)
}

/// Blocks in the mappings that a script hands over: lists, single ones, numbers, arrays.
fn in_maps(list: &List, given: Dynamic, all: &mut Option<Chosen>) -> Made<()> {
    let number = match given.as_int() {
        Ok(number) => Some(number),
        Err(_) => given
            .clone()
            .try_cast::<Map>()
            .map(|map| map.0.facts.number as i64),
    };
    let chosen = if let Some(number) = number {
        let number =
            u64::try_from(number).map_err(|_| refused("a map has a number of 0 or more"))?;
        Chosen::from(Expr::Test(Test::Count {
            field: CountField::Map,
            span: Span::Between(number, number),
        }))
    } else if let Some(maps) = given.clone().try_cast::<MapList>() {
        list.log.must_be(&maps.0.log)?;
        Chosen::in_maps(&maps.0.chosen)
    } else if given.is_array() {
        for one in given.into_array().unwrap_or_default() {
            in_maps(list, one, all)?;
        }
        return Ok(());
    } else {
        return Err(refused(format!(
            "maps are a list of maps, a map, a map's number, or an array of such; this is {}",
            given.type_name()
        )));
    };
    *all = Some(match all.take() {
        Some(before) => before.or(&chosen).map_err(refused)?,
        None => chosen,
    });
    Ok(())
}
