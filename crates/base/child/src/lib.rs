//! The one place that spawns programs: cleared environment, bounded, killed with all they spawned.
//!
//! Read in this order: [`Program`] (what is started, and with what), [`Child`] (a running program),
//! [`Restarts`] (when a program that ended may start again), [`sweep`] (what a dead instance of
//! ours left behind).
//!
//! # What every program gets
//!
//! - No shell: the command is an absolute path or a name that is looked up in the `PATH` it was
//!   given, and each argument arrives as it was written.
//! - An environment that holds what it was given and nothing else, a folder of its own, no open
//!   file but its three pipes, no way to gain privileges, no core dump, bounded files.
//! - A session of its own; it is killed when it is stopped, when its [`Child`] is dropped, and when
//!   we die.
//!
//! # What this does to the process around it
//!
//! On Linux the first start makes this process the *subreaper* of all its descendants: whatever
//! loses its parent becomes our child, so that a program which hides behind a double fork is still
//! found.
//! That holds for descendants which the host started by other means, too; they are left alone, and
//! only what carries our mark is waited for.
//! The mark is a resource limit that no ordinary program uses (the processor time of a real-time
//! thread, in the range of millennia): children inherit it, nobody can raise it without privilege,
//! and even a zombie still shows it.
//!
//! # What this is not
//!
//! A sandbox. A program can read what its user can read, and one that sets out to escape (it lowers
//! the marking limit in a session of its own) can outlive us.
//! There is no limit on the number of processes: the kernel counts that limit over all processes of
//! a user, so that it would hit the host, and does not hold it against root at all.
//!
//! # Outside Linux
//!
//! Stopping kills the process group, so a descendant in a session of its own survives; nothing
//! kills the programs of a host that was itself killed, and [`sweep`] finds nothing.

#![cfg(unix)]

mod before_exec;
mod child;
mod error;
mod find;
mod orphans;
mod process_tree;
mod program;
mod restarts;
mod scratch;
mod stderr;
mod supervisor;
mod tag;

pub use child::Child;
pub use child::exit::Exit;
pub use error::SpawnError;
pub use orphans::sweep;
pub use program::{INHERITED, Program, ProgramLimits};
pub use restarts::{Permit, RestartBounds, Restarts};
pub use stderr::{StderrLine, StderrTail};
pub use supervisor::{ExitWatcher, wait_for_all};
// What `Child::take_pipes` hands out.
pub use tokio::process::{ChildStdin, ChildStdout};
