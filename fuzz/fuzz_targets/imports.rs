//! Other tools' results.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rqps_fuzz::imports(input));
