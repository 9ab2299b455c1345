//! What a question gives every document: the sum over its words, and the best of its clauses.

use std::cell::RefCell;
use std::cmp::Ordering;

use super::parse::ParsedQuery;
use crate::index::{Posting, SearchIndex};
use crate::number_cast::place;

/// How much the best clause counts beside the whole question, which counts 1.
const BEST_CLAUSE: f32 = 0.8;

/// What one document has so far; 0 in `whole` is one that was not met, below 0 one that may not be
/// found.
#[derive(Debug, Clone, Copy, Default)]
struct DocumentScore {
    /// The word that was last met here, and the most that it gave.
    word: u32,
    best: f32,
    /// The sum of the clause that is being read.
    clause: f32,
    whole: f32,
    /// The best clause that is over, as a share of what it gave to any document.
    share: f32,
}

/// Room that is used again by the next search of the thread.
#[derive(Debug, Default)]
struct ScoreBuffer {
    slots: Vec<DocumentScore>,
    /// Documents that were met, and those of them that the clause met.
    met: Vec<u32>,
    of_clause: Vec<u32>,
    word: u32,
    /// Whether the question has more than one clause; the shares of a single one are those of the
    /// whole.
    has_clauses: bool,
    /// The most that any document has, of the whole and of the clause that is being read.
    most_whole: f32,
    most_clause: f32,
}

/// A document and what it is worth to the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredDocument {
    pub(crate) document: u32,
    /// From 0 to 1, which is one that has the most in every regard.
    pub(crate) score: f32,
}

/// The best `keep` of the documents that share a word with the question and that `lets` lets
/// through, in no order, and how many there are.
pub(crate) fn scores(
    index: &SearchIndex,
    asked: &ParsedQuery,
    keep: usize,
    lets: &dyn Fn(usize) -> bool,
) -> (Vec<ScoredDocument>, usize) {
    thread_local! {
        static ROOM: RefCell<ScoreBuffer> = RefCell::default();
    }
    let with = |room: &mut ScoreBuffer| {
        room.read(index, asked, lets);
        (room.best(keep.max(1)), room.met.len())
    };
    ROOM.with(|room| match room.try_borrow_mut() {
        Ok(mut room) => with(&mut room),
        // `lets` searches, too.
        Err(_) => with(&mut ScoreBuffer::default()),
    })
}

impl ScoreBuffer {
    fn read(&mut self, index: &SearchIndex, asked: &ParsedQuery, lets: &dyn Fn(usize) -> bool) {
        self.slots.clear();
        self.slots.resize(index.len(), DocumentScore::default());
        self.met.clear();
        (self.word, self.most_whole) = (0, 0.0);
        self.has_clauses = asked.clauses.len() > 1;
        let mut seen = vec![false; asked.words.len()];
        for clause in &asked.clauses {
            for at in clause {
                let Some((word, seen)) = asked.words.get(*at).zip(seen.get_mut(*at)) else {
                    continue;
                };
                let is_new = !std::mem::replace(seen, true);
                self.word += 1;
                for lead in asked.leads(word) {
                    let weight = lead.weight * word.weight;
                    self.lead(index.postings(lead.term), weight, is_new, lets);
                }
            }
            self.end_clause();
        }
    }

    /// Adds what a word of the catalog gives; of the words that one of the question leads to, only
    /// the one that gives most counts.
    fn lead(
        &mut self,
        postings: &[Posting],
        weight: f32,
        is_new: bool,
        lets: &dyn Fn(usize) -> bool,
    ) {
        for posting in postings {
            let Some(slot) = self.slots.get_mut(place(posting.document)) else { continue };
            if slot.word == 0 && slot.whole == 0.0 && !lets(place(posting.document)) {
                slot.whole = -1.0;
            }
            if slot.whole < 0.0 {
                continue;
            }
            let gain = posting.gain * weight;
            if slot.word != self.word {
                if slot.word == 0 {
                    self.met.push(posting.document);
                }
                (slot.word, slot.best) = (self.word, 0.0);
            }
            if gain > slot.best {
                let more = gain - slot.best;
                slot.best = gain;
                if is_new {
                    slot.whole += more;
                    self.most_whole = self.most_whole.max(slot.whole);
                }
                if self.has_clauses {
                    if slot.clause == 0.0 {
                        self.of_clause.push(posting.document);
                    }
                    slot.clause += more;
                    self.most_clause = self.most_clause.max(slot.clause);
                }
            }
        }
    }

    fn end_clause(&mut self) {
        let most = std::mem::take(&mut self.most_clause);
        for document in self.of_clause.drain(..) {
            if let Some(slot) = self.slots.get_mut(place(document)) {
                slot.share = slot.share.max(slot.clause / most);
                slot.clause = 0.0;
            }
        }
    }

    /// The best ones so far are kept, and what is below the least of them is passed over.
    fn best(&self, keep: usize) -> Vec<ScoredDocument> {
        let best_clause = if self.has_clauses { BEST_CLAUSE } else { 0.0 };
        let room = keep.saturating_mul(2).saturating_add(64);
        let mut kept: Vec<ScoredDocument> = Vec::with_capacity(room.min(self.met.len()));
        let mut least = f32::NEG_INFINITY;
        for document in &self.met {
            let Some(DocumentScore { whole, share, .. }) = self.slots.get(place(*document)) else {
                continue;
            };
            let score = (whole / self.most_whole + best_clause * share) / (1.0 + best_clause);
            if score < least {
                continue;
            }
            kept.push(ScoredDocument { document: *document, score });
            if kept.len() == room {
                kept.select_nth_unstable_by(keep, order);
                kept.truncate(keep);
                least = kept.iter().map(|kept| kept.score).fold(f32::INFINITY, f32::min);
            }
        }
        kept
    }
}

/// Which of two is better; of equals, the earlier document.
pub(crate) fn better(left: ScoredDocument, right: ScoredDocument) -> ScoredDocument {
    if order(&left, &right).is_le() { left } else { right }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that sorting asks for")]
fn order(left: &ScoredDocument, right: &ScoredDocument) -> Ordering {
    right.score.total_cmp(&left.score).then(left.document.cmp(&right.document))
}

/// The best ones, best first, equals in the order of the documents.
pub(crate) fn best(mut scored: Vec<ScoredDocument>, limit: usize) -> Vec<ScoredDocument> {
    if limit < scored.len() {
        scored.select_nth_unstable_by(limit, order);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(order);
    scored
}
