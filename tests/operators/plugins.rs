//! Plugins of C programs, each with its allocator's operators.

use super::*;

/// Builds a C program that loads two C++ plugins, RTLD_LOCAL, and those.
fn plugins(folder: &Folder, program: &str, link: &[Vec<String>; 2]) -> PathBuf {
    for (name, size, link) in [("a", "1000", &link[0]), ("b", "3000", &link[1])] {
        let mut flags: Vec<String> = ["-fPIC", "-shared", "-fno-gnu-unique"]
            .map(Into::into)
            .into();
        flags.extend([format!("-DPLUGIN={name}"), format!("-DSIZE={size}")]);
        flags.extend(link.iter().cloned());
        GXX.build(folder, "plugin.cpp", &format!("plugin_{name}.so"), &flags);
    }
    GCC.build(folder, program, "program", &["-ldl"])
}

/// How many blocks functions have asked for, by name.
fn calls(folder: &Folder, log: &Path, function: &str) -> usize {
    let dump = folder.says(&["dump".as_ref(), log.as_os_str()]);
    let is_it = |line: &&str| line.starts_with("M: ") && line.contains(function);
    dump.lines().filter(is_it).count()
}

/// What two plugins are linked with, each way in which they can differ in their
/// allocators; and whether both have one of their own, and nothing else.
fn ways_to_link(folder: &Folder) -> Vec<([Vec<String>; 2], bool)> {
    let no_runtime = ["-DNO_RUNTIME", "-Wl,--as-needed", "-fno-exceptions"];
    let own = |name: &str, more: &[&str]| {
        let library = allocator(folder, name, &no_runtime);
        let rpath = format!("-Wl,-rpath,{}", folder.root().display());
        let mut link = vec![library.display().to_string(), rpath];
        link.extend(more.iter().map(|flag| flag.to_string()));
        link
    };
    let alone = ["-DONLY_NEW", "-Wl,--as-needed", "-fno-exceptions"];
    let first = || own("libfirst.so", &[]);
    let (first_alone, second_alone) = (own("libfirst.so", &alone), own("libsecond.so", &alone));
    vec![
        ([vec![], vec![]], false),
        ([first(), vec![]], false),
        ([vec![], first()], false),
        // Nothing there ends in malloc.
        ([first_alone.clone(), second_alone], true),
        // Nothing did when the first block was made.
        ([first_alone, vec![]], false),
    ]
}

/// Their operators are found although they are for nobody else, and looked for
/// anew when a plugin with its allocator is gone.
#[test]
fn plugins_of_a_c_program() {
    if !GXX.is_here("plugins with operators") {
        return;
    }
    let folder = Folder::new("operators-plugins");
    for (link, are_own) in ways_to_link(&folder) {
        let program = plugins(&folder, "dlopen_plugin.c", &link);
        let words = ["--cxx-operators", program.to_str().expect("text"), "30"];
        let log = record(&folder, Path::new(""), &words);
        folder.holds_whole(&log);
        for function in ["a_block", "b_block"] {
            assert_eq!(calls(&folder, &log, function), 300, "{function}, {link:?}");
        }
        if are_own {
            let said = agrees_with_the_allocator(&folder, &log);
            assert_eq!(said, (600, 600), "{link:?}");
        }
    }
}

/// A block is given back to who gave it, whatever was loaded and unloaded in
/// between, and while another thread allocates.
#[test]
fn plugins_that_come_and_go_beside_one_that_stays() {
    if !GXX.is_here("plugins with operators") {
        return;
    }
    let folder = Folder::new("operators-kept");
    for (link, are_own) in ways_to_link(&folder) {
        let program = plugins(&folder, "plugins_kept.c", &link);
        for thread in ["0", "1"] {
            let program = program.to_str().expect("text");
            let words = ["--cxx-operators", program, "50", thread];
            let log = record(&folder, Path::new(""), &words);
            folder.holds_whole(&log);
            assert_eq!(calls(&folder, &log, "b_block"), 500, "{link:?}");
            assert_eq!(calls(&folder, &log, "plugin_keep"), 50, "{link:?}");
            if are_own && thread == "0" {
                // One allocator serves, as long as its plugin stays.
                let said = agrees_with_the_allocator(&folder, &log);
                assert_eq!(said, (550, 550), "{link:?}");
            }
        }
    }
}
