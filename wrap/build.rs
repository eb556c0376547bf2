//! Assembles the few words that Rust cannot say for the target.

fn main() {
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap();
    let file = format!("src/arch/{arch}.S");
    println!("cargo::rerun-if-changed={file}");
    if std::env::var("CARGO_CFG_LOOM").is_ok() {
        return;
    }
    cc::Build::new()
        .file(file)
        .warnings_into_errors(true)
        .compile("memlog_arch");
}
