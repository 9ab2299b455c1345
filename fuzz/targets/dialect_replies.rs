//! Replies of every model API, whole and as chunks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::dialect_replies(data));
