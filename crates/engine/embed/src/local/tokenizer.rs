//! Texts as numbers of tokens: `WordPiece`, as `tokenizer.json` describes it.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::folder::ModelFileFault;
use super::normalizer::BertNormalizer;

/// Bytes of a text that are looked at: many times what the longest models read.
const LONGEST_TEXT: usize = 64 * 1024;
/// Tokens with a rule of their own; BERT has five.
const MOST_ADDED: usize = 1024;

/// Cuts texts into tokens that a model knows.
#[derive(Debug)]
pub(crate) struct Tokenizer {
    normal: BertNormalizer,
    words: HashMap<Box<str>, u32>,
    unknown: u32,
    /// Stands before a piece that goes on with a word.
    prefix: String,
    longest_word: usize,
    added: Vec<AddedToken>,
    before: Vec<u32>,
    after: Vec<u32>,
}

#[derive(Deserialize)]
struct TokenizerFile {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<PreTokenizer>,
    post_processor: Option<PostProcessor>,
    model: WordPieceModel,
}

/// A token that is found in the text as it stands.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the file has a flag for each rule")]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Normalizer {
    BertNormalizer(BertNormalizer),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PreTokenizer {
    BertPreTokenizer,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PostProcessor {
    TemplateProcessing {
        single: Vec<TemplateToken>,
        special_tokens: HashMap<String, SpecialTokenIds>,
    },
    BertProcessing {
        sep: (IgnoredAny, u32),
        cls: (IgnoredAny, u32),
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
enum TemplateToken {
    SpecialToken { id: String },
    Sequence {},
}

#[derive(Deserialize)]
struct SpecialTokenIds {
    ids: Vec<u32>,
}

#[derive(Deserialize)]
struct WordPieceModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    unk_token: String,
    #[serde(default = "hashes")]
    continuing_subword_prefix: String,
    #[serde(default = "hundred")]
    max_input_chars_per_word: usize,
    #[serde(default)]
    vocab: Vocabulary,
}

/// The words of a `WordPiece` model; another kind has a list of something else.
#[derive(Deserialize)]
#[serde(untagged)]
enum Vocabulary {
    Words(HashMap<Box<str>, u32>),
    Other(IgnoredAny),
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::Other(IgnoredAny)
    }
}

fn hashes() -> String {
    "##".to_owned()
}

fn hundred() -> usize {
    100
}

impl Tokenizer {
    /// Reads a `tokenizer.json` for a model that knows `known` tokens.
    pub(crate) fn read(text: &[u8], known: usize) -> Result<Self, ModelFileFault> {
        // By a value: what is tried in several ways takes no number of a text.
        let read = serde_json::from_slice::<Value>(text).and_then(serde_json::from_value);
        let file: TokenizerFile =
            read.map_err(|cause| ModelFileFault::broken(cause.to_string()))?;
        let WordPieceModel {
            kind,
            unk_token,
            continuing_subword_prefix,
            max_input_chars_per_word,
            vocab,
        } = file.model;
        let (true, Vocabulary::Words(words)) =
            (kind.as_deref().is_none_or(|kind| kind == "WordPiece"), vocab)
        else {
            return Err(ModelFileFault::unsupported("its tokenizer is no WordPiece"));
        };
        let Some(Normalizer::BertNormalizer(normal)) = file.normalizer else {
            return Err(ModelFileFault::unsupported(
                "its tokenizer has another normalizer than BERT's",
            ));
        };
        if !matches!(file.pre_tokenizer, Some(PreTokenizer::BertPreTokenizer)) {
            return Err(ModelFileFault::unsupported(
                "its tokenizer cuts words in another way than BERT's",
            ));
        }
        let is_strange =
            |added: &AddedToken| added.content.is_empty() || added.single_word || added.normalized;
        if file.added_tokens.len() > MOST_ADDED || file.added_tokens.iter().any(is_strange) {
            return Err(ModelFileFault::unsupported(
                "its tokenizer has added tokens with rules of their own",
            ));
        }
        let unknown = words.get(unk_token.as_str()).copied();
        let unknown = unknown
            .ok_or_else(|| ModelFileFault::broken("its `unk_token` is no word of its own"))?;
        let (before, after) = around(file.post_processor)?;
        let read = Self {
            normal,
            unknown,
            prefix: continuing_subword_prefix,
            longest_word: max_input_chars_per_word,
            added: file.added_tokens,
            before,
            after,
            words,
        };
        let is_known = |id: &u32| usize::try_from(*id).is_ok_and(|id| id < known);
        let added = read.added.iter().map(|added| &added.id);
        let mut ids = read.words.values().chain(&read.before).chain(&read.after).chain(added);
        if !ids.all(is_known) {
            return Err(ModelFileFault::broken(format!(
                "it has tokens beyond the {known} of its model"
            )));
        }
        Ok(read)
    }

    /// Capitals are as good as small letters, whatever the file says.
    pub(crate) fn lowercase(&mut self) {
        self.normal.lowercase = true;
    }

    /// The tokens of a text with those around it, `longest` at most: what is too long loses its
    /// end.
    pub(crate) fn encode(&self, text: &str, longest: usize) -> Vec<u32> {
        let room = longest.saturating_sub(self.before.len() + self.after.len());
        let mut tokens = Vec::new();
        let mut rest = text.get(..text.floor_char_boundary(LONGEST_TEXT)).unwrap_or(text);
        while !rest.is_empty() && tokens.len() < room {
            let (plain, added, next) = self.next(rest);
            for word in self.normal.words(plain) {
                if tokens.len() >= room {
                    break;
                }
                self.pieces(&word, &mut tokens);
            }
            tokens.extend(added);
            rest = next;
        }
        tokens.truncate(room);
        if tokens.is_empty() && self.before.is_empty() && self.after.is_empty() {
            // A model cannot read nothing.
            tokens.push(self.unknown);
        }
        [self.before.as_slice(), &tokens, &self.after].concat()
    }

    /// The text up to the next added token, that token, and the text after it.
    fn next<'t>(&self, text: &'t str) -> (&'t str, Option<u32>, &'t str) {
        let found = self.added.iter().filter_map(|added| {
            text.find(&added.content).map(|at| (at, usize::MAX - added.content.len(), added))
        });
        // Of two that begin at one place, the longer.
        let Some((at, _, added)) = found.min_by_key(|(at, shortness, _)| (*at, *shortness)) else {
            return (text, None, "");
        };
        let (plain, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let rest = rest.strip_prefix(added.content.as_str()).unwrap_or("");
        let plain = if added.lstrip { plain.trim_end() } else { plain };
        let rest = if added.rstrip { rest.trim_start() } else { rest };
        (plain, Some(added.id), rest)
    }

    /// The longest known pieces of a word from its front on; a word with an unknown one is unknown.
    fn pieces(&self, word: &str, tokens: &mut Vec<u32>) {
        let begun = tokens.len();
        if word.chars().count() > self.longest_word {
            tokens.push(self.unknown);
            return;
        }
        let mut rest = word;
        let mut piece = String::new();
        while !rest.is_empty() {
            let is_first = rest.len() == word.len();
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8());
            let known = ends.rev().find_map(|end| {
                let front = rest.get(..end)?;
                piece.clear();
                if !is_first {
                    piece.push_str(&self.prefix);
                }
                piece.push_str(front);
                Some((*self.words.get(piece.as_str())?, end))
            });
            let Some((token, end)) = known else {
                tokens.truncate(begun);
                tokens.push(self.unknown);
                return;
            };
            tokens.push(token);
            rest = rest.get(end..).unwrap_or_default();
        }
    }
}

/// The tokens before a text and those after it.
fn around(processor: Option<PostProcessor>) -> Result<(Vec<u32>, Vec<u32>), ModelFileFault> {
    let (single, special_tokens) = match processor {
        None => return Ok((Vec::new(), Vec::new())),
        Some(PostProcessor::BertProcessing { sep, cls }) => return Ok((vec![cls.1], vec![sep.1])),
        Some(PostProcessor::TemplateProcessing { single, special_tokens }) => {
            (single, special_tokens)
        }
        Some(PostProcessor::Other) => {
            let what = "its tokenizer puts other tokens around a text than BERT's";
            return Err(ModelFileFault::unsupported(what));
        }
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut texts = 0;
    for part in single {
        match part {
            TemplateToken::Sequence {} => texts += 1,
            TemplateToken::SpecialToken { id } => {
                let special = special_tokens.get(&id);
                let side = if texts == 0 { &mut before } else { &mut after };
                side.extend(special.map(|special| &special.ids).into_iter().flatten());
            }
        }
    }
    // More would leave no room for a text.
    if texts == 1 && before.len() + after.len() <= 2 {
        return Ok((before, after));
    }
    Err(ModelFileFault::unsupported(
        "its tokenizer puts more around a text than a token on each side",
    ))
}
