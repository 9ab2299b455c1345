//! Files of settings, ours and those of other programs.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::config_file(data));
