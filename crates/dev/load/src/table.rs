//! The figures beside what is promised of them, for people.

use std::fmt::Write as _;

use serde_json::Value;

const HEAD: &str = "| what | direct | ours | ratio | promised |\n|---|---|---|---|---|\n";

/// A table of ratios, as Markdown. What was not measured has no row, and no rows are no table.
pub fn table(found: &Value) -> String {
    let mut lines = String::new();
    for row in at(found, "gateway").as_array().into_iter().flatten() {
        way(&mut lines, row);
    }
    starts(&mut lines, at(found, "start"));
    durable(&mut lines, at(found, "durable"));
    agents(&mut lines, at(found, "agents"));
    a2a(&mut lines, at(found, "a2a"));
    rollouts(&mut lines, at(found, "rollouts"));
    if lines.is_empty() { lines } else { format!("{HEAD}{lines}") }
}

/// A field; what is not there is nothing.
fn at<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or(&Value::Null)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn line(lines: &mut String, what: &str, (direct, ours): (f64, f64), rest: (f64, &str)) {
    let (ratio, promised) = rest;
    // A string takes whatever is written.
    let _ = writeln!(lines, "| {what} | {direct:.1} | {ours:.1} | {ratio:.2} | {promised} |");
}

fn way(lines: &mut String, row: &Value) {
    let direct = at(row, "direct");
    let sessions = number(at(row, "sessions"));
    let load = format!("{} at {sessions}", at(row, "revision").as_str().unwrap_or_default());
    let (p50, rate) = (number(at(direct, "p50_us")), number(at(direct, "calls_per_second")));
    let ways = [
        ("relay", "bytes passed on unread"),
        ("http", "HTTP"),
        ("stdio", "stdio"),
        ("in_process", "in process"),
    ];
    for (name, told) in ways {
        let ours = at(row, name);
        if ours.is_null() {
            continue;
        }
        let (own_p50, own_rate) =
            (number(at(ours, "p50_us")), number(at(ours, "calls_per_second")));
        let promised = match (name, sessions < 2.0) {
            ("http", true) => "added p50 at most 2 times the direct",
            ("stdio", true) => "added p50 at most 1.5 times the direct",
            _ => "-",
        };
        let added = (own_p50 - p50) / p50.max(1e-9);
        let what = format!("{told}, {load}: p50 in µs, and added to it");
        line(lines, &what, (p50, own_p50), (added, promised));
        let promised = match (name, (15.0..17.0).contains(&sessions)) {
            ("http", true) => "at least half",
            ("in_process", true) => "at least as many",
            _ => "-",
        };
        let turns = at(ours, "of_direct");
        let [least, median, most] =
            ["least", "median", "most"].map(|which| number(at(turns, which)));
        let _ = writeln!(
            lines,
            "| {told}, {load}: calls a second | {rate:.1} | {own_rate:.1} | {median:.2}, by turns \
             {least:.2} to {most:.2} | {promised} |"
        );
        let work = |of: &Value| number(at(of, "processor_us_per_call"));
        let ratio = work(ours) / work(direct).max(1e-9);
        let promised = if name == "http" { "53 to 93 µs" } else { "-" };
        let what = format!("{told}, {load}: processor µs a call");
        line(lines, &what, (work(direct), work(ours)), (ratio, promised));
    }
}

fn starts(lines: &mut String, found: &Value) {
    if found.is_null() {
        return;
    }
    let (direct, ours) =
        (at(at(found, "first_answer_ms"), "direct"), at(at(found, "first_answer_ms"), "ours"));
    let (direct, ours) = (number(direct), number(ours));
    let ratio = ours / direct.max(1e-9);
    line(lines, "first answer after the start, ms", (direct, ours), (ratio, "under 30"));
    for (key, what, promised) in [
        ("rss_idle_mib", "memory idle, MiB", "under 20"),
        ("kib_per_idle_session", "memory of an idle session, KiB", "at most 10"),
    ] {
        let ours = number(at(found, key));
        let _ = writeln!(lines, "| {what} | - | {ours:.1} | - | {promised} |");
    }
    for (key, promised, most) in
        [("list", "under 5 ms", "-"), ("list_many", "-", "60 MiB with 10,000")]
    {
        let list = at(found, key);
        let both = (number(at(list, "direct_ms")), number(at(list, "ours_ms")));
        let what = format!("tools/list of {}, ms", at(list, "tools"));
        line(lines, &what, both, (both.1 / both.0.max(1e-9), promised));
        let both = (number(at(list, "direct_rss_mib")), number(at(list, "ours_rss_mib")));
        let what = format!("memory with {} tools, MiB", at(list, "tools"));
        line(lines, &what, both, (both.1 / both.0.max(1e-9), most));
    }
}

fn durable(lines: &mut String, found: &Value) {
    let sync = number(at(found, "fdatasync_ms"));
    for row in at(found, "rows").as_array().into_iter().flatten() {
        for kind in ["reads", "writes"] {
            let rate = |with: &str| {
                let figures = at(row, &format!("{kind}_{with}_store"));
                number(at(figures, "calls_per_second"))
            };
            let (plain, kept) = (rate("without"), rate("with"));
            let what = format!(
                "{kind} at {} with a store against without, calls a second, `fdatasync` {sync:.2} ms",
                at(row, "sessions")
            );
            let promised = if kind == "reads" { "as many" } else { "-" };
            line(lines, &what, (plain, kept), (kept / plain.max(1e-9), promised));
        }
    }
    let slow = at(found, "slow");
    let added = number(at(slow, "added_ms"));
    for row in at(slow, "rows").as_array().into_iter().flatten() {
        let sessions = number(at(row, "sessions"));
        let ours = number(at(at(row, "writes_with_store"), "calls_per_second"));
        // One alone waits for a sync with each call.
        let promised = if sessions < 15.0 { "-" } else { "at least 500" };
        let what = format!(
            "writes at {sessions} with a store, calls a second, `fdatasync` {sync:.2} ms and {added} ms added"
        );
        let _ = writeln!(lines, "| {what} | - | {ours:.1} | - | {promised} |");
    }
}

fn a2a(lines: &mut String, found: &Value) {
    if found.is_null() {
        return;
    }
    let messages = at(found, "messages");
    if !messages.is_null() {
        let by_sdk = at(messages, "by_sdk");
        let bytes = at(messages, "bytes");
        let direct = number(at(bytes, "direct_us"));
        let of = |who: &str, way: &str| number(at(at(by_sdk, who), way));
        for (what, both) in [
            ("the client of the SDK", ["direct", "ours"].map(|who| of(who, "whole_us"))),
            ("the client of the SDK, streamed", ["direct", "ours"].map(|who| of(who, "stream_us"))),
            ("bytes", [direct, number(at(bytes, "ours_us"))]),
        ] {
            let [sdk, ours] = both;
            let what = format!("a message by {what}, µs; direct: the server of the SDK");
            line(lines, &what, (sdk, ours), (ours / sdk.max(1e-9), "at most 1"));
        }
        let through = number(at(messages, "through_source_us"));
        let what =
            "a call that is a message to the server of the SDK, µs, and what it adds to bytes";
        line(lines, what, (direct, through), (through - direct, "-"));
    }
    let tasks = at(found, "tasks");
    let open = at(tasks, "tasks");
    for (key, what, promised) in [
        ("kib_each", "memory of each, KiB", "-"),
        ("kib_each_stream", "memory of a stream that follows it, KiB", "-"),
        ("lost", "that lost an event", "0"),
    ] {
        let ours = number(at(tasks, key));
        let _ = writeln!(lines, "| {open} tasks open: {what} | - | {ours:.1} | - | {promised} |");
    }
}

fn rollouts(lines: &mut String, found: &Value) {
    if found.is_null() {
        return;
    }
    let of = |key: &str| number(at(found, key));
    let (trajectories, turns) = (at(found, "trajectories"), at(found, "turns"));
    let what =
        format!("{trajectories} trajectories of {turns} turns, seconds; direct: the slowest");
    let chain = of("slowest_chain_s");
    line(lines, &what, (chain, of("ours_s")), (of("ours_of_chain"), "at least 0.9"));
    let what = "the same where all wait for the slowest of each turn";
    line(lines, what, (chain, of("barrier_s")), (of("barrier_of_chain"), "-"));
    let (alone, beside) = (of("barrier_s"), of("barrier_beside_slow_s"));
    let what = "the same, alone and with a tool 100 times slower in some, seconds";
    line(lines, what, (alone, beside), (beside / alone.max(1e-9), "-"));
    let (alone, beside) = (of("median_ms"), of("median_beside_slow_ms"));
    let what = "a trajectory, median in ms, alone and beside some with a tool 100 times slower";
    line(lines, what, (alone, beside), (beside / alone.max(1e-9), "1"));
    let each = of("kib_each");
    let _ = writeln!(
        lines,
        "| memory of a trajectory under way, KiB | - | {each:.1} | - | at most 64 |"
    );
}

fn agents(lines: &mut String, found: &Value) {
    if found.is_null() {
        return;
    }
    let turns = at(found, "turns");
    let bare = number(at(turns, "bare_us"));
    let mut turn = |what: &str, ours: &Value, promised: &str| {
        let ours = number(ours);
        let what = format!("a turn of {what}, µs, and what it adds");
        line(lines, &what, (bare, ours), (ours - bare, promised));
    };
    turn("an agent, in memory", at(turns, "in_memory_us"), "adds under 100");
    turn("an agent, with a store", at(turns, "stored_us"), "adds under 1,000");
    for (name, ours) in at(turns, "others_us").as_object().into_iter().flatten() {
        turn(name, ours, "-");
    }
    let words = at(found, "first_word");
    let direct = number(at(words, "direct_ms"));
    for (name, what) in [
        ("chat_ms", "chat, in memory"),
        ("chat_stored_ms", "chat, with a store"),
        ("responses_ms", "responses, in memory"),
        ("responses_stored_ms", "responses, with a store"),
    ] {
        let ours = number(at(words, name));
        let what = format!("first word, {what}: ms, and how much later");
        line(lines, &what, (direct, ours), (ours - direct, "at most 1"));
    }
    let fanout = at(found, "fanout");
    let turns = at(fanout, "turns");
    let others = at(fanout, "others").as_object().into_iter().flatten();
    let all = [("ours", at(fanout, "ours"))].into_iter();
    for (who, spent) in all.chain(others.map(|(who, spent)| (who.as_str(), spent))) {
        for (children, beyond) in spent.as_object().into_iter().flatten() {
            let what = format!("requests beyond {turns} that {children} at once share, {who}");
            let promised = if who == "ours" { "0" } else { "-" };
            let _ = writeln!(lines, "| {what} | - | {beyond} | - | {promised} |");
        }
    }
    let waiting = at(found, "waiting");
    let runs = at(waiting, "runs");
    for (name, what, promised) in [
        ("kib_each", "memory of each, KiB", "at most 16"),
        ("listed_after_kill_ms", "all there after a kill, ms", "at most 2,000"),
        ("decided_and_ended_ms_each", "decided and ended, ms each", "-"),
    ] {
        let ours = number(at(waiting, name));
        let _ =
            writeln!(lines, "| {runs} runs that wait: {what} | - | {ours:.1} | - | {promised} |");
    }
}
