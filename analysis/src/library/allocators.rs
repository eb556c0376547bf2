//! Functions that say by their names that they allocate, word by word: what
//! finds all occurrences in a small octree does not.

use crate::brief::own_path;

/// What a name says of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// Nothing.
    No,
    /// It allocates something, whatever that may be: `alloc_grid`, `tree_alloc`.
    Something,
    /// It is malloc by another name: `xmalloc`, `contextMalloc`, `my_realloc`.
    Malloc,
}

/// What the C library hands out to its callers, by the plain names; its own
/// names for them are `__GI___strdup` and `__vasprintf_internal`.
const LENT: [&str; 8] = [
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "strndup",
    "wcsdup",
    "asprintf",
    "vasprintf",
];

/// The plain name of a function of the C library that does no more than hand out
/// memory, which its caller keeps and releases.
pub fn lent(function: &str) -> Option<&'static str> {
    let name = function.strip_prefix("__GI_").unwrap_or(function);
    let name = name.trim_start_matches('_');
    let ends = ["_internal", "_chk"];
    let name = ends
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    LENT.into_iter().find(|lent| *lent == name)
}

/// Whether a function says by its name that it allocates.
pub fn allocator(function: &str) -> Allocator {
    let path = own_path(function);
    let name = path.iter().rev().find(|word| !word.starts_with(['{', '(']));
    let mut last = "";
    let mut found = Allocator::No;
    for word in words(name.copied().unwrap_or_default()) {
        let said = match last.eq_ignore_ascii_case("de") {
            true => Allocator::No,
            false => of_word(&word.to_ascii_lowercase()),
        };
        if found == Allocator::No || said == Allocator::Malloc {
            found = said;
        }
        last = word;
    }
    found
}

fn of_word(word: &str) -> Allocator {
    const MALLOC: [&str; 4] = ["malloc", "calloc", "realloc", "zalloc"];
    // `av_mallocz`
    let word = word.strip_suffix(['x', 'z']).unwrap_or(word);
    if MALLOC.iter().any(|end| word.ends_with(end)) {
        return Allocator::Malloc;
    }
    let is_one = matches!(word, "allocate" | "reallocate" | "allocator");
    match is_one || word.ends_with("alloc") && !word.ends_with("dealloc") {
        true => Allocator::Something,
        false => Allocator::No,
    }
}

/// `sqlite3DbMallocRaw` is sqlite, Db, Malloc, Raw; `HTTPAlloc` HTTP, Alloc.
fn words(name: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    let is_lower = |index: usize| letters.get(index).is_some_and(|(_, c)| c.is_lowercase());
    let mut cuts = vec![0];
    for (index, &(at, letter)) in letters.iter().enumerate() {
        let is_after_lower = index > 0 && is_lower(index - 1);
        let is_hump = letter.is_uppercase() && (is_after_lower || is_lower(index + 1));
        if is_hump || !letter.is_alphabetic() {
            cuts.push(at);
        }
    }
    cuts.push(name.len());
    let words = cuts.windows(2).map(|cut| &name[cut[0]..cut[1]]);
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphabetic()));
    words.filter(|word| !word.is_empty()).collect()
}
