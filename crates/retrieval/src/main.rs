//! How well tools are found, on labelled sets, beside plain searches in the same run.

fn main() {}
