//! Assembles the few words that Rust cannot say for the target.

fn main() {
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap();
    let file = format!("src/arch/{arch}.S");
    println!("cargo::rerun-if-changed={file}");
    println!("cargo::rerun-if-env-changed=MEMLOG_CNK");
    println!("cargo::rustc-check-cfg=cfg(memlog_cnk)");
    if std::env::var_os("MEMLOG_CNK").is_some() {
        println!("cargo::rustc-cfg=memlog_cnk");
    }
    if std::env::var("CARGO_CFG_LOOM").is_ok() {
        return;
    }
    cc::Build::new()
        .file(file)
        .warnings_into_errors(true)
        .compile("memlog_arch");
}
