//! What a model adds is not lost, and is what was promised of it.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use toolcrib_retrieval::{EmbeddingModel, LabelledSet, SETS, folder, of_set};

use crate::{SLACK, committed, figure};

/// By set, what the best of a few sums of strong BM25 and the same model finds among five, as the
/// notes on the sets have it.
const FUSED: [(&str, f64); 6] = [
    ("bfcl-pooled", 77.7),
    ("livemcpbench", 41.6),
    ("metatool-multi", 75.3),
    ("restbench-tmdb", 49.0),
    ("seal-tools-in-domain", 88.2),
    ("stabletoolbench", 71.7),
];

/// Sets of so few tools that they are read within seconds, also by a build of the tests.
const SMALL: [&str; 2] = ["metatool-multi", "restbench-tmdb"];

fn recall(of_set: &Value, search: &str) -> f64 {
    figure(of_set, search, "recall@5")
}

/// What is wrong with the figures of a set.
fn broken(set: &str, now: &Value) -> Vec<String> {
    let both = recall(now, "toolcrib with model");
    let fused = FUSED.iter().find(|(name, _)| *name == set).map(|(_, fused)| *fused).unwrap();
    let mut broken = Vec::new();
    for (than, other) in [
        ("fused", fused),
        ("words alone", recall(now, "toolcrib")),
        ("the model alone", recall(now, "model alone")),
    ] {
        if both.is_nan() || both < other {
            broken.push(format!("{set}: {both} is less than {other} of {than}"));
        }
    }
    let of = |which: &str| figure(now, "abstention with model", which);
    if of("answered") > 10.0 || of("lost") > 2.0 {
        broken.push(format!("{set}: answered {}, lost {}", of("answered"), of("lost")));
    }
    broken
}

#[test]
fn what_was_measured_with_a_model_is_what_was_promised() {
    let committed = committed();
    let gain = |set: &str| {
        let of_set = &committed["sets"][set];
        recall(of_set, "toolcrib with model") - recall(of_set, "strong BM25")
    };
    let broken: Vec<String> =
        SETS.iter().flat_map(|set| broken(set, &committed["sets"][*set])).collect();
    assert_eq!(broken, Vec::<String>::new());
    assert!(SETS.iter().map(|set| gain(set)).sum::<f64>() >= 6.0 * 8.0);
}

/// The model that `cargo xtask peers` installs.
#[expect(clippy::disallowed_methods, reason = "the run names its peers by the environment")]
fn model() -> Option<EmbeddingModel> {
    let place = std::env::var_os("TOOLCRIB_MINILM").map(PathBuf::from);
    let why = match &place {
        None => "TOOLCRIB_MINILM names no model".to_owned(),
        Some(_) if !folder().is_dir() => {
            format!("no labelled sets in {}", folder().display())
        }
        Some(place) => return Some(EmbeddingModel::open(place, None).unwrap()),
    };
    drop(writeln!(std::io::stdout(), "[skipped] {why}"));
    None
}

#[test]
fn no_small_set_falls_with_a_model() {
    let Some(model) = model() else { return };
    let committed = committed();
    let mut fallen = Vec::new();
    for set in SMALL {
        let now = of_set(&LabelledSet::read(&folder(), set).unwrap(), 1, Some(&model)).unwrap();
        fallen.extend(broken(set, &now));
        for which in ["recall@1", "recall@5", "recall@10", "nDCG@10"] {
            let of = |from: &Value| figure(from, "toolcrib with model", which);
            let (then, now) = (of(&committed["sets"][set]), of(&now));
            if now.is_nan() || now < then - SLACK {
                fallen.push(format!("{set}: {which} was {then} and is {now}"));
            }
        }
    }
    assert_eq!(fallen, Vec::<String>::new());
}
