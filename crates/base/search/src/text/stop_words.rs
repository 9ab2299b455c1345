//! Words that say little: those of grammar, and those by which people ask.

/// Never looked for; in order.
const SILENT: [&str; 117] = [
    "a", "about", "above", "after", "again", "all", "am", "an", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can",
    "could", "did", "do", "does", "doing", "down", "during", "each", "few", "for", "from",
    "further", "had", "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how",
    "i", "if", "in", "into", "is", "it", "its", "just", "me", "more", "most", "my", "no", "nor",
    "not", "of", "off", "on", "once", "only", "or", "other", "our", "out", "over", "own", "please",
    "s", "same", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their",
    "them", "then", "there", "these", "they", "this", "those", "through", "to", "too", "under",
    "until", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which", "while",
    "who", "whom", "why", "will", "with", "would", "you", "your",
];

/// What people say around what they ask for, as stems; in order.
const WEAK: [&str; 56] = [
    "abl", "also", "an", "assist", "check", "curious", "current", "data", "detail", "fetch",
    "final", "find", "first", "get", "give", "hello", "help", "hi", "info", "inform", "interest",
    "kind", "know", "let", "like", "look", "lot", "love", "make", "need", "next", "one", "plan",
    "provid", "realli", "retriev", "second", "share", "show", "specif", "suggest", "sure", "take",
    "tell", "thank", "thing", "today", "tri", "two", "use", "various", "want", "way", "wish",
    "wonder", "work",
];

/// What a weak word counts for, where another counts 1.
const FAINT: f32 = 0.6;

/// Whether a word, as it is written, is one of grammar.
pub(crate) fn is_silent(word: &str) -> bool {
    SILENT.binary_search(&word).is_ok()
}

/// What a word counts for, by its stem.
pub(crate) fn weight(stem: &str) -> f32 {
    if WEAK.binary_search(&stem).is_ok() { FAINT } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::{SILENT, WEAK};

    #[test]
    fn the_lists_are_in_order() {
        assert!(SILENT.is_sorted());
        assert!(WEAK.is_sorted());
    }
}
