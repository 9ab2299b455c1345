//! Phrases of time, durations and rules of recurrence.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::times(data));
