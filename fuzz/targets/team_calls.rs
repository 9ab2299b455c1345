//! Calls by which a model gives work to those who work for it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::team_calls(data));
