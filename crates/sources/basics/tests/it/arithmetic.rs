//! The calculator: known sums, faults in words, and anything at all.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{outcome, refused, table, told};

fn expression(text: &str) -> Value {
    json!({ "expression": text })
}

#[tokio::test]
async fn whole_numbers_stay_exact_and_others_are_rounded() {
    let exact = |result: &str| json!({ "result": result, "exact": true });
    let rounded = |result: &str| json!({ "result": result, "exact": false });
    let rows = [
        ("1 + 2 * 3", exact("7")),
        ("(1 + 2) * 3", exact("9")),
        ("10 - 4 - 3", exact("3")),
        ("2 ^ 3 ^ 2", exact("512")),
        ("-2 ^ 2", exact("-4")),
        ("2 * -3", exact("-6")),
        ("--5", exact("5")),
        ("2^64", exact("18446744073709551616")),
        ("12345678901234567890 * 1000", exact("12345678901234567890000")),
        ("6 / 3", exact("2")),
        ("7 / 2", rounded("3.5")),
        ("7 % 3", exact("1")),
        ("-7 % 3", exact("-1")),
        ("2 ^ -1", rounded("0.5")),
        ("(-1) ^ 5000000001", rounded("-1.0")),
        ("1.5e3 + .5", rounded("1500.5")),
        ("2.0 ^ 200", rounded("1.6069380442589903e+60")),
        ("abs(-3) + abs(-0.5)", rounded("3.5")),
        ("sqrt(2)", rounded("1.4142135623730951")),
        ("round(2.5) + floor(-0.5) + ceil(0.2)", rounded("3.0")),
        ("round(7)", exact("7")),
        ("ln(e) + exp(0) + 0*pi", rounded("2.0")),
    ];
    table("calculate", rows.map(|(text, expected)| (expression(text), expected))).await;
}

#[tokio::test]
async fn what_cannot_be_calculated_is_told() {
    let too_large = "a whole number on the way is larger than \
                     170141183460469231731687303715884105727: write one number with a decimal \
                     point, as in `2.0`, for a rounded result";
    let too_deep = "cannot read the expression at character 65 (`((((((((((((`): nested deeper \
                    than 64: split the expression";
    let deep = "(".repeat(500);
    let rows = [
        ("1 / 0", "division by zero"),
        ("1 % (2 - 2)", "division by zero"),
        ("1 / 0.0", "division by zero"),
        ("0 ^ -1", "division by zero"),
        ("ln(0)", "a number on the way is infinite or larger than 1.7e308"),
        ("2 ^ 127", too_large),
        ("999999999999999999999999999999999999999999", too_large),
        ("2.0 ^ 5000", "a number on the way is infinite or larger than 1.7e308"),
        ("1e999", "a number on the way is infinite or larger than 1.7e308"),
        ("sqrt(-1)", "the expression has no real value"),
        ("1 +", "the expression ends where a number was expected"),
        (" ", "the expression ends where a number was expected"),
        ("(1 + 2", "a `(` is not closed"),
        ("1 2", "cannot read the expression at character 3 (`2`): expected an operator or the end"),
        ("(1 2)", "cannot read the expression at character 4 (`2)`): expected an operator or `)`"),
        ("1)", "cannot read the expression at character 2 (`)`): this `)` closes nothing"),
        (
            "2 × 3",
            "cannot read the expression at character 3 (`× 3`): expected an operator or the end",
        ),
        ("* 3", "cannot read the expression at character 1 (`* 3`): expected a number"),
        (".", "cannot read the expression at character 1 (`.`): this is no number"),
        ("cos(1)", "cannot read the expression at character 1 (`cos(1)`): unknown name"),
        ("sqrt 4", "cannot read the expression at character 6 (`4`): expected `(`"),
        (&deep, too_deep),
    ];
    let cured = |problem: &str| told(&format!("{problem}. Correct the expression and call again"));
    table("calculate", rows.map(|(text, expected)| (expression(text), cured(expected)))).await;
    refused("calculate", [expression(""), expression(&"1".repeat(1001)), json!({})]).await;
}

/// An expression as text, and its value by checked arithmetic; `None` where that overflows.
fn sums() -> impl Strategy<Value = (String, Option<i64>)> {
    let number = any::<i32>().prop_map(|number| (format!("({number})"), Some(i64::from(number))));
    number.prop_recursive(5, 32, 2, |inner| {
        let operator = prop::sample::select(vec!['+', '-', '*', '%']);
        (inner.clone(), operator, inner).prop_map(|((left, a), operator, (right, b))| {
            let value = a.zip(b).and_then(|(a, b)| match operator {
                '+' => a.checked_add(b),
                '-' => a.checked_sub(b),
                '*' => a.checked_mul(b),
                _ => a.checked_rem(b),
            });
            (format!("({left} {operator} {right})"), value)
        })
    })
}

fn calculate(text: &str) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(outcome("calculate", expression(text)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole_sums_equal_those_of_the_machine((text, value) in sums()) {
        if let Some(value) = value && text.len() <= 1000 {
            prop_assert_eq!(calculate(&text), json!({ "result": value.to_string(), "exact": true }));
        }
    }

    #[test]
    fn no_text_makes_the_calculator_panic(
        text in prop_oneof!["\\PC{1,60}", "[-+*/%^(). 0-9eabslnqrtpi]{1,120}"],
    ) {
        let outcome = calculate(&text);
        prop_assert!(outcome["result"].is_string() || outcome["tool"].is_string(), "{}", outcome);
    }
}
