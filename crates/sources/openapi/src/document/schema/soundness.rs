//! Definitions that would never end, or would check one value too often.

use super::{DefinitionId, SchemaDefinitions, SchemaPart};

/// What checking one value against a definition costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Soundness {
    Unknown,
    /// Being counted: who comes here again goes in a circle.
    Open,
    Known(DefinitionCost),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DefinitionCost {
    /// Subschemas for one value, the definitions below included.
    visits: u64,
    /// Levels of those.
    levels: u64,
}

/// Far below what the catalog takes, since an argument may combine several definitions.
const MOST: DefinitionCost = DefinitionCost { visits: 2_000, levels: 60 };
/// For a place within a definition.
const MOST_WITHIN: u64 = 15_000;
/// Definitions that lead into each other for one value.
const LONGEST_CHAIN: usize = 40;

impl SchemaDefinitions<'_> {
    /// Opens a definition that leads back to itself before any part of a value is consumed, and
    /// one that would check a value too often.
    pub(super) fn make_sound(&mut self, id: DefinitionId) {
        let Some(definition) = self.definitions.get_mut(id.0) else { return };
        if std::mem::replace(&mut definition.is_sound, true) {
            return;
        }
        self.cost(id, 0);
        let part = self.part_of(id);
        if !self.is_sound_within(&part) {
            self.open(id, "left open: it checks one value too often");
        }
    }

    /// Whether no place of a part checks one value too often.
    pub(super) fn is_sound_within(&mut self, part: &SchemaPart) -> bool {
        part.places.iter().all(|place| {
            let below: u64 = place.refs.iter().map(|id| self.cost(*id, 0).visits).sum();
            place.subschemas + below <= MOST_WITHIN
        })
    }

    fn cost(&mut self, id: DefinitionId, depth: usize) -> DefinitionCost {
        const NOTHING: DefinitionCost = DefinitionCost { visits: 1, levels: 1 };
        let Some(definition) = self.definitions.get_mut(id.0) else { return NOTHING };
        match definition.soundness {
            Soundness::Known(cost) => return cost,
            Soundness::Open => return NOTHING,
            Soundness::Unknown => definition.soundness = Soundness::Open,
        }
        let part = self.part_of(id);
        let root = part.places.first().cloned().unwrap_or_default();
        let is_circle = |shelf: &Self, id: &DefinitionId| {
            shelf.definitions.get(id.0).is_some_and(|known| known.soundness == Soundness::Open)
        };
        let mut cost = DefinitionCost { visits: root.subschemas, levels: root.levels };
        let mut why = None;
        for below in &root.refs {
            if is_circle(self, below) {
                why = Some("left open: it leads back to itself");
                break;
            }
            if depth >= LONGEST_CHAIN {
                why = Some("left open: too many references for one value");
                break;
            }
            let more = self.cost(*below, depth + 1);
            cost.visits = cost.visits.saturating_add(more.visits);
            cost.levels = cost.levels.max(root.levels.saturating_add(more.levels));
        }
        if cost.visits > MOST.visits || cost.levels > MOST.levels {
            why = why.or(Some("left open: it checks one value too often"));
        }
        if let Some(why) = why {
            self.open(id, why);
            cost = NOTHING;
        }
        if let Some(definition) = self.definitions.get_mut(id.0) {
            definition.soundness = Soundness::Known(cost);
        }
        cost
    }
}
