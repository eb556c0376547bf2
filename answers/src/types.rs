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

/// The type, by the innermost name that has one.
pub fn type_of<'n>(names: impl Iterator<Item = &'n str>) -> Option<String> {
    names.filter_map(of_name).next()
}

fn of_name(name: &str) -> Option<String> {
    let found = MARKS.iter().filter_map(|mark| {
        let at = name.find(mark)?;
        parameter(&name[at + mark.len()..])
    });
    found.map(str::to_owned).next()
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
        let traits = "std::allocator_traits<std::allocator<char> >::allocate";
        assert_eq!(tell(&[traits]).as_deref(), Some("char"));
        assert_eq!(tell(&["alloc::vec::Vec<T,A>::push"]), None);
        assert_eq!(tell(&["main", "std::allocator<"]), None);
        assert_eq!(tell(&[]), None);
    }
}
