//! The supervisor with real programs.

mod confines;
mod cycles;
mod ends;
mod errors;
mod outputs;
mod peers;
mod restarts;
mod support;
mod sweep;
