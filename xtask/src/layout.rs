//! `cargo xtask layout`: which functions a start and the usual calls execute, and the linker script
//! that puts them side by side.
//!
//! A program of 70 MB executes 7 MB of its code when it starts and answers.
//! The kernel maps what lies around each page that is touched, so that code which is spread over the
//! whole file costs three times its size in memory.
//! A call runs through 430 KiB of that; among what only a start needs, it lay on more pages than a
//! processor has places for their addresses.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::cover::{Weight, cover};
use crate::machine::{cargo, output, program, root, say, target};
use crate::measuring::Instruments;
use crate::report::{Report, finish};

const SCRIPT: &str = "crates/server/link/start.ld";

/// Calls of each tool by each client, to tell what belongs to calls from what belongs to a start.
const OFTEN: u32 = 30;
/// What runs once in so many answers belongs to calls: each way of a call is one in eight of them.
const RARE: u64 = 16;
/// Bytes that one pattern more has to save.
const CALLS_WORTH: u64 = 64;
const START_WORTH: u64 = 1024;

pub(crate) fn run() -> ExitCode {
    let mut report = Report::default();
    report.work("layout", make);
    report.end()
}

fn make() -> Result<()> {
    let work = target().join("layout");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work)?;
    let server = build(&work)?;
    let once = watch(&server, &work.join("once"), 1)?;
    let often = watch(&server, &work.join("often"), OFTEN)?;
    let executed: HashSet<_> =
        once.functions.keys().chain(often.functions.keys()).cloned().collect();
    ensure!(!executed.is_empty(), "valgrind saw no function of {}", server.display());
    let map = String::from_utf8_lossy(&fs::read(map())?).into_owned();
    let (of_start, found) = sections(&map, &executed);
    ensure!(found * 10 > executed.len() * 9, "of {} functions the map has {found}", executed.len());
    let (of_calls, called) = sections(&map, &often.of_calls(&once));
    fs::write(root().join(SCRIPT), script(&of_calls, &of_start))?;
    say(&format!("{SCRIPT}: {} functions, {called} of them of calls", executed.len()));
    Ok(())
}

/// The server as it ships, but with its names and with a map of its sections.
fn build(work: &Path) -> Result<PathBuf> {
    let mut build = cargo();
    build.args(["rustc", "--release", "--package", "toolcrib-server", "--bin", "toolcrib", "--"]);
    let map = format!("link-arg=-Map={}", map().display());
    finish(build.args(["-C", "strip=none", "-C", "link-arg=-Xlinker", "-C", &map]))?;
    let server = work.join("toolcrib");
    fs::copy(target().join("release/toolcrib"), &server)?;
    Ok(server)
}

/// Beside the program, since cargo links it again only where something changed.
fn map() -> PathBuf {
    target().join("release/toolcrib.map")
}

/// What was executed, and in how many answers.
#[derive(Default)]
struct Watched {
    /// How often each function was called.
    functions: HashMap<String, u64>,
    answers: u64,
}

impl Watched {
    /// The functions of calls: those that run more often where more is asked.
    fn of_calls(&self, fewer: &Self) -> HashSet<String> {
        let least = (self.answers.saturating_sub(fewer.answers) / RARE).max(1);
        let before = |name: &str| fewer.functions.get(name).copied().unwrap_or_default();
        let grew = |(name, calls): &(&String, &u64)| calls.saturating_sub(before(name)) >= least;
        self.functions.iter().filter(grew).map(|(name, _)| name.clone()).collect()
    }
}

/// Has the load client start the server below valgrind and ask it.
fn watch(server: &Path, work: &Path, calls: u32) -> Result<Watched> {
    fs::create_dir_all(work)?;
    let watched = work.join("watched");
    let valgrind = "valgrind --quiet --tool=callgrind --demangle=no";
    let (out, own) = (work.join("%p.calls"), server.display());
    let text = format!(
        "#!/bin/sh\nexec {valgrind} --callgrind-out-file='{}' '{own}' \"$@\"\n",
        out.display()
    );
    fs::write(&watched, text)?;
    fs::set_permissions(&watched, fs::Permissions::from_mode(0o755))?;
    let Instruments { client, echo } = Instruments::build()?;
    let mut client = program(client);
    client.arg("usual").args([watched, echo, work.to_path_buf()]);
    client.args(["--no-child", &format!("--calls={calls}")]);
    let told = output(&mut client).context("the server below valgrind, which must be installed")?;
    let told: Value = serde_json::from_str(&told)?;
    let answers = told.get("answers").and_then(Value::as_u64).context("it counts no answers")?;
    let mut seen = Watched { answers, ..Watched::default() };
    for entry in fs::read_dir(work)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "calls") {
            count(&fs::read_to_string(&path)?, server, &mut seen.functions);
        }
    }
    Ok(seen)
}

/// Adds how often each of the server's functions was called, by what callgrind wrote, under the name
/// that the linker knows.
///
/// A name is written once, with a number, and later told by its number:
/// <https://valgrind.org/docs/manual/cl-format.html>.
fn count(text: &str, server: &Path, calls: &mut HashMap<String, u64>) {
    let (mut objects, mut names) = (HashMap::new(), HashMap::new());
    // The object that runs, that which is called, and what is called.
    let (mut own, mut callee_in, mut callee) = ("", "", "");
    for line in text.lines() {
        if let Some(called) = line.strip_prefix("calls=") {
            let times = called.split(' ').next().and_then(|times| times.parse().ok()).unwrap_or(0);
            if Path::new(callee_in) == server {
                *calls.entry(plain(callee)).or_default() += times;
            }
            callee_in = own;
            continue;
        }
        let Some((word, rest)) = line.split_once("=(") else { continue };
        let Some((number, name)) = rest.split_once(')') else { continue };
        let known = match word {
            "ob" | "cob" => &mut objects,
            "fn" | "cfn" => &mut names,
            _ => continue,
        };
        if let Some(name) = name.strip_prefix(' ') {
            known.insert(number, name);
        }
        let name = known.get(number).copied().unwrap_or_default();
        match word {
            "ob" => (own, callee_in) = (name, name),
            "cob" => callee_in = name,
            "cfn" => callee = name,
            // Nobody is seen to call the first of a thread.
            _ if Path::new(own) == server => {
                calls.entry(plain(name)).or_default();
            }
            _ => {}
        }
    }
}

/// A function that calls itself is told as `name'2` too.
fn plain(name: &str) -> String {
    name.split('\'').next().unwrap_or(name).to_owned()
}

type Sections = BTreeMap<String, BTreeMap<String, Weight>>;

/// What the compiler puts before the name of a function that it knows to run often, or hardly ever.
const PREFIXES: [&str; 2] = ["hot.", "unlikely."];

/// The sections of code by crate and by what of their names stays, of those crates that were
/// executed at all; and how many of the executed functions have one.
///
/// A function has the name of its section, which is another one without the profile: it is told as
/// it is, and without its prefix.
/// A line of the map ends with the size, the alignment and `path:(section)`.
fn sections(map: &str, executed: &HashSet<String>) -> (Sections, usize) {
    let (mut crates, mut found) = (Sections::new(), HashSet::new());
    for line in map.lines() {
        let Some((place, section)) = line.split_once(":(.text.") else { continue };
        let Some(section) = section.strip_suffix(')') else { continue };
        let mut columns = place.split_ascii_whitespace();
        let size = columns.nth(2).and_then(|size| u64::from_str_radix(size, 16).ok());
        // The end of the path is enough, which may have blanks.
        let of = columns.next_back().and_then(of_crate);
        let (Some(all), Some(of)) = (size, of) else { continue };
        let function = PREFIXES.iter().find_map(|prefix| section.strip_prefix(prefix));
        let function = function.unwrap_or(section);
        let is_executed = executed.contains(function);
        if is_executed {
            found.insert(function);
        }
        let sections = crates.entry(of.to_owned()).or_default();
        for name in BTreeSet::from([lasting(section), lasting(function)]) {
            let weight = sections.entry(name).or_default();
            weight.all += all;
            weight.run += if is_executed { all } else { 0 };
        }
    }
    crates.retain(|_, sections| sections.values().any(|weight| weight.run > 0));
    (crates, found.len())
}

/// The crate that an object file is of: `libNAME-HASH.rlib(…)`, `BIN-HASH.NAME-HASH.…` where it was
/// optimised together with others, and `BIN-HASH.NAME.…` of the program itself.
fn of_crate(path: &str) -> Option<&str> {
    let file = path.rsplit('/').next()?;
    let name = match file.strip_prefix("lib") {
        Some(archive) if file.contains(".rlib(") => archive.split('-').next()?,
        _ => file.split('.').nth(1)?.split('-').next()?,
    };
    // What the compiler makes for itself is named by nothing but a hash.
    let is_hash = name.len() >= 20 && name.bytes().any(|letter| letter.is_ascii_digit());
    (!is_hash).then_some(name)
}

/// A section's name as a pattern, without what differs from build to build: the hash at its end, the
/// hashes of crates within it, and the number of a copy.
fn lasting(section: &str) -> String {
    let (name, is_copy) = match section.split_once(".llvm.") {
        Some((name, _)) => (name, true),
        None => (section, false),
    };
    if let Some(at) = name.rfind("17h").filter(|at| at + 20 == name.len()) {
        return format!("{}17h*", &name[..at]);
    }
    let mut lasting = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("Cs").filter(|_| name.contains("_R")) {
        let (before, after) = (&rest[..at + 2], &rest[at + 2..]);
        let hash = after.bytes().take_while(u8::is_ascii_alphanumeric).count();
        lasting += before;
        rest = &after[hash..];
        if rest.starts_with('_') {
            lasting.push('*');
        } else {
            lasting += &after[..hash];
        }
    }
    lasting + rest + if is_copy { ".llvm.*" } else { "" }
}

fn script(of_calls: &Sections, of_start: &Sections) -> String {
    let mut lines = vec![
        "/* Made by `cargo xtask layout`: what the usual calls execute, side by side, and then what a"
            .to_owned(),
        "   start does. A name that is not there any more does no harm. */".to_owned(),
        "SECTIONS {\n  .text : {".to_owned(),
    ];
    for (crates, worth) in [(of_calls, CALLS_WORTH), (of_start, START_WORTH)] {
        for (name, sections) in crates {
            let sections: Vec<_> =
                sections.iter().map(|(name, weight)| (&**name, *weight)).collect();
            lines.push(format!("    *[.b]{name}[-.]*("));
            let patterns = cover(&sections, worth);
            lines.extend(patterns.iter().map(|pattern| format!("      .text.{pattern}")));
            lines.push("    )".to_owned());
        }
    }
    lines.push("  }\n}\nINSERT BEFORE .init;\n".to_owned());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_of_the_server_count_and_a_name_is_known_by_its_number() {
        let calls = "\
events: Ir
ob=(1) /lib/libc.so.6
fn=(1) malloc
cob=(2) /t/a b/toolcrib
cfn=(2) _ZN4core3fmt17h0123456789abcdefE
calls=7 0
* 12
ob=(2)
fn=(2)
+3 4
fn=(3) sqlite3_step'2
fn=(1)
";
        let mut found = HashMap::new();
        count(calls, Path::new("/t/a b/toolcrib"), &mut found);
        let expected =
            [("_ZN4core3fmt17h0123456789abcdefE", 7), ("sqlite3_step", 0), ("malloc", 0)];
        assert_eq!(found, expected.map(|(name, calls)| (name.to_owned(), calls)).into());
    }

    #[test]
    fn what_runs_more_often_where_more_is_asked_belongs_to_calls() {
        let watched = |answers, functions: [(&str, u64); 3]| Watched {
            functions: functions.map(|(name, calls)| (name.to_owned(), calls)).into(),
            answers,
        };
        let once = watched(8, [("parse", 900), ("answer", 9), ("look", 1)]);
        let often = watched(168, [("parse", 905), ("answer", 169), ("look", 11)]);
        let of_calls = ["answer", "look"].map(str::to_owned).into();
        assert_eq!(often.of_calls(&once), of_calls);
    }

    #[test]
    fn sections_are_told_by_crate_and_without_what_differs_from_build_to_build() {
        let map = "\
             VMA              LMA     Size Align Out     In      Symbol
         26300c0          26300c0       10    16         /t/a b/toolcrib-9a.core-6e.core.1-cgu.0.o:(.text._ZN4core3fmt17h0123456789abcdefE)
         26300d0          26300d0       20    16         /t/a b/toolcrib-9a.core-6e.core.1-cgu.0.o:(.text._ZN4core3fmt17hfedcba9876543210E.llvm.42)
         26300f0          26300f0       30    16         /t/liblibsqlite3_sys-79.rlib(80-sqlite3.o):(.text.unlikely.sqlite3_step)
         2630120          2630120       40    16         /t/toolcrib-9a.toolcrib.31-cgu.0.o:(.text._RNvMCsjrHSEGnQ3l9_3std4main.llvm.7)
         2630160          2630160       50    16         /t/toolcrib-9a.idle-31.idle.1.o:(.text.never)
         26301b0          26301b0       60    16         /t/toolcrib-9a.ej51gp1atxx49exc85k4qoqg9.o:(.text.main)
         2630210          2630210       70    16         /t/toolcrib-9a.core-6e.core.1-cgu.0.o:(.rodata.main)
";
        let names = [
            "_ZN4core3fmt17h0123456789abcdefE",
            "sqlite3_step",
            "_RNvMCsjrHSEGnQ3l9_3std4main.llvm.7",
            "main",
        ];
        let (crates, found) = sections(map, &names.map(str::to_owned).into());
        assert_eq!(found, 3);
        let (of_calls, _) = sections(map, &["sqlite3_step".to_owned()].into());
        let expected = "\
SECTIONS {
  .text : {
    *[.b]libsqlite3_sys[-.]*(
      .text.sqlite3_step
      .text.unlikely.sqlite3_step
    )
    *[.b]core[-.]*(
      .text._ZN4core3fmt17h*
    )
    *[.b]libsqlite3_sys[-.]*(
      .text.sqlite3_step
      .text.unlikely.sqlite3_step
    )
    *[.b]toolcrib[-.]*(
      .text._RNvMCs*_3std4main.llvm.*
    )
  }
}
INSERT BEFORE .init;
";
        assert_eq!(
            script(&of_calls, &crates).split_once("*/\n").map(|(_, script)| script),
            Some(expected)
        );
        let weight = &crates["core"]["_ZN4core3fmt17h*"];
        assert_eq!((weight.run, weight.all), (0x10, 0x30));
    }
}
