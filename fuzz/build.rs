//! The recorder brings its own memcmp and its kin, for it may call none of the
//! program's; libFuzzer replaces the same names. Whichever is found first will do.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-Wl,--allow-multiple-definition");
}
