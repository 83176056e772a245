//! Text of `/proc` and `/sys`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rqps_fuzz::proc(input));
