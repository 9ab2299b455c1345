//! A crib at the door, and clients of all kinds in front of it.

mod asking;
mod fixtures;
mod house;
mod inspector;
mod own_client;
mod pipes;
mod plain;
mod python;
mod raw;
mod shelves;
mod suite;
mod support;
mod through;
mod upstream_asks;
mod wire;
