//! The search through its door.

mod answers;
mod anything;
mod facets;
mod sample;
mod vectors;
