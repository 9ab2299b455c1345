//! Texts in portions that a server takes.

/// Bytes of the texts of one request.
const MOST_BYTES: usize = 256 * 1024;
/// Letters of a text that are sent: models read some thousand tokens, and a server may refuse a
/// whole request for one text that is too long.
const LONGEST: usize = 8000;

/// A text as servers take it: not too long, and not empty, which some refuse.
pub(super) fn presentable(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
    }
    if text.is_empty() { " ".to_owned() } else { text }
}

/// The portions, in order; each has a text at least.
pub(super) struct TextBatches<'t> {
    texts: &'t [String],
    most: usize,
}

impl<'t> TextBatches<'t> {
    pub(super) fn new(texts: &'t [String], most: usize) -> Self {
        Self { texts, most }
    }
}

impl<'t> Iterator for TextBatches<'t> {
    type Item = &'t [String];

    fn next(&mut self) -> Option<&'t [String]> {
        let mut bytes = 0;
        let fits = |text: &&String| {
            bytes += text.len();
            bytes <= MOST_BYTES
        };
        let count = self.texts.iter().take(self.most).take_while(fits).count().max(1);
        let (batch, rest) = self.texts.split_at_checked(count)?;
        self.texts = rest;
        Some(batch)
    }
}
