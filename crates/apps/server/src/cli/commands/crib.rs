//! The commands that open the crib in this process and work on its tools.
pub(crate) mod call;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod effects;
pub(crate) mod lock;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod select;
pub(crate) mod tools;
pub(crate) mod toolsets;
