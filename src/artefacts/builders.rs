//! The files by which build systems find memlog: pkg-config's and CMake's.
//!
//! They name no folder: each says where the libraries are by where it lies
//! itself. So what was installed may be moved, or unpacked anywhere.

use crate::ldflags::dynamic_flags;
use crate::recorder::{ARCHIVE, static_flags};

/// A file that is made of a template.
struct Template {
    /// Below the folder of libraries.
    name: &'static str,
    text: &'static str,
    /// How that folder is spelled in it.
    libdir: &'static str,
    /// Whether the linker's words are joined as `LINKER:` takes them, which
    /// knows how each compiler hands them on.
    is_joined: bool,
}

const TEMPLATES: [Template; 4] = [
    Template {
        name: "pkgconfig/memlog.pc",
        text: include_str!("memlog.pc.in"),
        libdir: "${libdir}",
        is_joined: false,
    },
    Template {
        name: "pkgconfig/memlog-static.pc",
        text: include_str!("memlog-static.pc.in"),
        libdir: "${libdir}",
        is_joined: false,
    },
    Template {
        name: "cmake/memlog/memlog-config.cmake",
        text: include_str!("memlog-config.cmake.in"),
        libdir: "${_memlog_lib}",
        is_joined: true,
    },
    Template {
        name: "cmake/memlog/memlog-config-version.cmake",
        text: include_str!("memlog-config-version.cmake.in"),
        libdir: "",
        is_joined: true,
    },
];

/// Each file's name below the folder of libraries, and what is in it.
pub fn files() -> impl Iterator<Item = (&'static str, String)> {
    TEMPLATES.iter().map(|template| {
        let flags = [dynamic_flags, static_flags].map(|flags| {
            let flags = flags(template.libdir);
            match template.is_joined {
                true => joined(&flags),
                false => searched(&flags, template.libdir),
            }
        });
        let text = template
            .text
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@POINTER_BYTES@", &size_of::<usize>().to_string())
            .replace("@DYNAMIC@", &flags[0])
            .replace("@STATIC@", &flags[1]);
        (template.name, text)
    })
}

/// On one line, with the archive as a library of its folder: pkg-config marks
/// blanks in `-L`, but not in the name of a file.
fn searched(flags: &str, libdir: &str) -> String {
    let archive = format!("{libdir}/{}", ARCHIVE.name);
    let words = flags.split_whitespace().map(|word| match word == archive {
        true => format!("-L{libdir} -l:{}", ARCHIVE.name),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What is for the linker, with commas. Files are no options: they are left out.
fn joined(flags: &str) -> String {
    let words = flags.split_whitespace().filter_map(|word| {
        let handed_on = word.strip_prefix("-Wl,");
        handed_on.or(Some(word).filter(|word| word.starts_with("-L") || word.starts_with("-l")))
    });
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_place_is_left_empty() {
        for (name, text) in super::files() {
            assert!(!text.contains('@'), "{name}: {text}");
            assert!(text.contains(env!("CARGO_PKG_VERSION")) || name.ends_with("config.cmake"));
        }
    }

    #[test]
    fn pkg_config_names_no_file() {
        let searched = super::searched("-Wl,-u,x\n${libdir}/memlog_s.a", "${libdir}");
        assert_eq!(searched, "-Wl,-u,x -L${libdir} -l:memlog_s.a");
        let (_, text) = super::files().nth(1).expect("memlog-static.pc");
        assert!(
            text.contains("-l:memlog_s.a") && !text.contains("/memlog_s.a"),
            "{text}"
        );
    }

    #[test]
    fn linker_options_are_joined_without_the_archive() {
        let joined = super::joined("-Wl,--wrap,free -Wl,-u,x\n-L/a -lm -Wl,-z /a/memlog_s.a");
        assert_eq!(joined, "--wrap,free,-u,x,-L/a,-lm,-z");
    }
}
