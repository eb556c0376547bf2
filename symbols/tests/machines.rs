//! Programs for other machines: the same answers as the cross binutils give, at every instruction
//! that has a line.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::compare::Comparison;
use common::{Folder, alone, build_id, disk, spec};
use memlog_symbols::{Machine, ModuleSpec, Options, Store, Symbolizer};

/// A machine as Debian's cross compilers have it.
struct Target {
    /// What the names of the tools begin with.
    tools: &'static str,
    machine: Machine,
    instruction_bytes: usize,
}

const fn target(tools: &'static str, number: u16, is_big_endian: bool, step: usize) -> Target {
    let machine = Machine {
        number,
        is_big_endian,
        pointer_bytes: 8,
    };
    Target {
        tools,
        machine,
        instruction_bytes: step,
    }
}

/// The same of 32 bits.
const fn narrow(mut target: Target) -> Target {
    target.machine.pointer_bytes = 4;
    target
}

const POWERPC64: Target = target("powerpc64-linux-gnu-", 21, true, 4);
const POWERPC64LE: Target = target("powerpc64le-linux-gnu-", 21, false, 4);
const S390X: Target = target("s390x-linux-gnu-", 22, true, 2);
const AARCH64: Target = target("aarch64-linux-gnu-", 183, false, 4);
const RISCV64: Target = target("riscv64-linux-gnu-", 243, false, 2);
const MIPS64EL: Target = target("mips64el-linux-gnuabi64-", 8, false, 4);
const ARM: Target = narrow(target("arm-linux-gnueabihf-", 40, false, 2));
const I686: Target = narrow(target("i686-linux-gnu-", 3, false, 1));

impl Target {
    /// Whether the compiler, binutils and static libraries are here; if not, that is said.
    fn is_here(&self, folder: &Folder, compiler: &str) -> bool {
        let program = format!("{}{compiler}", self.tools);
        folder.write("empty.c", "int main(void) { return 0; }");
        let mut command = Command::new(&program);
        command.args(["-static", "-o", "/dev/null", "-x", "c"]);
        command.arg(folder.path("empty.c")).stderr(Stdio::null());
        let is_here = command.status().is_ok_and(|status| status.success());
        if !is_here {
            println!("SKIPPED {program}: it is not here, or has no static libraries");
        }
        is_here
    }

    fn tool(&self, folder: &Folder, line: &str) {
        folder.run(&format!("{}{line}", self.tools));
    }

    fn said(&self, tool: &str, words: &[&str], file: &Path) -> String {
        let mut command = Command::new(format!("{}{tool}", self.tools));
        let output = command.args(words).arg(file).output().expect(tool);
        assert!(output.status.success(), "{command:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The functions' code, once for each name. Symbols that are descriptors have the size and all
    /// names; those of the code, which `nm` makes up with a dot before, the address.
    fn functions(&self, file: &Path) -> Vec<(Range<u64>, String)> {
        let text = self.said("nm", &["-S", "--synthetic", "--defined-only"], file);
        let has_descriptors = text.contains(" T .main\n");
        let hex = |word| u64::from_str_radix(word, 16).expect("a number");
        // By name the value and size; by value the code.
        let (mut symbols, mut code) = (Vec::new(), HashMap::new());
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                [value, size, kind, name] if has_descriptors || "tTwWi".contains(kind) => {
                    symbols.push((name, hex(value), hex(size)));
                }
                [begin, "t" | "T", name] if name.starts_with('.') => {
                    code.insert(&name[1..], hex(begin));
                }
                _ => {}
            }
        }
        let described = symbols
            .iter()
            .filter_map(|&(name, value, _)| Some((value, *code.get(name)?)));
        let described: HashMap<u64, u64> = described.collect();
        let functions = symbols.into_iter().filter_map(|(name, value, size)| {
            let begin = match has_descriptors {
                true => *described.get(&value)?,
                false => value,
            };
            Some((begin..begin + size, name.to_owned()))
        });
        functions.collect()
    }

    /// Every instruction of a function that the line table has.
    fn instructions(&self, file: &Path) -> Vec<u64> {
        let table = self.said("objdump", &["--dwarf=decodedline"], file);
        let mut rows = Vec::new();
        for line in table.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            if let [_, line, address, ..] = words[..]
                && let Some(digits) = address.strip_prefix("0x")
                && let Ok(address) = u64::from_str_radix(digits, 16)
            {
                rows.push((address, line == "-"));
            }
        }
        rows.sort_unstable();
        let mut lines = Vec::new();
        for pair in rows.windows(2) {
            let ((begin, is_end), (next, _)) = (pair[0], pair[1]);
            if !is_end && next - begin < 4096 {
                lines.extend((begin..next).step_by(self.instruction_bytes));
            }
        }
        lines.dedup();
        // What fills the gap to the next function is of none.
        let functions = self.functions(file);
        lines.retain(|address| functions.iter().any(|(code, _)| code.contains(address)));
        lines
    }

    fn compare(&self, module: ModuleSpec, options: Options, reference: &Path) {
        let comparison = Comparison {
            module,
            options: Options {
                machine: Some(self.machine),
                ..options
            },
            reference,
            tools: self.tools,
        };
        let inlined = comparison.judge(&self.instructions(reference), 30);
        assert!(inlined >= 10, "only {inlined} with inlined functions");
    }

    /// One program, and the same in two files: what is stripped and what tells its names.
    fn check(&self, compiler: &str, source: &str, flags: &str) {
        let folder = Folder::new();
        if !self.is_here(&folder, compiler) {
            return;
        }
        folder.write("victim.c", programs::C);
        folder.write("victim.cc", programs::CPP);
        let build = format!("{compiler} {flags} -Wl,--build-id {source}");
        // Binutils mistakes files in version 5: the same code in version 4 is the oracle.
        self.tool(&folder, &format!("{build} -gdwarf-4 -o whole"));
        self.tool(&folder, &format!("{build} -gdwarf-5 -o victim"));
        let (whole, victim) = (folder.path("whole"), folder.path("victim"));
        assert_eq!(self.instructions(&whole), self.instructions(&victim));
        self.compare(spec(&whole), alone(), &whole);
        self.compare(spec(&victim), alone(), &whole);
        self.names_without_lines(&victim);

        self.tool(&folder, "objcopy --only-keep-debug victim victim.debug");
        self.tool(
            &folder,
            "objcopy --strip-all --add-gnu-debuglink=victim.debug victim stripped",
        );
        self.compare(spec(&folder.path("stripped")), alone(), &whole);
        let gone = ModuleSpec {
            path: b"/gone/victim".to_vec(),
            build_id: build_id(&victim),
        };
        let given = |files: &[PathBuf]| Options {
            debug_files: files.to_vec(),
            ..alone()
        };
        let (stripped, debug) = (folder.path("stripped"), folder.path("victim.debug"));
        self.compare(gone.clone(), given(&[stripped, debug.clone()]), &whole);
        self.compare(gone, given(&[debug]), &whole);
        std::fs::remove_file(folder.path("victim.debug")).expect("remove");

        // Split: what the linker never saw. For RISC-V all distances in code are the linker's, and
        // gcc's half without him has zeros in their place.
        if self.machine == RISCV64.machine {
            return;
        }
        let object = build.replace("-static", "") + " -gdwarf-5 -gsplit-dwarf -c -o split.o";
        self.tool(&folder, &object);
        self.tool(&folder, &format!("{compiler} {flags} -o split split.o"));
        self.compare(spec(&folder.path("split")), alone(), &whole);
    }

    /// The C library in the program has symbols alone: what begins at a function's code has one of
    /// the names that the linker gave it.
    fn names_without_lines(&self, file: &Path) {
        let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for (code, name) in self.functions(file) {
            names.entry(code.start).or_default().push(name);
        }
        let store = Store::new();
        let mut symbols = Symbolizer::new(&store, disk, alone());
        let module = symbols.add_module(&spec(file));
        let mut compared = 0;
        for (&address, names) in &names {
            let found = symbols.lookup(module, address).frames.pop();
            let found = found.and_then(|frame| frame.raw_name);
            match found.filter(|found| names.iter().any(|name| **name == **found)) {
                Some(_) => compared += 1,
                None => println!("{address:#x}: not one of {names:?}"),
            }
        }
        println!("{compared} of {} symbols agree", names.len());
        assert!(compared > 500 && compared * 100 >= names.len() * 99);
    }
}

#[test]
fn powerpc64() {
    POWERPC64.check("gcc", "victim.c", "-O2 -static");
    POWERPC64.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn powerpc64le() {
    POWERPC64LE.check("gcc", "victim.c", "-O2 -static");
    POWERPC64LE.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn s390x() {
    S390X.check("gcc", "victim.c", "-O2 -static");
    S390X.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn aarch64() {
    AARCH64.check("gcc", "victim.c", "-O2 -static");
    AARCH64.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn riscv64() {
    RISCV64.check("gcc", "victim.c", "-O2 -static");
    RISCV64.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn mips64el() {
    MIPS64EL.check("gcc", "victim.c", "-O2 -static");
    MIPS64EL.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn i686() {
    I686.check("gcc", "victim.c", "-O2 -static");
    I686.check("g++", "victim.cc", "-O2 -static");
}

#[test]
fn arm() {
    ARM.check("gcc", "victim.c", "-O2 -static");
    ARM.check("g++", "victim.cc", "-O2 -static");
}
