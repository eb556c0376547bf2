//! Functions of allocators that many programs use, as a user would write them.
//! They are hooked where a library defines one and another object asks for it.

use super::{Function, parse};

/// The C library's by other names.
const USUAL: &[&str] = &[
    "malloc(size)",
    "calloc(count,size)",
    "realloc(ptr,size)",
    "free(ptr)",
    "posix_memalign(out,align,size)",
    "aligned_alloc(align,size)",
    "memalign(align,size)",
    "valloc(size)",
    "pvalloc(size)",
];
/// Under which.
const USUAL_OF: &[&str] = &["je_", "_rjem_", "mi_", "tc_"];

/// jemalloc's own.
const JEMALLOC: &[&str] = &[
    "mallocx(size,_)",
    "rallocx(ptr,size,_)",
    "=dallocx(ptr,_)",
    "=sdallocx(ptr,size,_)",
];
/// Under which.
const JEMALLOC_OF: &[&str] = &["", "je_", "_rjem_"];

/// All others, by their whole names.
const OTHERS: &[&str] = &[
    "mi_zalloc(size)",
    "mi_malloc_small(size)",
    "mi_zalloc_small(size)",
    "mi_mallocn(count,size)",
    "mi_reallocn(ptr,count,size)",
    "mi_reallocf(ptr,size)",
    "mi_rezalloc(ptr,size)",
    "mi_recalloc(ptr,count,size)",
    "mi_reallocarray(ptr,count,size)",
    "mi_malloc_aligned(size,align)",
    "mi_malloc_aligned_at(size,align,_)",
    "mi_zalloc_aligned(size,align)",
    "mi_zalloc_aligned_at(size,align,_)",
    "mi_calloc_aligned(count,size,align)",
    "mi_calloc_aligned_at(count,size,align,_)",
    "mi_realloc_aligned(ptr,size,align)",
    "mi_realloc_aligned_at(ptr,size,align,_)",
    "mi_rezalloc_aligned(ptr,size,align)",
    "mi_strdup(string)",
    "mi_strndup(string,_)",
    "mi_new(size)",
    "mi_new_nothrow(size)",
    "mi_new_n(count,size)",
    "mi_new_aligned(size,align)",
    "mi_new_aligned_nothrow(size,align)",
    "mi_new_realloc(ptr,size)",
    "mi_new_reallocn(ptr,count,size)",
    "mi_heap_malloc(_,size)",
    "mi_heap_zalloc(_,size)",
    "mi_heap_calloc(_,count,size)",
    "mi_heap_mallocn(_,count,size)",
    "mi_heap_malloc_small(_,size)",
    "mi_heap_realloc(_,ptr,size)",
    "mi_heap_reallocf(_,ptr,size)",
    "mi_heap_reallocn(_,ptr,count,size)",
    "mi_heap_rezalloc(_,ptr,size)",
    "mi_heap_recalloc(_,ptr,count,size)",
    "mi_heap_malloc_aligned(_,size,align)",
    "mi_heap_zalloc_aligned(_,size,align)",
    "mi_heap_calloc_aligned(_,count,size,align)",
    "mi_heap_realloc_aligned(_,ptr,size,align)",
    "mi_heap_strdup(_,string)",
    "mi_heap_strndup(_,string,_)",
    "=mi_free_size(ptr,size)",
    "=mi_free_aligned(ptr,align)",
    "=mi_free_size_aligned(ptr,size,align)",
    "mi_cfree(ptr)",
    "tc_new(size)",
    "tc_newarray(size)",
    "tc_new_nothrow(size,_)",
    "tc_newarray_nothrow(size,_)",
    "tc_new_aligned(size,align)",
    "tc_newarray_aligned(size,align)",
    "tc_new_aligned_nothrow(size,align,_)",
    "tc_newarray_aligned_nothrow(size,align,_)",
    "tc_malloc_skip_new_handler(size)",
    "tc_cfree(ptr)",
    "=tc_free_sized(ptr,size)",
    "tc_delete(ptr)",
    "tc_deletearray(ptr)",
    "tc_delete_nothrow(ptr,_)",
    "tc_deletearray_nothrow(ptr,_)",
    "=tc_delete_sized(ptr,size)",
    "=tc_deletearray_sized(ptr,size)",
    "tc_delete_aligned(ptr,_)",
    "tc_deletearray_aligned(ptr,_)",
    "=tc_delete_sized_aligned(ptr,size,_)",
    "=tc_deletearray_sized_aligned(ptr,size,_)",
    // GCC's, as its C++ names them. What rtx_alloc gives comes by the first two.
    "_Z18ggc_internal_allocmPFvPvEmm(size,_,_,_)",
    "_Z26ggc_internal_cleared_allocmPFvPvEmm(size,_,_,_)",
    "_Z11ggc_reallocPvm(ptr,size)",
    "_Z8ggc_freePv(ptr)",
];

/// The function of this name, if it is known.
pub fn find(name: &str) -> Option<Function> {
    for text in all() {
        let own = text.trim_start_matches('=').split('(').next();
        if own == Some(name) {
            return read(&text);
        }
    }
    None
}

/// The names of all.
pub fn names() -> impl Iterator<Item = String> {
    all().filter_map(|text| {
        let name = text.trim_start_matches('=').split('(').next()?;
        Some(name.to_owned())
    })
}

/// Whether malloc and its like have this name, or C++'s operators: those have
/// doors of their own.
pub fn has_door(name: &str) -> bool {
    let doors = of_list(include_str!("../../wrap/src/doors.h"), 0);
    let operators = of_list(include_str!("../../wrap/src/operators.h"), 1);
    doors.chain(operators).any(|listed| listed == name)
}

/// The word at this place of each line `kind(word, word)`.
fn of_list(list: &str, at: usize) -> impl Iterator<Item = &str> {
    list.lines().filter_map(move |line| {
        let (_, words) = line.strip_suffix(')')?.split_once('(')?;
        Some(words.split(',').nth(at)?.trim())
    })
}

fn all() -> impl Iterator<Item = String> {
    let under = |prefixes: &'static [&str], texts: &'static [&str]| {
        prefixes.iter().flat_map(move |prefix| {
            texts.iter().map(move |text| match text.strip_prefix('=') {
                Some(text) => format!("={prefix}{text}"),
                None => format!("{prefix}{text}"),
            })
        })
    };
    under(USUAL_OF, USUAL)
        .chain(under(JEMALLOC_OF, JEMALLOC))
        .chain(under(&[""], OTHERS))
}

/// Behind a = stands what gives back although it is told the size.
fn read(text: &str) -> Option<Function> {
    let whole = match text.starts_with('=') {
        true => format!("it(size){text}"),
        false => text.to_owned(),
    };
    parse(&whole).ok()?.pop()
}

#[cfg(test)]
mod tests {
    use super::super::Does;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn all_can_be_read_and_each_stands_once() {
        let mut seen = HashSet::new();
        for text in all() {
            assert!(read(&text).is_some(), "{text}");
        }
        for name in names() {
            assert!(seen.insert(name.clone()), "{name}");
            assert_eq!(find(&name).expect("known").name, name);
        }
        let does = |name: &str| find(name).map(|function| function.does);
        assert_eq!(does("je_sdallocx"), Some(Does::GivesBack));
        assert_eq!(does("_rjem_rallocx"), Some(Does::Moves));
        assert_eq!(does("mi_calloc"), Some(Does::Takes));
        assert_eq!(does("malloc"), None);
        assert!(has_door("free") && has_door("_ZdlPv") && !has_door("mallocx"));
        assert!(!has_door("Malloc") && !has_door("-") && !has_door("1"));
    }
}
