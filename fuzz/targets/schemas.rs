//! Schemas as strangers may write them, and values for them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::schemas(data));
