//! What a run may spend. What is asked for is reserved before it is spent, so that whatever runs at
//! the same time, no more is spent than was allowed.

pub(crate) mod price;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::stop::StopReason;
use crate::usage::Usage;
use price::Price;

/// The limits of a run; `None`: none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Requests to the model in which it may call tools. When they are spent, a run may make one
    /// more for its last words; one that works for another takes that from the other's turns.
    pub turns: Option<u32>,
    /// Calls of tools.
    pub calls: Option<u32>,
    /// Tokens that are read and written.
    pub tokens: Option<u64>,
    /// Money, in the currency of the prices.
    pub cost: Option<f64>,
    /// While nobody is waited for.
    pub time: Option<Duration>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            turns: Some(20),
            calls: Some(100),
            tokens: None,
            cost: None,
            time: Some(Duration::from_mins(10)),
        }
    }
}

/// So much is set aside for the last answer, which calls no tool.
const LAST_WORDS: u64 = 1024;

/// Tokens that a turn must be able to write, or it is not begun: it would be cut.
const LEAST: u64 = 256;

/// What is left of a budget. One of a child takes from its parent's too.
#[derive(Debug)]
pub struct Account {
    budget: Budget,
    price: Option<Price>,
    spent: Mutex<Spent>,
    parent: Option<Arc<Account>>,
}

/// Spent or reserved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spent {
    turns: u32,
    calls: u32,
    tokens: u64,
    cost: f64,
}

impl Spent {
    /// The same without a part of it.
    pub(crate) fn without(self, part: Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(part.turns),
            calls: self.calls.saturating_sub(part.calls),
            tokens: self.tokens.saturating_sub(part.tokens),
            cost: (self.cost - part.cost).max(0.0),
        }
    }
}

/// What a request is to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Turn,
    /// One that is no turn: it sums up, or judges.
    Aside,
    /// The one without tools, which is paid from what was set aside.
    Last,
}

/// A request to the model that was reserved, and how much it may write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reservation {
    pub output_tokens: u64,
    tokens: u64,
    cost: f64,
}

impl Account {
    pub fn new(budget: Budget, price: Option<Price>) -> Arc<Self> {
        Arc::new(Self { budget, price, spent: Mutex::default(), parent: None })
    }

    /// One of which so much was spent before.
    pub(crate) fn going_on(budget: Budget, price: Option<Price>, spent: Spent) -> Arc<Self> {
        Arc::new(Self { budget, price, spent: Mutex::new(spent), parent: None })
    }

    pub(crate) fn saved(&self) -> Spent {
        *self.spent()
    }

    /// One whose expenses are its parent's too: whatever it reserves is reserved there as well.
    ///
    /// `price`: of its own model; `None`: where the parent has a limit of money, nothing is paid.
    pub fn child(self: &Arc<Self>, budget: Budget, price: Option<Price>) -> Arc<Self> {
        self.child_going_on(budget, price, Spent::default())
    }

    /// One of which so much was spent before, of which the parent does not know yet.
    pub(crate) fn child_going_on(
        self: &Arc<Self>,
        budget: Budget,
        price: Option<Price>,
        spent: Spent,
    ) -> Arc<Self> {
        self.add(&spent);
        let parent = Some(Arc::clone(self));
        Arc::new(Self { budget, price, spent: Mutex::new(spent), parent })
    }

    fn add(&self, more: &Spent) {
        {
            let mut spent = self.spent();
            spent.turns = spent.turns.saturating_add(more.turns);
            spent.calls = spent.calls.saturating_add(more.calls);
            spent.tokens = spent.tokens.saturating_add(more.tokens);
            spent.cost += more.cost;
        }
        if let Some(parent) = &self.parent {
            parent.add(more);
        }
    }

    /// Reserves a request beside the turns, which counts as none: what is set aside for the last
    /// answer is not touched.
    pub fn reserve_aside(&self, input: u64, output: u64) -> Result<Reservation, StopReason> {
        self.reserve_as(RequestKind::Aside, input, output, self.price)
    }

    /// Reserves a request that sends `input` tokens and may write up to `output`, or less if no
    /// more is left. `is_last`: the one without tools, which is paid from what was set aside.
    pub fn reserve(
        &self,
        input: u64,
        output: u64,
        is_last: bool,
    ) -> Result<Reservation, StopReason> {
        let kind = if is_last { RequestKind::Last } else { RequestKind::Turn };
        self.reserve_as(kind, input, output, self.price)
    }

    fn reserve_as(
        &self,
        kind: RequestKind,
        input: u64,
        output: u64,
        price: Option<Price>,
    ) -> Result<Reservation, StopReason> {
        // Held until it is reserved above too: nobody reserves in between. Children lock before
        // their parents, and no other way round.
        let mut spent = self.spent();
        let own = self.left(&spent, input, output, kind, price)?;
        let is_last_of_child = kind == RequestKind::Last && self.parent.is_some();
        let output_tokens = match &self.parent {
            Some(parent) => {
                // What is set aside there is for the last words of the parent.
                let above = if is_last_of_child { RequestKind::Turn } else { kind };
                parent.reserve_as(above, input, own, price)?.output_tokens
            }
            None => own,
        };
        let tokens = input.saturating_add(output_tokens);
        let cost = price.map_or(0.0, |price| price.of(input, output_tokens));
        spent.tokens = spent.tokens.saturating_add(tokens);
        spent.cost += cost;
        spent.turns += u32::from(kind == RequestKind::Turn || is_last_of_child);
        Ok(Reservation { output_tokens, tokens, cost })
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left(
        &self,
        spent: &Spent,
        input: u64,
        output: u64,
        kind: RequestKind,
        price: Option<Price>,
    ) -> Result<u64, StopReason> {
        let is_last = kind == RequestKind::Last;
        if kind == RequestKind::Turn && self.budget.turns.is_some_and(|turns| spent.turns >= turns)
        {
            return Err(StopReason::Turns);
        }
        let mut left = output;
        let least = output.min(if is_last { 1 } else { LEAST });
        // The last turn reads the thread too.
        let aside = if is_last { 0 } else { LAST_WORDS.saturating_add(input) };
        if let Some(tokens) = self.budget.tokens {
            let free = tokens.saturating_sub(spent.tokens).saturating_sub(aside);
            left = left.min(free.saturating_sub(input));
            if left < least {
                return Err(StopReason::Tokens);
            }
        }
        if let Some(cost) = self.budget.cost {
            // What nobody knows the price of is not paid.
            let price = price.ok_or(StopReason::Cost)?;
            let aside = if is_last { 0.0 } else { price.of(input, LAST_WORDS) };
            let free = cost - spent.cost - aside - price.of(input, 0);
            let one = price.of(0, 1);
            let writes = if one > 0.0 { free / one } else { f64::from(u32::MAX) };
            if free <= 0.0 || writes < 1.0 {
                return Err(StopReason::Cost);
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is at least one, and more than fits is as much as there is"
            )]
            let writes = writes as u64;
            left = left.min(writes);
            if left < least {
                return Err(StopReason::Cost);
            }
        }
        Ok(left)
    }

    /// Puts what was used in the place of what was reserved.
    pub fn settle(&self, reserved: Reservation, used: &Usage) {
        let price = self.price;
        let cost = price.map_or(0.0, |price| price.of(used.input_tokens, used.output_tokens));
        self.settle_as(reserved, used.total(), cost);
    }

    fn settle_as(&self, reserved: Reservation, tokens: u64, cost: f64) {
        {
            let mut spent = self.spent();
            spent.tokens = spent.tokens.saturating_sub(reserved.tokens).saturating_add(tokens);
            spent.cost = spent.cost - reserved.cost + cost;
        }
        if let Some(parent) = &self.parent {
            parent.settle_as(reserved, tokens, cost);
        }
    }

    /// How many of so many calls may run; they count as run.
    pub fn take_calls(&self, wished: u32) -> u32 {
        let mut spent = self.spent();
        let own = self.budget.calls.map_or(wished, |calls| calls.saturating_sub(spent.calls));
        let own = own.min(wished);
        let taken = self.parent.as_ref().map_or(own, |parent| parent.take_calls(own));
        spent.calls = spent.calls.saturating_add(taken);
        taken
    }

    /// What was spent so far, with what is reserved: turns, calls, tokens, money.
    pub fn totals(&self) -> (u32, u32, u64, f64) {
        let spent = *self.spent();
        (spent.turns, spent.calls, spent.tokens, spent.cost)
    }
}
