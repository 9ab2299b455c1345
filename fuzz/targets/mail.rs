//! Mail of strangers, and what servers of it say.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::mail(data));
