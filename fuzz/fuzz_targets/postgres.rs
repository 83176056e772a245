//! What a PostgreSQL server sends.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| rqps_fuzz::postgres(input));
