//! Words that tell what a tool does, and the forms in which they are written.

/// What a word that is one of these does changes nothing.
#[rustfmt::skip]
pub(super) const READS: &[&str] = &[
    "browse", "calculate", "check", "compare", "compute", "count", "describe", "detail",
    "determine", "discover", "display", "enumerate", "estimate", "examine", "explain", "explore",
    "fetch", "find", "get", "give", "inspect", "list", "locate", "look", "lookup", "obtain",
    "provide", "query", "read", "retrieve", "return", "search", "see", "show", "summarize",
    "tell", "view",
];

/// Those of them that say it in a name, too.
#[rustfmt::skip]
pub(super) const NAMES_READ: &[&str] = &[
    "calculate", "check", "compare", "compute", "count", "describe", "enumerate", "estimate",
    "examine", "explain", "fetch", "find", "get", "has", "inspect", "is", "list", "locate",
    "lookup", "query", "read", "retrieve", "search", "show", "view",
];

/// Words that hardly ever name a thing, and that change something.
#[rustfmt::skip]
pub(super) const CHANGES: &[&str] = &[
    "accept", "ack", "acknowledge", "acquire", "activate", "add", "adjust", "allocate", "amend",
    "append", "apply", "approve", "assign", "attach", "authorize", "ban", "bind", "bump", "buy",
    "cancel", "checkin", "checkout", "clean", "cleanup", "clear", "click", "clone", "close",
    "configure", "confirm", "connect", "consume", "create", "deactivate", "debit", "decline",
    "decrease", "decrement", "deduct", "delete", "deliver", "deploy", "dequeue", "destroy",
    "detach", "disable", "disconnect", "dismiss", "dispatch", "donate", "downgrade", "drain",
    "duplicate", "eject", "emit", "enable", "enforce", "enqueue", "enroll", "erase", "escalate",
    "evaluate", "evict", "exec", "execute", "expire", "extend", "flush", "forget", "freeze",
    "generate", "grant", "halt", "hide", "increase", "increment", "ingest", "init", "initialize",
    "inject", "insert", "install", "invalidate", "invoke", "kick", "kill", "launch", "lease",
    "lock", "login", "logout", "make", "mark", "migrate", "modify", "mount", "move", "mutate", "mute",
    "navigate", "notify", "overwrite", "pause", "persist", "pop", "populate", "prepend",
    "promote", "prune", "publish", "purge", "push", "put", "quit", "react", "rebase", "reboot",
    "rebuild", "receive", "recompute", "redeem", "redirect", "reduce", "refresh", "regenerate",
    "register", "reindex", "reject", "reload", "remove", "rename", "render", "reopen", "reorder",
    "repair", "replace", "replay", "reprocess", "reschedule", "resend", "reserve", "reset",
    "resize", "resolve", "respond", "restart", "restore", "retry", "revert", "revoke", "rewrite",
    "rollback", "rotate", "save", "scroll", "seed", "sell", "send", "set", "shutdown", "signup",
    "spawn", "squash", "submit", "subscribe", "suspend", "swap", "sync", "synchronize", "take",
    "terminate", "toggle", "trigger", "truncate", "unarchive", "unassign", "unban", "unblock",
    "undo", "unfollow", "uninstall", "unlink", "unlock", "unmark", "unmount", "unmute", "unpin",
    "unpublish", "unregister", "unset", "unstar", "unsubscribe", "update", "upgrade", "upsert",
    "vacuum", "wake", "wipe", "withdraw", "write",
];

/// Words that change something or name a thing, as `order` and `comment` do.
#[rustfmt::skip]
pub(super) const EITHER: &[&str] = &[
    "archive", "backup", "block", "book", "boost", "broadcast", "build", "call", "capture",
    "change", "charge", "comment", "commit", "complete", "compose", "copy", "deposit", "download",
    "draft", "drag", "draw", "drop", "edit", "email", "empty", "end", "export", "file", "fill",
    "fire", "flag", "follow", "fork", "format", "forward", "hold", "import", "index", "invite",
    "issue", "join", "leave", "like", "link", "load", "log", "mail", "map", "merge",
    "message", "open", "order", "patch", "pay", "perform", "pick", "pin", "place", "play", "poll",
    "post", "press", "print", "process", "pull", "purchase", "queue", "rate", "record", "recover",
    "refund", "release", "reply", "report", "request", "resume", "roll", "run", "schedule",
    "share", "ship", "sign", "skip", "snapshot", "split", "stage", "star", "start", "stash",
    "stop", "store", "stream", "switch", "tag", "text", "track", "train", "transfer",
    "transition", "trash", "turn", "tweet", "type", "upload", "vote",
];

/// Words that take away what cannot be had back.
#[rustfmt::skip]
pub(super) const DESTROYS: &[&str] = &[
    "delete", "destroy", "drop", "erase", "purge", "remove", "terminate", "truncate", "uninstall",
    "wipe",
];

/// What was done, where the word does not end in `ed`.
const PAST: [(&str, &str); 18] = [
    ("bought", "buy"),
    ("built", "build"),
    ("frozen", "freeze"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("made", "make"),
    ("overwritten", "overwrite"),
    ("paid", "pay"),
    ("put", "put"),
    ("reset", "reset"),
    ("rewritten", "rewrite"),
    ("sent", "send"),
    ("set", "set"),
    ("sold", "sell"),
    ("taken", "take"),
    ("undone", "undo"),
    ("withdrawn", "withdraw"),
    ("written", "write"),
];

/// How a word of a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbForm {
    /// `move`.
    Base,
    /// `moves`: also more than one of a thing.
    Third,
    /// `moving`.
    Gerund,
    /// `moved`.
    Past,
}

/// The word of a list that is written so, in small letters.
pub(super) fn of<'a>(list: &[&'a str], word: &str) -> Option<(&'a str, VerbForm)> {
    let listed = |base: &str| {
        let at = list.binary_search(&base).ok()?;
        list.get(at).copied()
    };
    if let Some(base) = listed(word) {
        return Some((base, VerbForm::Base));
    }
    let past = PAST.iter().find(|(past, _)| *past == word);
    if let Some(base) = past.and_then(|(_, base)| listed(base)) {
        return Some((base, VerbForm::Past));
    }
    let found = |stems: [String; 3], form| {
        let base = stems.iter().find_map(|stem| listed(stem))?;
        Some((base, form))
    };
    if let Some(stem) = word.strip_suffix("ing") {
        return found(stems(stem), VerbForm::Gerund);
    }
    if let Some(stem) = word.strip_suffix("ied") {
        return found([format!("{stem}y"), String::new(), String::new()], VerbForm::Past);
    }
    if let Some(stem) = word.strip_suffix("ed") {
        return found(stems(stem), VerbForm::Past);
    }
    if let Some(stem) = word.strip_suffix("ies") {
        return found([format!("{stem}y"), String::new(), String::new()], VerbForm::Third);
    }
    let stem = word.strip_suffix('s')?;
    let short = stem.strip_suffix('e').unwrap_or(stem);
    found([stem.to_owned(), short.to_owned(), String::new()], VerbForm::Third)
}

/// What may stand before an ending: `mov` and `move`, `stopp` and `stop`.
fn stems(stem: &str) -> [String; 3] {
    let mut letters = stem.chars().rev();
    let doubled = letters.next().filter(|last| letters.next() == Some(*last));
    let single = doubled.and_then(|last| stem.strip_suffix(last)).unwrap_or_default();
    [stem.to_owned(), format!("{stem}e"), single.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order_and_apart() {
        for list in [READS, NAMES_READ, CHANGES, EITHER, DESTROYS] {
            assert!(list.is_sorted());
        }
        let both = |word: &&&str| CHANGES.binary_search(word).is_ok();
        assert_eq!(EITHER.iter().find(both), None);
        assert_eq!(READS.iter().chain(NAMES_READ).find(both), None);
    }

    #[test]
    fn a_word_is_known_in_each_of_its_forms() {
        for (word, base, form) in [
            ("move", "move", VerbForm::Base),
            ("moves", "move", VerbForm::Third),
            ("pushes", "push", VerbForm::Third),
            ("applies", "apply", VerbForm::Third),
            ("moving", "move", VerbForm::Gerund),
            ("setting", "set", VerbForm::Gerund),
            ("applied", "apply", VerbForm::Past),
            ("dropped", "drop", VerbForm::Past),
            ("sent", "send", VerbForm::Past),
        ] {
            let found = of(CHANGES, word).or_else(|| of(EITHER, word));
            assert_eq!(found, Some((base, form)), "{word}");
        }
        assert_eq!(of(CHANGES, "settings"), None);
        assert_eq!(of(CHANGES, "creation"), None);
    }
}
