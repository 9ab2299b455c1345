//! The words of a turn as they came, piece by piece. Long ones stand in the events already, and are
//! named here by their digest.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcrib_core::{Fingerprint, SourceId};
use toolcrib_dialect::HostedCall;

use crate::model::ModelDelta;

/// Words that are shorter than it, in bytes, are written once more: a digest is no shorter.
const SHORT: usize = 96;

/// What a model said, until it said something of another kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WordsEntry {
    Text(PiecesEntry),
    Reasoning(PiecesEntry),
    Retracted(String),
    OtherModel(String),
    /// A call that the provider made.
    Hosted(HostedEntry),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostedEntry {
    id: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<SourceId>,
    arguments: String,
    text: TextEntry,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_failed: bool,
}

/// The pieces of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PiecesEntry {
    Whole(Vec<String>),
    /// `lengths`: of the pieces, in bytes.
    Cut {
        digest: Fingerprint,
        lengths: Vec<usize>,
    },
}

/// A text that is written down elsewhere too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextEntry {
    Whole(String),
    Kept(Fingerprint),
}

/// The texts of a record, by their digests.
#[derive(Debug, Default)]
pub(crate) struct TextPool {
    texts: HashMap<Fingerprint, Arc<str>>,
    /// Bytes that may still be taken out. Each text is told as often as it stands in the events, so
    /// that no record gives more than its own size.
    left: usize,
}

/// A record has not the text that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoSuchText;

impl TextEntry {
    /// Of a text that the events have too.
    pub(crate) fn of(text: &str) -> Self {
        if text.len() < SHORT { Self::Whole(text.to_owned()) } else { Self::Kept(digest(text)) }
    }

    pub(crate) fn text(&self, pool: &mut TextPool) -> Result<String, NoSuchText> {
        match self {
            Self::Whole(text) => Ok(text.clone()),
            Self::Kept(digest) => Ok(pool.get(digest)?.as_ref().to_owned()),
        }
    }
}

impl TextPool {
    /// `left`: bytes of the record.
    pub(crate) fn new(left: usize) -> Self {
        Self { texts: HashMap::new(), left }
    }

    pub(crate) fn put(&mut self, text: &str) {
        if text.len() >= SHORT {
            self.texts.insert(digest(text), text.into());
        }
    }

    fn get(&mut self, digest: &Fingerprint) -> Result<Arc<str>, NoSuchText> {
        let text = self.texts.get(digest).cloned().ok_or(NoSuchText)?;
        self.spend(text.len())?;
        Ok(text)
    }

    /// Takes so many bytes of what may be taken out.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), NoSuchText> {
        self.left = self.left.checked_sub(bytes).ok_or(NoSuchText)?;
        Ok(())
    }
}

impl PiecesEntry {
    fn of(pieces: Vec<String>) -> Self {
        if pieces.iter().map(String::len).sum::<usize>() < SHORT {
            return Self::Whole(pieces);
        }
        let lengths = pieces.iter().map(String::len).collect();
        Self::Cut { digest: digest(&pieces.concat()), lengths }
    }

    fn pieces(&self, pool: &mut TextPool) -> Result<Vec<String>, NoSuchText> {
        let (digest, lengths) = match self {
            Self::Whole(pieces) => return Ok(pieces.clone()),
            Self::Cut { digest, lengths } => (digest, lengths),
        };
        let text = pool.get(digest)?;
        let mut rest: &str = &text;
        let mut pieces = Vec::with_capacity(lengths.len().min(text.len()));
        for length in lengths {
            let (piece, behind) = rest.split_at_checked(*length).ok_or(NoSuchText)?;
            pieces.push(piece.to_owned());
            rest = behind;
        }
        if rest.is_empty() { Ok(pieces) } else { Err(NoSuchText) }
    }
}

impl WordsEntry {
    pub(crate) fn deltas(&self, pool: &mut TextPool) -> Result<Vec<ModelDelta>, NoSuchText> {
        Ok(match self {
            Self::Text(pieces) => pieces.pieces(pool)?.into_iter().map(ModelDelta::Text).collect(),
            Self::Reasoning(pieces) => {
                pieces.pieces(pool)?.into_iter().map(ModelDelta::Reasoning).collect()
            }
            Self::Retracted(why) => vec![ModelDelta::Retracted(why.clone())],
            Self::OtherModel(told) => vec![ModelDelta::OtherModel(told.clone())],
            Self::Hosted(call) => vec![ModelDelta::Hosted(Box::new(call.call(pool)?))],
        })
    }
}

impl HostedEntry {
    fn of(call: HostedCall) -> Self {
        let HostedCall { id, name, source, arguments, text, is_failed } = call;
        Self { id, name, source, arguments, text: TextEntry::of(&text), is_failed }
    }

    fn call(&self, pool: &mut TextPool) -> Result<HostedCall, NoSuchText> {
        let Self { id, name, source, arguments, text, is_failed } = self.clone();
        Ok(HostedCall { id, name, source, arguments, text: text.text(pool)?, is_failed })
    }
}

/// Puts the pieces of one kind together that follow each other.
pub(crate) fn words_of(deltas: Vec<ModelDelta>) -> Vec<WordsEntry> {
    let mut words = Vec::new();
    let mut open: Vec<String> = Vec::new();
    let mut is_text = true;
    let close = |open: &mut Vec<String>, is_text: bool, words: &mut Vec<WordsEntry>| {
        if !open.is_empty() {
            let pieces = PiecesEntry::of(std::mem::take(open));
            let kind = if is_text { WordsEntry::Text } else { WordsEntry::Reasoning };
            words.push(kind(pieces));
        }
    };
    for delta in deltas {
        match delta {
            ModelDelta::Text(piece) => {
                if !is_text {
                    close(&mut open, is_text, &mut words);
                }
                is_text = true;
                open.push(piece);
            }
            ModelDelta::Reasoning(piece) => {
                if is_text {
                    close(&mut open, is_text, &mut words);
                }
                is_text = false;
                open.push(piece);
            }
            ModelDelta::Retracted(why) => {
                close(&mut open, is_text, &mut words);
                words.push(WordsEntry::Retracted(why));
            }
            ModelDelta::OtherModel(told) => {
                close(&mut open, is_text, &mut words);
                words.push(WordsEntry::OtherModel(told));
            }
            ModelDelta::Hosted(call) => {
                close(&mut open, is_text, &mut words);
                words.push(WordsEntry::Hosted(HostedEntry::of(*call)));
            }
        }
    }
    close(&mut open, is_text, &mut words);
    words
}

fn digest(text: &str) -> Fingerprint {
    Fingerprint::of(&text.into())
}
