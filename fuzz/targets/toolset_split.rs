//! What a model answers that is asked to group tools, as it may write it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::toolset_split(data));
