//! What clients send to the door and what servers answer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::mcp_messages(data));
