//! Answers of Google's as a liar may write them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::google_answer(data));
