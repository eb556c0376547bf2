//! Assembles the few words that Rust cannot say for the target.

/// Set, by `ci/sanitize`, for a program that links this library itself and is
/// to be recorded: the doors of the static shape come along.
const WITH_DOORS: &str = "MEMLOG_WITH_DOORS";

/// Which kernel the recorder is for: linux, or cnk, Blue Gene's. It is never
/// asked of the kernel that it runs under, which may be an emulator's.
const PLATFORM: &str = "MEMLOG_PLATFORM";

#[path = "build/doors.rs"]
mod doors;
#[path = "build/names.rs"]
mod names;
#[path = "build/table.rs"]
mod table;

fn main() {
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap();
    let file = format!("src/platform/arch/{arch}.S");
    println!("cargo::rerun-if-changed=src/platform/arch");
    println!("cargo::rerun-if-env-changed={PLATFORM}");
    println!("cargo::rerun-if-env-changed=MEMLOG_CNK_MIB");
    println!("cargo::rustc-check-cfg=cfg(memlog_cnk)");
    names::write();
    let mut assembly = cc::Build::new();
    match std::env::var(PLATFORM).as_deref() {
        Ok("cnk") => {
            println!("cargo::rerun-if-changed=src/platform/sys/cnk/functions.S");
            println!("cargo::rustc-cfg=memlog_cnk");
            assembly.file("src/platform/sys/cnk/functions.S");
        }
        Ok("linux" | "") | Err(_) => {}
        Ok(other) => panic!("{PLATFORM} is linux or cnk, not {other}"),
    }
    assembly
        .file(file)
        .file("src/platform/arch/linked.S")
        .warnings_into_errors(true)
        .compile("memlog_arch");
    println!("cargo::rerun-if-env-changed={WITH_DOORS}");
    println!("cargo::rustc-check-cfg=cfg(memlog_with_doors)");
    if std::env::var_os(WITH_DOORS).is_some() {
        let table = doors::doors();
        let core: Vec<_> = table.iter().filter(|door| door.core).collect();
        doors::archive("memlog_doors", &core, true);
        println!("cargo::rustc-cfg=memlog_with_doors");
    }
}
