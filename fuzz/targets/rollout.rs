//! Lines of tasks and of trajectories, and the tokens of engines.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolcrib_testkit::fuzz::rollout(data));
