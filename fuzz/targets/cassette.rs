//! Runs of agents out of a file, read, written and played.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::cassette(data));
