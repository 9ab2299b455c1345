//! What agents of toolcrib tell one another in `metadata`, where the protocol has no field for it.

pub mod evidence;
pub mod forced;
pub mod hops;
