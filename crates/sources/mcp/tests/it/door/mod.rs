//! A crib at the door, and clients of all kinds in front of it.

mod asking;
mod batches;
mod consent;
#[path = "../../../examples/conformance_server/cribs.rs"]
mod cribs;
mod embedded;
mod ext_tasks;
mod extension;
#[path = "../../../examples/conformance_server/fixtures.rs"]
mod fixtures;
mod headers;
mod inspector;
mod listening;
#[path = "../../../examples/conformance_server/long.rs"]
mod long;
mod older_calls;
mod own_client;
mod pipes;
mod plain;
mod python;
mod raw;
mod relayed;
mod replicas;
mod resumed;
mod sessions;
#[path = "../../../examples/conformance_server/shelves.rs"]
mod shelves;
mod suite;
mod support;
mod tasks;
mod through;
mod twice;
mod two_ways;
mod unasked;
mod unlisted;
mod upstream_asks;
mod wire;
