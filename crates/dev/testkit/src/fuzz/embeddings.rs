//! What models, servers and disks give to embedders.

use toolcrib_embed::fuzz;

/// A kind on the first line and such a file on the others: `tokenizer` (with a text after an empty
/// line), `tensors`, `answer` or `kept`. Each is read without a panic and within its bounds.
pub fn embeddings(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (kind, rest) = data.split_at_checked(at).unwrap_or((data, &[]));
    let file = rest.get(1..).unwrap_or_default();
    match kind {
        b"tokenizer" => {
            let text = String::from_utf8_lossy(file);
            let (file, text) = text.split_once("\n\n").unwrap_or((&text, ""));
            let tokens = fuzz::tokens(file.as_bytes(), text).unwrap_or_default();
            assert!(tokens.len() <= 16, "longer than the model reads");
            assert!(tokens.iter().all(|token| *token < 1000), "the model knows no such token");
        }
        b"tensors" => {
            for (begin, length) in fuzz::places(file, 4096) {
                let end = begin.checked_add(u64::try_from(length).unwrap_or(u64::MAX));
                assert!(end.is_some_and(|end| end <= 4096), "outside of the file");
            }
        }
        b"answer" => {
            let vectors = fuzz::answer(file).unwrap_or_default();
            for vector in &vectors {
                let square: f32 = vector.iter().map(|number| number * number).sum();
                assert!((square - 1.0).abs() < 1e-3, "a direction has length 1");
            }
            assert!(matches!(vectors.len(), 0 | 2), "one vector a text");
        }
        _ => {
            fuzz::kept(file);
        }
    }
}
