//! What models, servers and disks give to embedders, as strangers may write it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::embeddings(data));
