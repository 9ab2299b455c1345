//! Many runs of one agent, each a sample of a task, as a trainer wants them.
//!
//! Read in this order: [`RolloutTask`] (a line of the file of tasks), [`Rollout`] (one sample on its
//! way), [`Trajectory`] (what is written of it), `graph` (how that is made of a run) with
//! `children` (of those that work for it), `convert` (the same in the shapes of trainers). Nothing here knows of other samples: whoever has many of them
//! bounds them.

mod children;
pub(crate) mod convert;
mod graph;
pub(crate) mod sample;
pub(crate) mod task;
pub(crate) mod trajectory;
