//! Arguments of any kind for operations with parameters of every style.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::openapi_request(data));
