//! What stays where all names are hidden: what every program has. Trees are cut and joined
//! by it. All else may be the user's: what only looks like it gets a number amid what it is
//! told by.

use memlog_analysis::{is_c_library, is_of_library};
use memlog_export::is_part_of_allocator;
use memlog_pack::{Public, Shown};

/// What every program has.
pub const PUBLIC: Public = Public {
    function,
    source,
    module,
};

fn function(name: &[u8]) -> Shown {
    const STARTS: [&str; 7] = [
        "main",
        "exit",
        "_init",
        "_fini",
        "generic_start_main",
        "_start_c",
        "thread_start",
    ];
    let name = String::from_utf8_lossy(name);
    if is_part_of_allocator(&name) {
        return allocator(&name);
    }
    let is_usual = is_of_library(&name, None, None) && !name.contains([':', '(', '<', ' ']);
    match is_usual || STARTS.contains(&&*name) {
        true => Shown::All,
        false => Shown::Nothing,
    }
}

/// Of an allocator's function its arguments may be the user's, or it may be his own.
fn allocator(name: &str) -> Shown {
    const OPERATORS: [(&str, Shown); 2] = [
        ("operator new[](", Shown::Amid("operator new[](", ")")),
        ("operator new(", Shown::Amid("operator new(", ")")),
    ];
    const ARGUMENTS: [&str; 6] = [
        "unsigned long",
        "unsigned int",
        "unsigned long long",
        "std::align_val_t",
        "std::nothrow_t const&",
        "std::nothrow_t&",
    ];
    const OF_RUST: [&str; 8] = [
        "alloc",
        "alloc_zeroed",
        "dealloc",
        "realloc",
        "alloc_error_handler",
        "alloc_error_handler_should_panic",
        "no_alloc_shim_is_unstable",
        "no_alloc_shim_is_unstable_v2",
    ];
    const BEFORE: [&str; 6] = [
        "__rust_",
        "__rdl_",
        "__rg_",
        "__rustc::__rust_",
        "__rustc::__rdl_",
        "__rustc::__rg_",
    ];
    if matches!(name, "operator new" | "operator new[]" | "memlog_new") {
        return Shown::All;
    }
    for (start, amid) in OPERATORS {
        if let Some(rest) = name.strip_prefix(start) {
            let all = rest.strip_suffix(')');
            let is_usual = |all: &str| all.split(", ").all(|one| ARGUMENTS.contains(&one));
            return match all.is_some_and(is_usual) {
                true => Shown::All,
                false => amid,
            };
        }
    }
    let own = BEFORE.iter().find_map(|start| name.strip_prefix(start));
    let is_public = match own {
        Some(own) => OF_RUST.contains(&own),
        None => !name.contains(['<', '{', ' ', '(']),
    };
    match is_public {
        true => Shown::All,
        false => Shown::Amid("alloc::alloc::", ""),
    }
}

/// Sources of the languages' libraries, where a compiler installs them or says that they lie.
/// Whoever builds such a library himself has them in folders of his own.
fn source(path: &[u8]) -> Shown {
    let path = String::from_utf8_lossy(path);
    if !is_of_library("x", Some(&path), None) {
        return Shown::Nothing;
    }
    let is_installed = || {
        let rest = path.strip_prefix("/usr/include/")?;
        let rest = match rest.split_once('/') {
            Some((target, rest)) if target.ends_with("-linux-gnu") => rest,
            _ => rest,
        };
        let rest = rest.strip_prefix("c++/")?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then_some(())
    };
    let is_of_rustc = || {
        let (hash, rest) = path.strip_prefix("/rustc/")?.split_once('/')?;
        let is_hash = hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hash && rest.starts_with("library/")).then_some(())
    };
    let starts = ["/rust/deps/", "library/alloc/src/", "library/std/src/"];
    let is_public = starts.iter().any(|start| path.starts_with(start))
        || is_installed().is_some()
        || is_of_rustc().is_some();
    match (is_public && !path.contains("/../"), path.contains("/c++/")) {
        (true, _) => Shown::All,
        (false, true) => Shown::Amid("/usr/include/c++/0/", ""),
        (false, false) => Shown::Amid("/rust/deps/", ""),
    }
}

fn module(name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name);
    is_of_library("x", None, Some(&name)) || is_c_library("x", Some(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of a name, with `#` for a number.
    fn told(shown: Shown, name: &str) -> String {
        match shown {
            Shown::All => name.to_owned(),
            Shown::Nothing => "#".to_owned(),
            Shown::Amid(start, end) => format!("{start}#{end}"),
        }
    }

    #[test]
    fn only_what_every_program_has_is_public() {
        for (name, expected) in [
            ("main", "main"),
            ("operator new(unsigned long)", "operator new(unsigned long)"),
            (
                "operator new[](unsigned long, std::align_val_t, std::nothrow_t const&)",
                "operator new[](unsigned long, std::align_val_t, std::nothrow_t const&)",
            ),
            ("operator new(unsigned long, Secret&)", "operator new(#)"),
            (
                "operator new[](unsigned long, a::B<c>)",
                "operator new[](#)",
            ),
            ("__rust_alloc", "__rust_alloc"),
            ("__rustc::__rust_realloc", "__rustc::__rust_realloc"),
            ("__rust_secret", "alloc::alloc::#"),
            (
                "alloc::alloc::exchange_malloc",
                "alloc::alloc::exchange_malloc",
            ),
            ("alloc::raw_vec::RawVec<Secret>::grow", "alloc::alloc::#"),
            ("Secret::operator new(unsigned long)", "#"),
            ("std::vector<Secret>::push_back", "#"),
            ("__libc_start_main", "__libc_start_main"),
            ("rust_secret", "#"),
        ] {
            assert_eq!(told(function(name.as_bytes()), name), expected);
        }
    }

    #[test]
    fn folders_of_builds_are_not_public() {
        let rustc = format!("/rustc/{}/library/alloc/src/vec/mod.rs", "0f".repeat(20));
        for (path, expected) in [
            ("/usr/include/c++/12/vector", "/usr/include/c++/12/vector"),
            (
                "/usr/include/x86_64-linux-gnu/c++/12/bits/c++config.h",
                "/usr/include/x86_64-linux-gnu/c++/12/bits/c++config.h",
            ),
            (&rustc, &rustc),
            ("library/std/src/io/mod.rs", "library/std/src/io/mod.rs"),
            ("/rustc/secret/library/x.rs", "/rust/deps/#"),
            (
                "/build/secret/include/c++/12/vector",
                "/usr/include/c++/0/#",
            ),
            (
                "/usr/include/c++/12/../../../../home/al/x",
                "/usr/include/c++/0/#",
            ),
            ("/build/secret/libstdc++-v3/src/x.cc", "/rust/deps/#"),
            (
                "/home/al/.rustup/lib/rustlib/src/rust/library/a.rs",
                "/rust/deps/#",
            ),
            ("/usr/lib/secret/x.c", "#"),
            ("/home/al/secret.c", "#"),
        ] {
            assert_eq!(told(source(path.as_bytes()), path), expected);
            if expected != "#" {
                assert!(is_of_library("x", Some(expected), None), "{expected}");
            }
        }
    }
}
