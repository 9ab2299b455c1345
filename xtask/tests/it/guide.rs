//! The script that hands the profile of the usual calls to the compiler.

use std::fs;

use xtask::machine::{program, root};

const RELEASE: [&str; 4] = ["-C", "opt-level=3", "--out-dir", "/t/release/deps"];

/// What a compiler that says this of itself is asked by the script, one argument a line.
fn asked(says: &str, arguments: &[&str], profile: Option<&str>) -> String {
    let mut script = program(root().join("crates/server/guide/rustc"));
    script.arg(root().join("xtask/tests/compiler")).args(arguments);
    script.env("SAYS", says).env_remove("TOOLCRIB_PROFILE");
    script.envs(profile.map(|profile| ("TOOLCRIB_PROFILE", profile)));
    let told = script.output().expect("the script runs");
    assert!(told.status.success(), "{told:?}");
    String::from_utf8(told.stdout).expect("it prints text")
}

#[test]
fn only_a_release_and_only_of_the_compiler_that_made_the_profile_is_guided_by_it() {
    let guide = root().join("crates/server/guide");
    let own = fs::read_to_string(guide.join("compiler")).expect("it lies there");
    let plain = RELEASE.map(|word| format!("{word}\n")).concat();
    let guided = format!(
        "{plain}-Cllvm-args=-no-pgo-warn-mismatch\n-Cprofile-use={}\n",
        guide.join("usual.profdata").display()
    );
    assert_eq!(asked(&own, &RELEASE, None), guided);
    assert_eq!(asked(&own.replace("release: ", "release: 9"), &RELEASE, None), plain);
    assert_eq!(asked(&own, &RELEASE, Some("")), plain);
    assert_eq!(asked(&own, &RELEASE, Some("-Cx=a b")), format!("{plain}-Cx=a b\n"));
    for others in [
        ["-C", "opt-level=3", "--out-dir", "/t/debug/deps"],
        ["-C", "opt-level=0", "--out-dir", "/t/release/deps"],
        ["-C", "opt-level=3", "--out-dir", "/t/release/build/x"],
    ] {
        let plain = others.map(|word| format!("{word}\n")).concat();
        assert_eq!(asked(&own, &others, None), plain);
        assert_eq!(asked(&own, &others, Some("-Cx")), plain);
    }
    let words = ["--cfg", "feature=\"a b\"", "", "*"];
    let plain = words.map(|word| format!("{word}\n")).concat();
    assert_eq!(asked(&own, &words, None), plain);
}

#[test]
fn the_profile_can_be_read_by_the_compiler_that_it_fits_and_names_no_place() {
    let profile =
        fs::read(root().join("crates/server/guide/usual.profdata")).expect("it lies there");
    assert!(profile.starts_with(b"\xfflprofi\x81"), "{:?}", &profile[..8]);
    let text = String::from_utf8_lossy(&profile);
    assert!(!text.contains("/.cargo/") && !text.contains("/target/"), "it names a folder");
}

#[test]
fn the_profile_fits_the_compiler_that_rustup_fetches_here() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("it lies there");
    let told = read("crates/server/guide/compiler");
    let release =
        told.lines().find_map(|line| line.strip_prefix("release: ")).expect("its release");
    let fetched = read("rust-toolchain.toml");
    assert!(fetched.contains(&format!("channel = \"{release}\"")), "{fetched}");
}
