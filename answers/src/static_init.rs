//! Static initialisers: what runs before main, or when a library is loaded, to make the
//! global objects of C++, and constructors of C.

use memlog_analysis::{END, Name, is_c_library, nameless_in};

use crate::place::module_of;
use crate::world::World;

/// Functions that compilers make for it.
const MADE: [&str; 4] = [
    "_GLOBAL__sub_I_",
    "_GLOBAL__I_",
    "__static_initialization_and_destruction_0",
    "__cxx_global_var_init",
];
/// Functions that call them all: of glibc, of musl, of old compilers.
const CALLERS: [&str; 7] = [
    "call_init",
    "_dl_init",
    "__libc_csu_init",
    "__libc_start_init",
    "libc_start_init",
    "do_init_fini",
    "__do_global_ctors_aux",
];
/// It calls them as well, and main.
const START: &str = "__libc_start_main";
/// glibc's dynamic linker. Besides them it calls destructors.
const LINKERS: [&str; 4] = ["ld-linux", "ld64.so", "ld.so", "ld-2."];
const FINI: &str = "_dl_fini";

/// By line the first outwards that is in a static initialiser: with the place of the
/// variable, where the compiler says it. [`END`] where there is none.
pub(crate) fn initialisers(world: &World) -> Vec<u32> {
    let mut first: Vec<u32> = Vec::with_capacity(world.lines.len());
    for (line, own) in (0u32..).zip(&world.lines) {
        let outer = first.get(own.callers as usize).copied().unwrap_or(END);
        first.push(match line != END && is_one(world, line, own.callers) {
            true => line,
            false => outer,
        });
    }
    first
}

/// By the number of a stack what its static initialiser is called, with the place of the
/// variable where that is known; nothing where there is none.
pub fn static_inits<'w>(world: &'w World) -> Vec<Option<&'w Name>> {
    let lines = initialisers(world);
    let line = |whole: u32| lines.get(whole as usize).copied().unwrap_or(END);
    let stacks = world.stacks.iter();
    stacks
        .map(|stack| world.names.get(world.label(line(stack.whole))? as usize))
        .collect()
}

fn is_one(world: &World, line: u32, callers: u32) -> bool {
    let name_of = |line: u32| world.names.get(world.label(line)? as usize);
    let Some(own) = name_of(line) else {
        return false;
    };
    if MADE.iter().any(|made| own.function.starts_with(made)) {
        return true;
    }
    let outer = world.lines.get(callers as usize);
    let outer = outer.and_then(|line| name_of(line.callers));
    name_of(callers).is_some_and(|caller| is_users(own) && calls(caller, outer, own))
}

/// Whether it is neither main nor of the C library: that begins its own names so.
fn is_users(own: &Name) -> bool {
    let function = own.function.as_str();
    !is_system(own)
        && function != "main"
        && !function.starts_with('_')
        && !CALLERS.contains(&function)
}

/// Whether who called a function calls static initialisers. Without names of its own
/// inner functions a C library is known by what it was called by.
fn calls(caller: &Name, outer: Option<&Name>, own: &Name) -> bool {
    let function = caller.function.as_str();
    let is_named = |name: &Name| nameless_in(&name.function).is_none();
    let is_start = |name: &Name| name.function.starts_with(START);
    CALLERS.contains(&function)
        || module_of(caller).is_some_and(is_linker) && function != FINI
        || is_named(own) && is_start(caller)
        || is_named(own) && !is_named(caller) && is_system(caller) && outer.is_some_and(is_start)
}

/// Whether it lies in the C library or the loader.
fn is_system(name: &Name) -> bool {
    is_c_library(&name.function, name.module.as_deref())
}

fn is_linker(module: &str) -> bool {
    LINKERS.iter().any(|name| module.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        let (function, module) = text.split_once(" in ").unwrap_or((text, ""));
        Name {
            function: function.to_owned(),
            location: None,
            module: (!module.is_empty()).then(|| module.to_owned()),
        }
    }

    /// Libraries have names of what they export, and no others.
    #[test]
    fn callers_are_known_without_their_names() {
        for (own, caller, outer, expected) in [
            (
                "setup in a",
                "call_init in libc.so.6",
                "__libc_start_main",
                true,
            ),
            ("setup in a", "ld-linux-x86-64.so.2+0x47de", "", true),
            ("b.so+0x10", "ld-linux-x86-64.so.2+0x47de", "", true),
            ("setup in a", "_dl_fini in ld-linux-x86-64.so.2", "", false),
            (
                "setup in a",
                "__libc_start_main in libc-2.31.so",
                "_start",
                true,
            ),
            (
                "setup in a",
                "libc.so.6+0x27000",
                "__libc_start_main_impl",
                true,
            ),
            (
                "main in a",
                "libc.so.6+0x27000",
                "__libc_start_main_impl",
                false,
            ),
            (
                "main in a",
                "__libc_start_main in libc-2.31.so",
                "_start",
                false,
            ),
            // A program without names: it may be main.
            (
                "a+0x1139",
                "__libc_start_main in libc-2.31.so",
                "_start",
                false,
            ),
            (
                "a+0x1139",
                "libc.so.6+0x27000",
                "__libc_start_main_impl",
                false,
            ),
            // What dlopen is made of goes from one to the other as well.
            (
                "libc.so.6+0x8400",
                "_dl_catch_exception in ld-linux-x86-64.so.2",
                "",
                false,
            ),
            (
                "work in a",
                "libc.so.6+0x8400",
                "clone3 in libc.so.6",
                false,
            ),
            // musl's loader is the C library, and calls main and threads.
            ("work in a", "ld-musl-x86_64.so.1+0x5000", "", false),
            (
                "setup in a",
                "libc_start_init in ld-musl-x86_64.so.1",
                "",
                true,
            ),
        ] {
            let (own, caller, outer) = (name(own), name(caller), name(outer));
            let found = is_users(&own) && calls(&caller, Some(&outer), &own);
            assert_eq!(found, expected, "{own:?} {caller:?}");
        }
    }
}
