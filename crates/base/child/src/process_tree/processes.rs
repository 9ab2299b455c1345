//! What `/proc` tells about the processes of the machine.

use std::fs;

use rustix::process::Pid;

/// What we need of `/proc/<pid>/stat`; `man 5 proc_pid_stat` has the fields.
pub(crate) struct ProcessStat {
    pub(crate) state: char,
    pub(crate) parent: i32,
    /// In clock ticks since the machine started.
    pub(crate) start: u64,
}

/// All process ids that this process can see, as they come.
pub(crate) fn ids() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw))
}

/// What the kernel says of a process, also of a zombie; `None` if it is not there.
pub(crate) fn stat(id: u32) -> Option<ProcessStat> {
    let text = fs::read(format!("/proc/{id}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name comes second, in parentheses, and may itself hold spaces and parentheses.
    let (_, rest) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(ProcessStat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// The hard limit of a process, also of a zombie, on the processor time of a real-time thread, in
/// microseconds; `None` if it has none or is not there.
pub(super) fn most_realtime(id: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/limits", id.as_raw_nonzero())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    // The first number can be changed at will, the second one only be lowered.
    line.split_whitespace().nth(1)?.parse().ok()
}
