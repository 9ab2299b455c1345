//! What is set between fork and exec: session, limits, closed files, death with us.
//!
//! Only system calls are allowed here: another thread may have held any lock at the fork, so
//! nothing may allocate, lock or panic.
#![expect(unsafe_code, reason = "code between fork and exec, and file numbers without an owner")]

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::fs::Mode;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};

use crate::program::ProgramLimits;
use crate::tag::ProgramTag;

/// What the new process sets for itself before it becomes the program.
#[derive(Clone, Copy)]
pub(crate) struct ExecSetup {
    pub(crate) limits: ProgramLimits,
    pub(crate) tag: Option<ProgramTag>,
}

/// Makes a command follow the orders when it is spawned.
///
/// The program dies with the thread that spawns it, so that thread must live as long.
pub(crate) fn harden(command: &mut Command, orders: ExecSetup) {
    let parent = rustix::process::getpid();
    // SAFETY: `obey` makes system calls through `rustix`, which passes them on without allocating
    // or locking, and works on numbers and on a buffer of its own stack.
    unsafe { command.pre_exec(move || obey(orders, parent).map_err(io::Error::from)) };
}

fn obey(orders: ExecSetup, parent: rustix::process::Pid) -> Result<(), Errno> {
    setsid()?;
    umask(Mode::RWXG | Mode::RWXO);
    let ProgramLimits { open_files, file_size, address_space, stderr: _ } = orders.limits;
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, file_size)?;
    if let Some(bytes) = address_space {
        lower(Resource::As, bytes)?;
    }
    close_all_on_exec();
    lower(Resource::Nofile, open_files)?;
    #[cfg(target_os = "linux")]
    on_linux(orders.tag, parent)?;
    #[cfg(not(target_os = "linux"))]
    let _ = (orders.tag, parent);
    Ok(())
}

#[cfg(target_os = "linux")]
fn on_linux(tag: Option<ProgramTag>, parent: rustix::process::Pid) -> Result<(), Errno> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    if let Some(tag) = tag {
        lower(Resource::Rttime, tag.value())?;
    }
    rustix::thread::set_no_new_privs(true)?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // A parent that died before the line above sends no signal any more.
    if getppid() == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
}

/// Sets both halves of a limit; one that is lower already stays.
fn lower(resource: Resource, wanted: u64) -> Result<(), Errno> {
    let value = getrlimit(resource).maximum.map_or(wanted, |highest| highest.min(wanted));
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
}

/// What a library opened without `O_CLOEXEC` must not reach the program; 0 to 2 are its pipes.
///
/// Files are marked and not closed: the standard library reports a failed exec through one.
fn close_all_on_exec() {
    if close_open_ones_on_exec().is_err() {
        let highest = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX).min(1 << 16);
        for number in 3..i32::try_from(highest).unwrap_or(i32::MAX) {
            close_on_exec(number);
        }
    }
}

#[cfg(target_os = "linux")]
fn close_open_ones_on_exec() -> Result<(), Errno> {
    use rustix::fs::{OFlags, RawDir, open};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = open(c"/proc/self/fd", flags, Mode::empty())?;
    let mut space = [const { std::mem::MaybeUninit::<u8>::uninit() }; 4096];
    let mut entries = RawDir::new(&folder, &mut space);
    while let Some(entry) = entries.next() {
        // Also met here are `.` and `..`, which are no numbers.
        if let Ok(Ok(number)) = entry?.file_name().to_str().map(str::parse::<i32>) {
            close_on_exec(number);
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn close_open_ones_on_exec() -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

fn close_on_exec(number: i32) {
    if number > 2 {
        // SAFETY: the number is used for one call that leaves the file as it is; if it names no
        // open file, the call fails and nothing is lost.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = fcntl_setfd(file, FdFlags::CLOEXEC);
    }
}
