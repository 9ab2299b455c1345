//! Calls that models write into their words, in every form and however the answer is cut.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::text_calls(data));
