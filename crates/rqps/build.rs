//! Exports Lua's C API from the program: modules in C that scripts of `rqps sysbench` load find it there.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for symbols in ["lua_*", "luaL_*"] {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={symbols}");
    }
}
