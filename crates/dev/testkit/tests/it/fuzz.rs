//! The fuzz targets bear their seeds, and each has all its parts.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use toolcrib_testkit::fuzz::TARGETS;

/// Without optimisation and on a busy machine; a seed takes milliseconds.
const LONGEST: Duration = Duration::from_secs(10);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz").join(name)
}

/// The files or folders below one, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The names of what stands in a folder, without endings.
fn stems(folder: &Path) -> Vec<String> {
    let stem = |path: PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    entries(folder).into_iter().filter_map(stem).collect()
}

#[test]
fn every_seed_is_borne() {
    let mut fallen = Vec::new();
    for (target, run) in TARGETS {
        let seeds = entries(&folder("corpus").join(target));
        assert!(!seeds.is_empty(), "`{target}` has no seeds");
        for seed in seeds {
            let data = fs::read(&seed).unwrap();
            let start = Instant::now();
            if catch_unwind(|| run(&data)).is_err() || start.elapsed() > LONGEST {
                fallen.push(seed);
            }
        }
    }
    assert_eq!(fallen, Vec::<PathBuf>::new());
}

#[test]
fn every_target_has_a_file_a_manifest_entry_and_seeds() {
    let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(stems(&folder("targets")), names);
    assert_eq!(stems(&folder("corpus")), names);
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    let (_, bins) = manifest.split_once("[[bin]]").unwrap();
    let binaries: Vec<&str> =
        bins.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    assert_eq!(binaries, quoted);
}

#[test]
fn the_corpus_stays_small() {
    let seeds: Vec<Vec<PathBuf>> =
        TARGETS.iter().map(|(target, _)| entries(&folder("corpus").join(target))).collect();
    let most = seeds.iter().map(Vec::len).max();
    let bytes: u64 = seeds.iter().flatten().map(|seed| fs::metadata(seed).unwrap().len()).sum();
    assert!(most < Some(100) && bytes < 200_000, "{most:?} seeds in a folder, {bytes} bytes");
}
