//! The patterns of `cargo xtask layout`, and the script that it wrote.

use std::collections::BTreeMap;

use xtask::cover::{Weight, cover};

use crate::tree::read_text;

fn names<'a>(sizes: &[(&'a str, u64, u64)]) -> Vec<(&'a str, Weight)> {
    let sorted: BTreeMap<_, _> =
        sizes.iter().map(|(name, run, all)| (*name, Weight { run: *run, all: *all })).collect();
    sorted.into_iter().collect()
}

#[test]
fn names_that_are_wanted_share_a_pattern_where_little_else_has_their_beginning() {
    let all = names(&[
        ("_ZN5tokio4poll17h*", 400, 400),
        ("_ZN5tokio4wake17h*", 100, 100),
        ("_ZN5tokio4yield17h*", 0, 200),
        ("_ZN5tokio5sleep17h*", 0, 200),
        ("_ZN6rustls4read17h*", 700, 700),
        ("_ZN6rustls9handshake17h*", 0, 90_000),
        ("sqlite3_step", 10, 10),
        ("sqlite3_step_all", 0, 50_000),
    ]);
    assert_eq!(cover(&all, 1024), ["_ZN5tokio4*", "_ZN6rustls4read17h*", "sqlite3_step"]);
}

#[test]
fn nothing_wanted_is_no_pattern() {
    assert_eq!(cover(&names(&[("_ZN5tokio5sleep17h*", 0, 200)]), 1024), Vec::<String>::new());
    assert_eq!(cover(&[], 1024), Vec::<String>::new());
}

/// A crate that was renamed or left out would silently lie where it was before.
#[test]
fn every_crate_of_the_linker_script_is_linked() {
    let of_compiler = ["alloc", "compiler_builtins", "core", "std", "std_detect"];
    let lock = read_text("Cargo.lock");
    let linked: Vec<String> = lock
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .map(|name| name.replace('-', "_"))
        .collect();
    // The library of `rustls-webpki` is called `webpki`.
    let is_of = |package: &str, name: &str| {
        package == name || package.strip_suffix(name).is_some_and(|before| before.ends_with('_'))
    };
    let script = read_text("crates/server/link/start.ld");
    let crates: Vec<&str> = script
        .lines()
        .filter_map(|line| line.strip_prefix("    *[.b]")?.strip_suffix("[-.]*("))
        .collect();
    assert!(crates.contains(&"toolcrib_core"), "the script names no crates: {crates:?}");
    let strangers: Vec<_> = crates
        .iter()
        .filter(|name| !of_compiler.contains(name) && !linked.iter().any(|one| is_of(one, name)))
        .collect();
    assert_eq!(strangers, Vec::<&&str>::new());
}
