//! The descendants of our programs: found by their mark, killed and reaped.

#[cfg(target_os = "linux")]
pub(crate) mod processes;

#[cfg(target_os = "linux")]
pub(crate) use linux::{begin, kill};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::sync::Once;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal,
        set_child_subreaper, waitid,
    };

    use super::processes::{ids, most_realtime, stat};
    use crate::tag::ProgramTag;

    /// How long we look for the last descendant; one that a driver holds may take for ever.
    const LONGEST_KILL: Duration = Duration::from_secs(4);

    /// How often we look for what a running program left us to reap.
    const ROUND: Duration = Duration::from_secs(5);

    /// For the thread that looks through all processes, which is a few functions of the standard
    /// library deep: where much ends at the same time, 64 KiB were too few.
    const STACK: usize = 256 << 10;

    /// Makes us the parent of all orphans among our descendants, and clears up after instances
    /// that are no more; only the first call does anything, and others wait for it.
    pub(crate) fn begin() {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| {
            // An old kernel without it leaves orphans to `init`: they are killed all the same.
            let _ = set_child_subreaper(Some(getpid()));
            crate::orphans::sweep();
            // Without this thread zombies stay until their program is stopped.
            let _ = thread::Builder::new()
                .name("toolcrib-reaper".to_owned())
                .stack_size(STACK)
                .spawn(reap_in_rounds);
        });
    }

    /// Kills and reaps everything that carries the tag, until nothing does.
    pub(crate) fn kill(which: Option<ProgramTag>) {
        let Some(which) = which else { return };
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            let family: Vec<Pid> = ids().filter(|id| tag(*id) == Some(which)).collect();
            if family.is_empty() || start.elapsed() > LONGEST_KILL {
                return;
            }
            for id in family {
                kill_one(id, which);
                reap(id);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// The tag of a process, also of a zombie; `None` if it is none of ours.
    fn tag(id: Pid) -> Option<ProgramTag> {
        ProgramTag::of_ours(most_realtime(id)?)
    }

    /// Kills a process if it still is the one that was found.
    fn kill_one(id: Pid, which: ProgramTag) {
        // Through a handle, since the number alone could mean another process by now.
        let Ok(process) = pidfd_open(id, rustix::process::PidfdFlags::empty()) else { return };
        if tag(id) == Some(which) {
            let _ = pidfd_send_signal(&process, Signal::KILL);
        }
    }

    /// Waits for a process if it is our child and has ended.
    fn reap(id: Pid) {
        let _ = waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }

    /// Reaps what running programs orphaned.
    fn reap_in_rounds() {
        let mut seen = HashSet::new();
        loop {
            thread::sleep(ROUND);
            seen = round(&seen);
        }
    }

    /// Reaps the zombies of ours that were seen the last time, and tells which are there now.
    ///
    /// A keeper reaps its own program within a moment and must learn how it ended, so nothing is
    /// reaped at first sight.
    fn round(seen: &HashSet<Pid>) -> HashSet<Pid> {
        // A look costs one system call as long as there is no zombie at all.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if !matches!(waitid(WaitId::All, options), Ok(Some(_))) {
            return HashSet::new();
        }
        let is_zombie = |id: &Pid| {
            tag(*id).is_some()
                && stat(id.as_raw_nonzero().get().unsigned_abs())
                    .is_some_and(|stat| stat.state == 'Z')
        };
        let zombies: HashSet<Pid> = ids().filter(is_zombie).collect();
        zombies.intersection(seen).for_each(|id| reap(*id));
        zombies
    }

    #[cfg(test)]
    mod tests {
        use std::collections::HashSet;

        use tokio::io::{AsyncBufReadExt, BufReader};

        use super::super::processes::ProcessStat;
        use super::{getpid, round, stat};
        use crate::{Child, Program};

        #[tokio::test]
        async fn an_orphan_that_ended_is_reaped_while_its_program_runs() {
            let script = "(setsid sh -c 'sleep 0.1; echo $$; sleep 0.1' &); read line";
            let mut child = Child::spawn(&Program::new("/bin/sh", ["-c", script])).await.unwrap();
            let (_stdin, stdout) = child.take_pipes().unwrap();
            let line = BufReader::new(stdout).lines().next_line().await.unwrap().unwrap();
            let orphan = line.parse().unwrap();
            let is_adopted = |stat: &ProcessStat| stat.parent == getpid().as_raw_nonzero().get();
            assert!(stat(orphan).is_some_and(|stat| is_adopted(&stat)));
            let mut seen = HashSet::new();
            for _ in 0..1_000 {
                seen = round(&seen);
                if stat(orphan).is_none() {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            assert!(stat(orphan).is_none());
            assert!(stat(child.id()).is_some_and(|stat| stat.state != 'Z'));
        }
    }
}

/// Nothing to prepare.
#[cfg(not(target_os = "linux"))]
pub(crate) fn begin() {}

/// The group was killed when its leader ended, and nothing else can be found.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill(_: Option<crate::tag::ProgramTag>) {}
