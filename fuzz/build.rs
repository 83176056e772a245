//! Tells the compiler of the condition under which it adds counters.
#![expect(clippy::print_stdout, reason = "how a build script talks")]

fn main() {
    println!("cargo::rustc-check-cfg=cfg(rqps_coverage)");
    println!("cargo::rerun-if-changed=build.rs");
}
