//! The type of a block, where the names of its stack tell it.

/// What comes right before a type, in the names of functions that allocate for one: the
/// parameter of the template that follows is it.
const MARKS: [&str; 12] = [
    "std::__new_allocator<",
    "__gnu_cxx::new_allocator<",
    "std::allocator<",
    "std::allocator_traits<std::allocator<",
    "std::make_unique<",
    "std::make_shared<",
    "alloc::boxed::Box<",
    "alloc::sync::Arc<",
    "alloc::rc::Rc<",
    "alloc::vec::Vec<",
    "alloc::raw_vec::RawVec<",
    "hashbrown::raw::RawTable<",
];

/// What the names of libraries begin with: their functions allocate for others.
const LIBRARIES: [&str; 10] = [
    "std::",
    "__gnu_cxx::",
    "alloc::",
    "core::",
    "hashbrown::",
    "__rust",
    "__rdl_",
    "__rg_",
    "memlog_new",
    "operator new",
];

/// The type, by the innermost name that has one, up to the first function that is of no
/// library: what its callers make is another block. The names begin with
/// those of the allocator.
pub fn type_of<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<String> {
    names.find_map(|name| match of_name(name) {
        Some(found) => Some(Some(found)),
        None if starts(name).any(|rest| begins(rest, &LIBRARIES)) => None,
        None => Some(None),
    })?
}

fn begins(text: &str, all: &[&str]) -> bool {
    all.iter().any(|one| text.starts_with(one))
}

fn of_name(name: &str) -> Option<String> {
    let found = starts(name).find_map(|rest| {
        let mark = MARKS.iter().find(|mark| rest.starts_with(*mark))?;
        parameter(&rest[mark.len()..])
    });
    found.map(str::to_owned)
}

/// What is left of a name from each word on that is no parameter's: of the function
/// itself, or of the type that it returns.
fn starts(name: &str) -> impl Iterator<Item = &str> {
    // What implements a trait stands in brackets.
    let name = name.trim_start_matches('<');
    let (mut depth, mut is_start) = (0u32, true);
    name.char_indices().filter_map(move |(at, letter)| {
        let is_word = letter.is_alphanumeric() || letter == '_';
        let is_here = is_word && is_start && depth == 0;
        is_start = !is_word && letter != ':';
        match letter {
            // Operators, and the arrow of a function's type.
            '<' | '>' if name[..at].ends_with("operator") => {}
            '>' if name[..at].ends_with('-') => {}
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_here.then(|| &name[at..])
    })
}

/// The first parameter of a template whose bracket is open.
fn parameter(rest: &str) -> Option<&str> {
    let mut depth = 0u32;
    for (at, letter) in rest.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            // The arrow of a function's type closes nothing.
            '>' if rest[..at].ends_with('-') => {}
            '>' | ',' if depth == 0 => {
                let found = rest[..at].trim();
                return (!found.is_empty() && found != "_" && found != "T").then_some(found);
            }
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_name_with_a_type_tells_it() {
        let tell = |names: &[&str]| type_of(names.iter().copied());
        let cpp = "std::__new_allocator<std::pair<int const, Foo> >::allocate(unsigned long, void const*)";
        assert_eq!(
            tell(&["operator new", cpp]).as_deref(),
            Some("std::pair<int const, Foo>")
        );
        let rust = "alloc::boxed::Box<dyn core::ops::Fn(u8) -> Vec<u8>, A>::new_in";
        assert_eq!(
            tell(&[rust]).as_deref(),
            Some("dyn core::ops::Fn(u8) -> Vec<u8>")
        );
        let raw = "alloc::raw_vec::RawVec<Foo, A>::grow_one";
        assert_eq!(
            tell(&["__rdl_alloc", "alloc::alloc::alloc", raw]).as_deref(),
            Some("Foo")
        );
        let traits = "std::allocator_traits<std::allocator<char> >::allocate";
        assert_eq!(tell(&[traits]).as_deref(), Some("char"));
        assert_eq!(tell(&["alloc::vec::Vec<T,A>::push"]), None);
        assert_eq!(tell(&["main", "std::allocator<"]), None);
        assert_eq!(
            tell(&["<alloc::vec::Vec<Foo> as core::clone::Clone>::clone"]).as_deref(),
            Some("Foo")
        );
        assert_eq!(tell(&[]), None);
    }

    #[test]
    fn parameters_tell_no_type() {
        let tell = |names: &[&str]| type_of(names.iter().copied());
        let text =
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
        assert_eq!(tell(&[&format!("load({text} const&)")]), None);
        let array = format!(
            "std::_MakeUniq<Of<{text}> []>::__array std::make_unique<Of<{text}> []>(unsigned long)"
        );
        assert_eq!(tell(&[&array]), Some(format!("Of<{text}> []")));
        let operator = "bool operator< <char>(std::allocator<char> const&)";
        assert_eq!(tell(&[operator]), None);
    }

    #[test]
    fn callers_of_who_asked_make_other_blocks() {
        let tell = |names: &[&str]| type_of(names.iter().copied());
        let unique = "std::_MakeUniq<Bar>::__single_object std::make_unique<Bar>()";
        assert_eq!(
            tell(&["operator new(unsigned long)", unique]).as_deref(),
            Some("Bar")
        );
        assert_eq!(
            tell(&["operator new(unsigned long)", "Bar::Bar()", unique]),
            None
        );
        let construct = "void std::_Construct<Bar>(Bar*)";
        assert_eq!(tell(&[construct, unique]).as_deref(), Some("Bar"));
    }
}
