//! Cards and events of remote agents as strangers may write them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::a2a_agent(data));
