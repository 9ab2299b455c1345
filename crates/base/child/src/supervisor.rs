//! A thread for each program: it spawns it, waits for it, and clears up after it.
//!
//! The kernel ties the death of a program to the thread that spawned it, so that thread must live
//! as long; and one that hangs (a program on a dead network disk) holds up no other.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use tokio::sync::{oneshot, watch};

use crate::before_exec::{ExecSetup, harden};
use crate::child::exit::Exit;
use crate::error::SpawnError;
use crate::program::Program;
use crate::scratch::ScratchFolder;
use crate::tag::ProgramTag;
use crate::{find, process_tree};

/// The keeper calls only a few functions of the standard library deep.
const STACK: usize = 256 << 10;

/// A program that was just spawned.
pub(crate) struct SpawnedProgram {
    pub(crate) stdin: std::process::ChildStdin,
    pub(crate) stdout: std::process::ChildStdout,
    pub(crate) stderr: std::process::ChildStderr,
    pub(crate) leash: KillOnDrop,
}

/// The holder's side of a keeper; dropped, the program is killed.
pub(crate) struct KillOnDrop(ExitWatcher);

/// The end of a program, for whoever waits for it and does not hold it.
#[derive(Clone)]
pub struct ExitWatcher {
    shared: Arc<SupervisedProcess>,
    stage: watch::Receiver<ProgramStage>,
}

struct SupervisedProcess {
    id: Pid,
    state: Mutex<SupervisorState>,
    changed: Condvar,
}

#[derive(Default)]
struct SupervisorState {
    /// From here on the process id may mean somebody else.
    is_reaped: bool,
    is_to_finish: bool,
}

#[derive(Clone, Copy)]
enum ProgramStage {
    Running,
    Ended(Exit),
    /// No descendant is left either.
    Gone(Exit),
}

/// How many keepers there are, and a bell for when one has gone.
static KEEPERS: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// Counts as a keeper while it lives.
struct SupervisorCount;

impl SupervisorCount {
    fn begin() -> Self {
        *KEEPERS.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Self
    }
}

impl Drop for SupervisorCount {
    fn drop(&mut self) {
        *KEEPERS.0.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        KEEPERS.1.notify_all();
    }
}

/// Holds the thread until every program of this process, and all that it started, is gone: for the
/// last moment of a process that has let go of them. `false`: some are left after this time, and
/// the next [`sweep`](crate::sweep()) finds them.
pub fn wait_for_all(within: Duration) -> bool {
    let keepers = KEEPERS.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = KEEPERS.1.wait_timeout_while(keepers, within, |keepers| *keepers > 0);
    waited.map_or(0, |(keepers, _)| *keepers) == 0
}

/// Spawns a program on a thread of its own.
pub(crate) async fn start(program: Program) -> Result<SpawnedProgram, SpawnError> {
    let command = program.name();
    let failed = move |source| SpawnError::Start { command: command.clone(), source };
    let (reply, started) = oneshot::channel();
    let on_duty = SupervisorCount::begin();
    thread::Builder::new()
        .name("toolcrib-child".to_owned())
        .stack_size(STACK)
        .spawn(move || {
            let _on_duty = on_duty;
            keep(&program, reply);
        })
        .map_err(&failed)?;
    started.await.unwrap_or_else(|_| Err(failed(io::Error::other("its keeper ended"))))
}

/// The whole life of a program, on its own thread.
fn keep(program: &Program, reply: oneshot::Sender<Result<SpawnedProgram, SpawnError>>) {
    process_tree::begin();
    let tag = ProgramTag::next();
    let scratch;
    let stage;
    let shared;
    match spawn(program, tag) {
        Ok((started, own_scratch, own_stage)) => {
            shared = Arc::clone(&started.leash.0.shared);
            scratch = own_scratch;
            stage = own_stage;
            // Nobody waits any more: the leash in the reply is dropped, and the program killed.
            drop(reply.send(Ok(started)));
        }
        Err(error) => {
            drop(reply.send(Err(error)));
            return;
        }
    }
    let exit = shared.wait();
    stage.send_replace(ProgramStage::Ended(exit));
    shared.wait_for_finish();
    process_tree::kill(tag);
    drop(scratch);
    stage.send_replace(ProgramStage::Gone(exit));
}

type SpawnedParts = (SpawnedProgram, Option<ScratchFolder>, watch::Sender<ProgramStage>);

fn spawn(program: &Program, tag: Option<ProgramTag>) -> Result<SpawnedParts, SpawnError> {
    program.check()?;
    let variables = program.variables();
    let file = find::find(&program.command, variables.get("PATH").map(String::as_str))?;
    let (folder, scratch) = working_folder(program, variables.get("TMPDIR").map(String::as_str))?;
    #[expect(clippy::disallowed_methods, reason = "this is the one spawner")]
    let mut command = Command::new(file);
    command
        .args(&program.arguments)
        .env_clear()
        .envs(&variables)
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    harden(&mut command, ExecSetup { limits: program.limits, tag });
    let failed = |source| SpawnError::Start { command: program.name(), source };
    let mut child = command.spawn().map_err(failed)?;
    let (id, pipes) = (child.id(), (child.stdin.take(), child.stdout.take(), child.stderr.take()));
    let id = i32::try_from(id).ok().and_then(Pid::from_raw);
    let (Some(id), (Some(stdin), Some(stdout), Some(stderr))) = (id, pipes) else {
        return Err(failed(io::Error::other("it has no pipes")));
    };
    let shared = SupervisedProcess { id, state: Mutex::default(), changed: Condvar::new() };
    let (sender, stage) = watch::channel(ProgramStage::Running);
    let leash = KillOnDrop(ExitWatcher { shared: Arc::new(shared), stage });
    Ok((SpawnedProgram { stdin, stdout, stderr, leash }, scratch, sender))
}

/// The folder to run in, and what removes it at the end if it is ours.
fn working_folder(
    program: &Program,
    temporary: Option<&str>,
) -> Result<(PathBuf, Option<ScratchFolder>), SpawnError> {
    let failed = |(folder, source)| SpawnError::Folder { command: program.name(), folder, source };
    let Some(folder) = &program.folder else {
        let scratch = ScratchFolder::new(temporary).map_err(failed)?;
        return Ok((scratch.path().to_path_buf(), Some(scratch)));
    };
    // Asked here, because a failed start does not tell the folder from the program.
    std::fs::read_dir(folder).map_err(|source| failed((folder.clone(), source)))?;
    Ok((folder.clone(), None))
}

impl SupervisedProcess {
    fn state(&self) -> MutexGuard<'_, SupervisorState> {
        // The state is two flags: a panic elsewhere cannot have left it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end and reaps.
    fn wait(&self) -> Exit {
        let wait = |options| loop {
            match waitid(WaitId::Pid(self.id), WaitIdOptions::EXITED | options) {
                Err(Errno::INTR) => {}
                other => break other.ok().flatten(),
            }
        };
        // A zombie keeps its id, so that until the lock is taken a signal meets nobody else.
        wait(WaitIdOptions::NOWAIT);
        let mut state = self.state();
        if cfg!(not(target_os = "linux")) {
            // Nothing else will find what is left in the group.
            let _ = kill_process_group(self.id, Signal::KILL);
        }
        let status = wait(WaitIdOptions::NOHANG);
        state.is_reaped = true;
        status.map(|status| exit_of(&status)).unwrap_or_default()
    }

    fn wait_for_finish(&self) {
        let state = self.state();
        let _state = self
            .changed
            .wait_while(state, |state| !state.is_to_finish)
            .unwrap_or_else(PoisonError::into_inner);
    }

    fn signal(&self, signal: Signal) {
        if !self.state().is_reaped {
            let _ = kill_process_group(self.id, signal);
        }
    }
}

impl KillOnDrop {
    pub(crate) fn id(&self) -> u32 {
        self.0.shared.id.as_raw_nonzero().get().unsigned_abs()
    }

    /// Sends a signal to the group, while its leader lives.
    pub(crate) fn signal(&self, signal: Signal) {
        self.0.shared.signal(signal);
    }

    /// Kills the group at once, and has the keeper kill what else is left.
    pub(crate) fn finish(&self) {
        self.0.finish();
    }

    pub(crate) fn ending(&self) -> &ExitWatcher {
        &self.0
    }

    pub(crate) async fn gone(&self) -> Exit {
        self.0
            .reached(|stage| match stage {
                ProgramStage::Running | ProgramStage::Ended(_) => None,
                ProgramStage::Gone(exit) => Some(exit),
            })
            .await
    }
}

impl ExitWatcher {
    /// Waits until the program has ended; what it spawned may still run, and hold its pipes.
    pub async fn ended(&self) -> Exit {
        self.reached(|stage| match stage {
            ProgramStage::Running => None,
            ProgramStage::Ended(exit) | ProgramStage::Gone(exit) => Some(exit),
        })
        .await
    }

    /// Whether the program has ended by now.
    pub fn has_ended(&self) -> bool {
        !matches!(*self.stage.borrow(), ProgramStage::Running)
    }

    /// Kills everything that is left of it, the program too if it still runs. This takes a moment,
    /// and is not waited for.
    pub fn finish(&self) {
        self.shared.signal(Signal::KILL);
        self.shared.state().is_to_finish = true;
        self.shared.changed.notify_all();
    }

    async fn reached(&self, exit: impl Fn(ProgramStage) -> Option<Exit>) -> Exit {
        let mut stage = self.stage.clone();
        let found = stage.wait_for(|stage| exit(*stage).is_some()).await;
        // The keeper always tells the end before it goes.
        found.ok().and_then(|stage| exit(*stage)).unwrap_or_default()
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.finish();
    }
}

fn exit_of(status: &WaitIdStatus) -> Exit {
    Exit { code: status.exit_status(), signal: status.terminating_signal() }
}
