//! What a dead instance of ours left behind.

/// Kills every program that carries the mark of an instance which runs no more, and tells how many.
///
/// The first [`Child::spawn`](crate::Child::spawn) does it too; it takes some milliseconds.
/// Only processes of this user and of this process namespace are looked at: in another namespace
/// the number in the mark would mean another process.
/// Our own ancestors are spared, in case we were started by an instance that died since.
#[cfg(target_os = "linux")]
pub fn sweep() -> usize {
    use std::collections::HashSet;
    use std::thread;
    use std::time::Duration;

    let Some(place) = linux::SweepScope::ours() else { return 0 };
    let mut killed = HashSet::new();
    // A process may spawn another one while we look; one that does so without end is left.
    for _ in 0..10 {
        let found: Vec<_> = place.leftovers().collect();
        if found.is_empty() {
            break;
        }
        killed.extend(found.into_iter().filter(|id| place.kill(*id)));
        thread::sleep(Duration::from_millis(2));
    }
    killed.len()
}

/// Finds nothing: there is no way to see the environment of another process.
#[cfg(not(target_os = "linux"))]
pub fn sweep() -> usize {
    0
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use rustix::process::{Pid, PidfdFlags, Signal, getpid, getuid, pidfd_open, pidfd_send_signal};

    use crate::process_tree::processes::{ids, stat};
    use crate::tag;

    /// Where we stand among the processes of the machine.
    pub(super) struct SweepScope {
        namespace: PathBuf,
        user: u32,
        spared: BTreeSet<i32>,
    }

    impl SweepScope {
        /// `None` where `/proc` does not say.
        pub(super) fn ours() -> Option<Self> {
            let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
            let mut spared = BTreeSet::new();
            let mut next = getpid().as_raw_nonzero().get();
            while next > 0 && spared.insert(next) {
                next = stat(next.unsigned_abs()).map_or(0, |stat| stat.parent);
            }
            Some(Self { namespace, user: getuid().as_raw(), spared })
        }

        /// The processes whose instance is dead.
        pub(super) fn leftovers(&self) -> impl Iterator<Item = Pid> {
            ids().filter(|id| self.is_leftover(*id))
        }

        /// Kills a process if it still is a leftover.
        pub(super) fn kill(&self, id: Pid) -> bool {
            let Ok(process) = pidfd_open(id, PidfdFlags::empty()) else { return false };
            self.is_leftover(id) && pidfd_send_signal(&process, Signal::KILL).is_ok()
        }

        fn is_leftover(&self, id: Pid) -> bool {
            let id = id.as_raw_nonzero().get();
            let place = PathBuf::from(format!("/proc/{id}"));
            let is_near = || {
                fs::metadata(&place).is_ok_and(|data| data.uid() == self.user)
                    && fs::read_link(place.join("ns/pid")).is_ok_and(|name| name == self.namespace)
            };
            !self.spared.contains(&id)
                && is_near()
                && fs::read(place.join("environ")).is_ok_and(|variables| is_of_dead(&variables))
        }
    }

    /// Whether an environment, as `/proc` shows it, carries the mark of a dead instance.
    fn is_of_dead(variables: &[u8]) -> bool {
        let mark = variables.split(|byte| *byte == 0).find_map(|variable| {
            variable.strip_prefix(tag::VARIABLE.as_bytes())?.strip_prefix(b"=")
        });
        mark.and_then(|mark| str::from_utf8(mark).ok()).is_some_and(tag::is_dead)
    }
}
