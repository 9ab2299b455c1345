//! What is wished of a partition.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// What a partition is to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartitionSettings<'a> {
    /// The agents, in order.
    pub agents: Vec<PartitionAgent<'a>>,
    /// How many tools an agent has at the most, shared ones counted; `None`: half more than an
    /// equal share, and what is shared beside it.
    pub capacity: Option<usize>,
    pub overlap: Overlap,
    /// Whether more than one agent may have a tool that may change something.
    pub shares_writers: bool,
}

impl PartitionSettings<'_> {
    /// What closed agents have.
    pub(super) fn kept(&self) -> BTreeSet<usize> {
        let closed = self.agents.iter().filter(|agent| agent.closed);
        closed.flat_map(|agent| &agent.fixed).copied().collect()
    }
}

/// An agent, as a partition sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionAgent<'a> {
    /// What it is for, in words; empty: that shows by its tools.
    pub role: Cow<'a, str>,
    /// The places of documents that it has in any case, whatever else is in the way but the
    /// capacity. A document that several agents name is with each.
    pub fixed: Vec<usize>,
    /// Whether it has these alone, and no share in the rest.
    pub closed: bool,
}

/// Whether a tool may be with more than one agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Each with one.
    #[default]
    None,
    /// What the tools of another group need, or fits there nearly as well, is there too.
    Bridges,
    /// Each with so many agents at the most, where it has anything in common with their tools.
    UpTo(usize),
}
