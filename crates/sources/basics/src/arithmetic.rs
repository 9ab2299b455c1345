//! The calculator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::ToolError;

use crate::expression::{CalculatorNumber, evaluate};
use crate::tool::{BasicToolInfo, BasicToolsResult, basic};

pub(crate) fn tools() -> BasicToolsResult {
    let about = BasicToolInfo {
        name: "calculate",
        category: "arithmetic",
        action: "calculate",
        summary: "Evaluates an arithmetic expression.",
        description: "Evaluates an arithmetic expression. Use it for every calculation that is \
                      not trivial: whole numbers are exact up to 38 digits. Read are numbers, \
                      + - * / % ^, parentheses, pi, e, and abs, ceil, exp, floor, ln, round, \
                      sqrt of one argument.",
        steady: true,
    };
    Ok(vec![basic(&about, calculate)?])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CalculateArguments {
    /// The expression, such as `(3 + 4) * 2 ^ 10`; `%` is the remainder, `^` the power.
    #[schemars(length(min = 1, max = 1000))]
    expression: String,
}

#[derive(Serialize, JsonSchema)]
struct CalculateResult {
    /// The number in digits: text, because whole numbers may be longer than JSON's are exact.
    result: String,
    /// Whether it is a whole number without any rounding on the way.
    exact: bool,
}

fn calculate(
    CalculateArguments { expression }: CalculateArguments,
) -> Result<CalculateResult, ToolError> {
    let number = evaluate(&expression).map_err(|problem| {
        ToolError::told(format!("{problem}. Correct the expression and call again"))
    })?;
    Ok(match number {
        CalculatorNumber::Whole(whole) => {
            CalculateResult { result: whole.to_string(), exact: true }
        }
        CalculatorNumber::Rounded(rounded) => {
            // Shortest digits that mean the same number, with an exponent where that is shorter.
            let result = serde_json::Value::from(rounded).to_string();
            CalculateResult { result, exact: false }
        }
    })
}
