//! How we know again what we started: a variable for the next instance, a limit for this one.

use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// The variable that every program of ours carries: `<uuid>.<pid>.<start time>`.
pub(crate) const VARIABLE: &str = "TOOLCRIB_INSTANCE";

/// The value of [`VARIABLE`] for this instance.
pub(crate) fn ours() -> &'static str {
    static OURS: OnceLock<String> = OnceLock::new();
    OURS.get_or_init(|| {
        let id = process::id();
        let start = start_time(id).unwrap_or_default();
        format!("{}.{id}.{start}", Uuid::new_v4().simple())
    })
}

/// Whether a mark names an instance that runs no more; what is no mark names none.
#[cfg(target_os = "linux")]
pub(crate) fn is_dead(mark: &str) -> bool {
    let mut parts = mark.split('.');
    let (Some(name), Some(id), Some(start), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Ok(_), Ok(id), Ok(start)) =
        (Uuid::try_parse(name), id.parse::<u32>(), start.parse::<u64>())
    else {
        return false;
    };
    start_time(id) != Some(start)
}

/// When a process started, in clock ticks since the machine did; `None` if it is not there.
///
/// Together with the process id it names one process: ids are used again, and sooner than ticks.
#[cfg(target_os = "linux")]
pub(crate) fn start_time(id: u32) -> Option<u64> {
    crate::process_tree::processes::stat(id).map(|stat| stat.start)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn start_time(_: u32) -> Option<u64> {
    None
}

/// The limits that mark our programs: one number for each, out of a range of this instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramTag(u64);

/// How many programs one instance starts before numbers come again.
const RANGE: u64 = 1 << 20;

impl ProgramTag {
    /// The next one; `None` if our own limit leaves no room below it.
    ///
    /// The unit is a microsecond of a real-time thread that never sleeps, so that the smallest
    /// tag still means years.
    pub(crate) fn next() -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed) % RANGE;
        base().map(|base| Self(base + next))
    }

    /// The limit to set.
    #[cfg(target_os = "linux")]
    pub(crate) fn value(self) -> u64 {
        self.0
    }

    /// Whether a limit of a process is a tag of this instance.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_ours(value: u64) -> Option<Self> {
        let base = base()?;
        (base..base + RANGE).contains(&value).then_some(Self(value))
    }
}

/// Where our range begins: by chance in the upper half of what our own limit allows, since a limit
/// can only be lowered.
fn base() -> Option<u64> {
    static BASE: OnceLock<Option<u64>> = OnceLock::new();
    *BASE.get_or_init(|| {
        let half = highest().min(1 << 62) / 2;
        let random = Uuid::new_v4().as_u64_pair().1;
        (half > (1 << 44)).then(|| half + random % (half - RANGE))
    })
}

#[cfg(target_os = "linux")]
fn highest() -> u64 {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Rttime).maximum.unwrap_or(u64::MAX)
}

/// There is no such limit, and nobody reads the tags.
#[cfg(not(target_os = "linux"))]
fn highest() -> u64 {
    0
}
