//! Tells the compiler of the condition under which it adds counters.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(rqps_coverage)");
    println!("cargo::rerun-if-changed=build.rs");
}
