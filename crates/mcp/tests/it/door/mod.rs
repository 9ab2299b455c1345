//! A crib at the door, and clients of all kinds in front of it.

mod asking;
mod batches;
mod consent;
mod early;
mod ext_tasks;
mod fixtures;
mod house;
mod inspector;
mod listening;
mod long;
mod own_client;
mod pipes;
mod plain;
mod python;
mod raw;
mod relayed;
mod shelves;
mod sleeping;
mod suite;
mod support;
mod tasks;
mod through;
mod two_ways;
mod unlisted;
mod upstream_asks;
mod wire;
