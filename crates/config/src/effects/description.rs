//! What a description tells: whether anything in it speaks of a change.
//!
//! A wrong `read` runs without a question, so whatever may mean a change counts as one.

use super::verbs::{CHANGES, EITHER, READS, VerbForm, of};

/// Words behind which a verb tells what something was, and not what is done to it.
const DETERMINERS: [&str; 22] = [
    "a", "all", "an", "any", "as", "each", "every", "his", "it", "its", "new", "one", "our",
    "some", "that", "the", "their", "them", "these", "this", "those", "your",
];

/// Before one of these a word that may name a thing tells what is done.
const LEADS_TO_VERB: [&str; 13] = [
    "also",
    "and",
    "automatically",
    "can",
    "it",
    "may",
    "must",
    "or",
    "then",
    "to",
    "which",
    "will",
    "would",
];

/// Words behind which a word names things: `of orders the user made`.
#[rustfmt::skip]
const NAMED_AFTER: [&str; 14] = [
    "a", "all", "an", "by", "for", "from", "in", "its", "of", "on", "the", "their", "with", "your",
];

/// What something is done to, wherever the word before it stands: `a call charges the account`.
const OBJECTS: [&str; 9] = ["a", "an", "every", "it", "its", "the", "their", "them", "your"];

/// `is marked`, `are removed`.
const PASSIVE: [&str; 6] = ["are", "be", "being", "get", "gets", "is"];

const NEGATIONS: [&str; 12] = [
    "cannot", "cant", "doesnt", "don't", "doesn't", "dont", "can't", "never", "not", "without",
    "won't", "wont",
];

/// What English has and other languages have not.
const ENGLISH: [&str; 15] = [
    "about", "all", "and", "any", "by", "for", "from", "given", "of", "the", "their", "this", "to",
    "which", "with",
];

/// What a tool does with its arguments: said of readers too.
const OF_ARGUMENTS: [&str; 4] = ["accept", "receive", "resolve", "take"];

/// Words behind one that tell what it is about.
const LOOKED_AHEAD: usize = 5;

/// A word of a text.
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that is known of it")]
struct DescriptionToken {
    /// In small letters.
    word: String,
    /// `create_issue`: the name of something else.
    is_name: bool,
    /// It begins a sentence, a line or a part of one.
    begins: bool,
    /// It is of the first sentence.
    is_first: bool,
    /// It mixes alphabets, so that it may look like another word.
    is_mixed: bool,
}

/// The words of a text that speak of a change, the first of them; or that nobody can tell.
pub(super) fn change(text: &str) -> Option<String> {
    let tokens = tokens(text);
    if let Some(token) = tokens.iter().find(|token| token.is_mixed) {
        return Some(format!("its description mixes alphabets in `{}`", token.word));
    }
    if !is_readable(text, &tokens) {
        return Some("its description is in no language that is understood here".to_owned());
    }
    let found = (0..tokens.len()).find(|at| changes(&tokens, *at));
    let word = &tokens.get(found?)?.word;
    Some(format!("its description says `{word}`"))
}

/// The word of reading that a description begins with.
pub(super) fn first_read(text: &str) -> Option<&'static str> {
    let tokens = tokens(text);
    let first = tokens.first()?;
    if let Some(("perform", VerbForm::Base | VerbForm::Third)) = of(EITHER, &first.word) {
        let mut following = tokens.iter().skip(1).take(LOOKED_AHEAD);
        return following.find_map(|token| of(READS, &token.word)).map(|(base, _)| base);
    }
    let (base, form) = of(READS, &first.word)?;
    matches!(form, VerbForm::Base | VerbForm::Third).then_some(base)
}

fn is_readable(text: &str, tokens: &[DescriptionToken]) -> bool {
    let letters = text.chars().filter(|letter| letter.is_alphabetic());
    let (all, foreign) = letters.fold((0_usize, 0_usize), |(all, foreign), letter| {
        (all + 1, foreign + usize::from(!letter.is_ascii()))
    });
    let known = |token: &DescriptionToken| {
        ENGLISH.contains(&token.word.as_str()) || of(READS, &token.word).is_some()
    };
    foreign * 4 <= all && (tokens.len() < 4 || tokens.iter().any(known))
}

fn tokens(text: &str) -> Vec<DescriptionToken> {
    let mut tokens: Vec<DescriptionToken> = Vec::new();
    let (mut word, mut begins, mut is_first) = (String::new(), true, true);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_inner = matches!(letter, '_' | '\'' | '\u{2019}') && !word.is_empty();
        if letter.is_alphanumeric() || is_inner {
            word.push(if letter == '\u{2019}' { '\'' } else { letter });
        }
        let goes_on = letters
            .peek()
            .is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '\'' | '\u{2019}'));
        if !word.is_empty() && !goes_on {
            tokens.push(token(&std::mem::take(&mut word), begins, is_first));
            begins = false;
        }
        let ends = match letter {
            '.' | '!' | '?' => letters.peek().is_none_or(|next| next.is_whitespace()),
            '\n' | ';' => true,
            _ => false,
        };
        is_first &= !ends || tokens.is_empty();
        begins |= ends || matches!(letter, ':' | '(' | '\u{2022}' | '*' | '\u{2014}');
    }
    tokens
}

fn token(written: &str, begins: bool, is_first: bool) -> DescriptionToken {
    let inner = written.chars().skip(1);
    let has_small = written.chars().any(char::is_lowercase);
    let is_name = written.contains('_') || (has_small && inner.clone().any(char::is_uppercase));
    let has = |test: fn(char) -> bool| written.chars().any(test);
    let is_mixed = has(|letter| letter.is_ascii_alphabetic())
        && has(|letter| letter.is_alphabetic() && u32::from(letter) > 0x24f);
    DescriptionToken { word: written.to_lowercase(), is_name, begins, is_first, is_mixed }
}

/// Whether the word at that place tells of a change.
fn changes(tokens: &[DescriptionToken], at: usize) -> bool {
    let Some(token) = tokens.get(at).filter(|token| !token.is_name) else { return false };
    let (base, form, is_plain) = match (of(CHANGES, &token.word), of(EITHER, &token.word)) {
        (Some((base, form)), _) => (base, form, true),
        (None, Some((base, form))) => (base, form, false),
        (None, None) => return false,
    };
    if is_denied(tokens, at, form) || is_other(tokens, at, base) {
        return false;
    }
    match form {
        VerbForm::Past => is_done(tokens, at),
        VerbForm::Base | VerbForm::Third | VerbForm::Gerund if is_plain => true,
        VerbForm::Gerund => token.begins,
        VerbForm::Base | VerbForm::Third => is_verb(tokens, at),
    }
}

/// `is marked`, `are then removed`; not `that are assigned`, which tells which ones are meant.
fn is_done(tokens: &[DescriptionToken], at: usize) -> bool {
    let mut before = before(tokens, at).skip_while(|word| {
        word.ends_with("ly") || matches!(*word, "also" | "then" | "afterwards" | "or" | "and")
    });
    let passive = before.next().is_some_and(|word| PASSIVE.contains(&word));
    passive && before.next() != Some("that")
}

/// Of a word that names a thing as well.
fn is_verb(tokens: &[DescriptionToken], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let leads = |word: &str| DETERMINERS.contains(&word);
    let has_object = tokens.get(at + 1).is_some_and(|next| !next.begins && leads(&next.word));
    let is_led_to = before(tokens, at).next().is_some_and(|word| LEADS_TO_VERB.contains(&word));
    let names = |word: &str| NAMED_AFTER.contains(&word) || of(READS, word).is_some();
    let is_named = before(tokens, at).next().is_some_and(names);
    let acts = token.word.ends_with('s')
        && !is_named
        && tokens
            .get(at + 1)
            .is_some_and(|next| !next.begins && OBJECTS.contains(&next.word.as_str()));
    (token.begins && (token.is_first || has_object)) || (is_led_to && has_object) || acts
}

/// `does not delete or move`; of `does not delete, moves` the second is said all the same.
fn is_denied(tokens: &[DescriptionToken], at: usize, form: VerbForm) -> bool {
    let is_verb = |word: &str| of(CHANGES, word).or_else(|| of(EITHER, word)).is_some();
    let joins = |word: &str| matches!(word, "or" | "nor" | "and" | "any" | "be") || is_verb(word);
    let mut words = before(tokens, at);
    if form == VerbForm::Third {
        return words.next().is_some_and(|word| matches!(word, "never" | "neither"));
    }
    let denies = words.find(|word| !joins(word) && !word.ends_with("ly"));
    denies.is_some_and(|word| NEGATIONS.contains(&word))
}

/// The words before one in its part of a sentence, the nearest first.
fn before(tokens: &[DescriptionToken], at: usize) -> impl Iterator<Item = &str> {
    let is_cut = tokens.get(at).is_none_or(|token| token.begins);
    let earlier = tokens.get(..at).unwrap_or_default().iter().rev();
    let mut over = is_cut;
    earlier.map_while(move |token| {
        if over {
            return None;
        }
        over = token.begins;
        Some(token.word.as_str())
    })
}

/// What looks like a change and is none.
fn is_other(tokens: &[DescriptionToken], at: usize, base: &str) -> bool {
    let word = tokens.get(at).map_or("", |token| token.word.as_str());
    let next = tokens.get(at + 1).map_or("", |token| token.word.as_str());
    let last = before(tokens, at).next().unwrap_or_default();
    let following =
        || tokens.iter().skip(at + 1).take(LOOKED_AHEAD).map(|token| token.word.as_str());
    let looks = |word: &str| of(READS, word).is_some() || word == "analysis";
    match base {
        "set" => {
            let names = ["a", "complete", "data", "each", "full", "result", "the", "this"];
            (word == "set" && next == "of")
                || (matches!(word, "set" | "setting") && names.contains(&last))
        }
        "make" => word == "make" && next == "sure",
        "close" => word == "close" && matches!(next, "to" | "price" | "prices"),
        "order" => word == "ordered" && matches!(next, "by" | "from" | "in"),
        "perform" => following().any(looks),
        "update" => {
            let names = ["available", "for", "latest", "news", "of", "pending", "recent", "status"];
            word == "updates" && names.contains(&last)
        }
        "take" => !following().any(|word| matches!(word, "picture" | "screenshot" | "snapshot")),
        base if OF_ARGUMENTS.contains(&base) => true,
        // `Use this before updating a record` tells of another call.
        _ => last == "before" && is_advice(tokens, at),
    }
}

/// Whether the part of the sentence tells when to call the tool.
fn is_advice(tokens: &[DescriptionToken], at: usize) -> bool {
    let first = before(tokens, at).last().unwrap_or_default();
    matches!(first, "call" | "helpful" | "ideal" | "use" | "useful")
}
