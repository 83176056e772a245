//! What perf prints.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rqps_fuzz::perf(input));
