//! The vectors of `all-MiniLM-L6-v2`, against those that Python makes of the same texts.
//!
//! `minilm.json` holds texts, and for each the vector that BERT's formulas give in double precision
//! (`numpy`) for the tokens that the package `tokenizers` makes, cut at 256.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use toolcrib_embed::{LocalEmbedder, Prefixes};
use toolcrib_search::{EmbedPurpose, Embedder as _};

/// The folder of the model, which `cargo xtask peers` installs.
#[expect(clippy::disallowed_methods, reason = "the run names its peers by the environment")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("TOOLCRIB_MINILM").map(PathBuf::from);
    if folder.is_none() {
        let mut output = std::io::stdout();
        writeln!(output, "[skipped] TOOLCRIB_MINILM names no model").unwrap();
    }
    folder
}

fn nearness(left: &[f32], right: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

fn reference() -> Vec<(String, Vec<f32>)> {
    let file: Vec<Value> = serde_json::from_str(include_str!("minilm.json")).unwrap();
    let read = |entry: &Value| {
        let vector = entry["vector"].as_array().unwrap().iter();
        #[expect(clippy::cast_possible_truncation, reason = "they were written with four digits")]
        let vector = vector.map(|number| number.as_f64().unwrap() as f32).collect();
        (entry["text"].as_str().unwrap().to_owned(), vector)
    };
    file.iter().map(read).collect()
}

#[tokio::test]
async fn a_real_model_gives_the_vectors_that_python_gives() {
    let Some(folder) = folder() else { return };
    let model = LocalEmbedder::open(&folder, Prefixes::default()).unwrap();
    let (texts, expected): (Vec<_>, Vec<_>) = reference().into_iter().unzip();
    let vectors = model.embed(EmbedPurpose::Query, &texts).await.unwrap();
    assert_eq!(vectors.len(), expected.len());
    let far: Vec<_> = texts
        .iter()
        .zip(vectors.iter().zip(&expected))
        .map(|(text, (vector, expected))| (text, nearness(vector, expected)))
        .filter(|(_, nearness)| *nearness < 0.99999)
        .collect();
    assert_eq!(far, []);
    let mut lengths = vectors.iter().map(|it| it.iter().map(|number| number * number).sum::<f32>());
    assert!(lengths.all(|length| (length - 1.0).abs() < 1e-5));
}

#[tokio::test]
async fn a_real_model_gives_a_text_the_same_vector_in_every_company() {
    let Some(folder) = folder() else { return };
    let model = LocalEmbedder::open(&folder, Prefixes::default()).unwrap();
    let texts: Vec<String> = reference().into_iter().map(|(text, _)| text).collect();
    let together = model.embed(EmbedPurpose::Tool, &texts).await.unwrap();
    for (text, vector) in texts.into_iter().zip(together) {
        assert_eq!(model.embed(EmbedPurpose::Query, &[text]).await.unwrap(), [vector]);
    }
}
