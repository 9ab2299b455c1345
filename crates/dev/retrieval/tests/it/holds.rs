//! No labelled set is served worse than the committed figures say.

use std::io::Write as _;

use serde_json::Value;
use toolcrib_retrieval::{folder, measure};

use crate::{SLACK, committed, number};

/// The figures of now, or why there are none on this machine.
fn now() -> Option<Value> {
    let folder = folder();
    if !folder.is_dir() {
        let why = format!("[skipped] no labelled sets in {}", folder.display());
        drop(writeln!(std::io::stdout(), "{why}"));
        return None;
    }
    Some(measure(&folder, 1, &[], None).unwrap())
}

#[test]
fn no_set_falls_and_what_was_promised_holds() {
    let Some(now) = now() else { return };
    let committed = committed();
    let (mut fallen, mut gained, mut sets) = (Vec::new(), 0.0, 0.0);
    for (set, then) in committed["sets"].as_object().unwrap() {
        let of = |search: &str, figure: &str| number(&now["sets"][set][search][figure]);
        for figure in ["recall@1", "recall@5", "recall@10", "nDCG@10"] {
            let (then, now) = (number(&then["toolcrib"][figure]), of("toolcrib", figure));
            if now.is_nan() || now < then - SLACK {
                fallen.push(format!("{set}: {figure} was {then} and is {now}"));
            }
        }
        let gain = of("toolcrib", "recall@5") - of("strong BM25", "recall@5");
        let whole = |search| of(search, "whole sets@10");
        let together = whole("toolcrib select") - whole("toolcrib");
        if together.is_nan() || together < -1.0 {
            fallen.push(format!("{set}: {together} whole sets by choosing them together"));
        }
        let (answered, lost) = (of("abstention", "answered"), of("abstention", "lost"));
        if gain < -1.0 || answered > 10.0 || lost > 2.0 {
            fallen.push(format!("{set}: gain {gain}, answered {answered}, lost {lost}"));
        }
        (gained, sets) = (gained + gain, sets + 1.0);
    }
    assert_eq!(fallen, Vec::<String>::new());
    assert!(sets > 5.0 && gained / sets >= 4.0, "only {gained} points over {sets} sets");
}
