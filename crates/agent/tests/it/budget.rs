//! What is reserved before it is spent.

use std::sync::Arc;

use proptest::prelude::*;
use toolcrib_agent::{Account, Budget, Price, StopReason, Usage, UsageSource};

fn used(input: u64, output: u64) -> Usage {
    Usage { input_tokens: input, output_tokens: output, ..Usage::default() }
}

#[test]
fn the_last_answer_is_paid_from_what_was_set_aside() {
    let account =
        Account::new(Budget { tokens: Some(4_000), turns: Some(9), ..Budget::default() }, None);
    // 1,024 tokens are set aside, and what the last turn reads.
    let first = account.reserve(500, 4_096, false).unwrap();
    assert_eq!(first.output_tokens, 1_976);
    account.settle(first, &used(500, 1_976));
    assert_eq!(account.reserve(300, 4_096, false), Err(StopReason::Tokens));
    let last = account.reserve(100, 4_096, true).unwrap();
    assert_eq!(last.output_tokens, 1_424);
}

#[test]
fn money_bounds_what_may_be_written() {
    let price = Price { input: 1.0, output: 10.0 };
    let budget = Budget { cost: Some(0.030_005), turns: None, ..Budget::default() };
    let account = Account::new(budget, Some(price));
    let reserved = account.reserve(1_000, 100_000, false).unwrap();
    // 0.030005 less 0.001 for what is read, and for the last answer as much and 0.01024, at 0.00001
    // a token.
    assert_eq!(reserved.output_tokens, 1_776);
}

#[test]
fn a_sum_is_as_good_as_the_weakest_of_its_parts() {
    let mut sum = used(1, 2);
    sum.add(Usage::estimated(5, 4));
    assert_eq!((sum.total(), sum.source), (6, UsageSource::Estimated));
    sum.add(used(1, 1));
    assert_eq!(sum.source, UsageSource::Estimated);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_runs_at_the_same_time_no_more_is_spent_than_was_allowed(
        turns in 1..12_u32,
        calls in 0..20_u32,
        tokens in 1_500..20_000_u64,
        wishes in prop::collection::vec((1..600_u64, 1..900_u64, 0..6_u32), 1..40),
    ) {
        let whole = Account::new(
            Budget { turns: Some(turns), calls: Some(calls), tokens: Some(tokens), cost: None, time: None },
            None,
        );
        let children: Vec<_> = (0..4)
            .map(|_| whole.child(Budget { turns: Some(turns), ..Budget::default() }, None))
            .collect();
        std::thread::scope(|scope| {
            for (number, child) in children.iter().enumerate() {
                let (wishes, child) = (&wishes, Arc::clone(child));
                scope.spawn(move || {
                    for (input, output, calls) in wishes.iter().skip(number) {
                        child.take_calls(*calls);
                        if let Ok(reserved) = child.reserve(*input, *output, false) {
                            std::thread::yield_now();
                            // A model writes at the most what it may.
                            child.settle(reserved, &used(*input, reserved.output_tokens));
                        }
                    }
                });
            }
        });
        let (spent_turns, spent_calls, spent_tokens, _) = whole.totals();
        prop_assert!(spent_turns <= turns && spent_calls <= calls && spent_tokens <= tokens);
        let of_children = children.iter().map(|child| child.totals());
        let sums = of_children.fold((0, 0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1, sum.2 + of.2));
        prop_assert_eq!(sums, (spent_turns, spent_calls, spent_tokens));
    }
}
