//! What lists and groups can do.

use std::rc::Rc;

use memlog_answers::Sums;
use memlog_query::parse;
use rhai::{Dynamic, Engine};

use crate::block::{Allocation, Map, Row};
use crate::env::{Env, Made, refused};
use crate::flame::save_as_flame;
use crate::graph::Graph;
use crate::groups::Groups;
use crate::list::{AllocationList, List, MapList};
use crate::stacks::matching;

/// A list as scripts know it.
pub(crate) trait Listed: Clone + 'static {
    type Item: Clone + 'static;
    fn list(&self) -> &List;
    fn of(list: List) -> Self;
    fn item(row: Row) -> Self::Item;
}

impl Listed for AllocationList {
    type Item = Allocation;

    fn list(&self) -> &List {
        &self.0
    }

    fn of(list: List) -> Self {
        Self(list)
    }

    fn item(row: Row) -> Allocation {
        Allocation(row)
    }
}

impl Listed for MapList {
    type Item = Map;

    fn list(&self) -> &List {
        &self.0
    }

    fn of(list: List) -> Self {
        Self(list)
    }

    fn item(row: Row) -> Map {
        Map(row)
    }
}

/// One by one; the only item is an error where they are too many.
pub(crate) struct Each<T>(Box<dyn Iterator<Item = Made<T>>>);

impl<T> Iterator for Each<T> {
    type Item = Made<T>;

    fn next(&mut self) -> Option<Made<T>> {
        self.0.next()
    }
}

fn each<T: 'static>(rows: Made<Vec<Row>>, of: fn(Row) -> T) -> Each<T> {
    match rows {
        Ok(rows) => Each(Box::new(rows.into_iter().map(move |row| Ok(of(row))))),
        Err(why) => Each(Box::new(std::iter::once(Err(why)))),
    }
}

impl IntoIterator for AllocationList {
    type Item = Made<Allocation>;
    type IntoIter = Each<Allocation>;

    fn into_iter(self) -> Each<Allocation> {
        each(self.0.each(), Allocation)
    }
}

impl IntoIterator for MapList {
    type Item = Made<Map>;
    type IntoIter = Each<Map>;

    fn into_iter(self) -> Each<Map> {
        each(self.0.each(), Map)
    }
}

impl IntoIterator for Groups {
    type Item = Made<AllocationList>;
    type IntoIter = Each<AllocationList>;

    fn into_iter(self) -> Each<AllocationList> {
        let places = 0..self.rows.len();
        Each(Box::new(places.map(move |place| {
            self.list_of(&self.rows[place]).map(AllocationList)
        })))
    }
}

pub(super) fn teach(engine: &mut Engine, env: &Rc<Env>) {
    engine
        .register_type_with_name::<AllocationList>("AllocationList")
        .register_type_with_name::<MapList>("MapList")
        .register_type_with_name::<Groups>("AllocationGroupList")
        .register_iterator_result::<AllocationList, Allocation>()
        .register_iterator_result::<MapList, Map>()
        .register_iterator_result::<Groups, AllocationList>();
    of_lists::<AllocationList>(engine);
    of_lists::<MapList>(engine);
    of_groups(engine);
    engine.register_fn("group_by_backtrace", |list: &mut AllocationList| {
        Groups::of(&list.0)
    });
    let here = Rc::clone(env);
    engine.register_fn("save_as_flamegraph", move |list: &mut AllocationList| {
        save_as_flamegraph(list, &here.flame_name())
    });
    engine.register_fn("save_as_flamegraph", save_as_flamegraph);
    let here = Rc::clone(env);
    engine.register_fn("save_as_graph", move |list: &mut AllocationList| {
        save_as_graph(list, &here.graph_name())
    });
    engine.register_fn("save_as_graph", save_as_graph);
}

fn of_lists<L: Listed>(engine: &mut Engine) {
    let list = |made: Made<List>| made.map(L::of);
    engine
        .register_fn("+", move |one: L, other: L| {
            list(one.list().plus(other.list()))
        })
        .register_fn("-", move |one: L, other: L| {
            list(one.list().minus(other.list()))
        })
        .register_fn("&", move |one: L, other: L| {
            list(one.list().intersected(other.list()))
        })
        .register_fn("len", |one: &mut L| one.list().len())
        .register_fn("size", |one: &mut L| one.list().bytes())
        .register_indexer_get(|one: &mut L, index: i64| -> Made<L::Item> {
            one.list().get(index).map(L::item)
        })
        .register_fn("filter", move |one: &mut L, text: &str| -> Made<L> {
            let own = one.list();
            let filter = own.log.env.filter("filter", text, || parse(text))?;
            list(own.filtered(filter))
        })
        // As the language says it in the language of filters.
        .register_fn("to_filter", |one: &mut L| -> Made<String> {
            let filter = one.list().chosen.filter();
            let filter = filter.map(|filter| filter.to_string());
            filter.ok_or_else(|| refused("a list of stacks or maps cannot be said as a filter"))
        });
    for (word, is_not, is_release) in [
        ("only_matching_backtraces", false, false),
        ("only_not_matching_backtraces", true, false),
        ("only_matching_deallocation_backtraces", false, true),
        ("only_not_matching_deallocation_backtraces", true, true),
    ] {
        engine.register_fn(word, move |one: &mut L, given: Dynamic| {
            list(matching(one.list(), given, is_not, is_release))
        });
    }
}

fn of_groups(engine: &mut Engine) {
    let bytes = |sums: &Sums| sums.bytes;
    let blocks = |sums: &Sums| sums.blocks;
    engine
        .register_fn("len", |groups: &mut Groups| groups.rows.len() as i64)
        .register_indexer_get(|groups: &mut Groups, index: i64| -> Made<AllocationList> {
            groups.get(index).map(AllocationList)
        })
        .register_fn("only_all_leaked", |groups: &mut Groups| {
            groups.only(|sums| sums.leaked_blocks == sums.blocks)
        })
        .register_fn("only_count_at_least", |groups: &mut Groups, count: i64| {
            groups.only(|sums| i128::from(sums.blocks) >= i128::from(count))
        })
        .register_fn("take", |groups: &mut Groups, count: i64| groups.take(count))
        .register_fn("ungroup", |groups: &mut Groups| -> Made<AllocationList> {
            groups.ungroup().map(AllocationList)
        });
    for (word, is_descending) in [
        ("sort_by_size", true),
        ("sort_by_size_descending", true),
        ("sort_by_size_ascending", false),
    ] {
        engine.register_fn(word, move |groups: &mut Groups| {
            groups.sorted(bytes, is_descending)
        });
    }
    for (word, is_descending) in [
        ("sort_by_count", true),
        ("sort_by_count_descending", true),
        ("sort_by_count_ascending", false),
    ] {
        engine.register_fn(word, move |groups: &mut Groups| {
            groups.sorted(blocks, is_descending)
        });
    }
}

fn save_as_graph(list: &mut AllocationList, name: &str) -> Made<AllocationList> {
    Graph::default()
        .with_list(list.0.clone(), None)?
        .save(name)?;
    Ok(list.clone())
}

fn save_as_flamegraph(list: &mut AllocationList, name: &str) -> Made<AllocationList> {
    save_as_flame(&list.0, name)?;
    Ok(list.clone())
}
