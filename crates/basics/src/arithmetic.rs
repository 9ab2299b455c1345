//! The calculator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib_core::ToolError;

use crate::expression::{Number, evaluate};
use crate::tool::{About, Tools, basic};

pub(crate) fn tools() -> Tools {
    let about = About {
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
struct Calculate {
    /// The expression, such as `(3 + 4) * 2 ^ 10`; `%` is the remainder, `^` the power.
    #[schemars(length(min = 1, max = 1000))]
    expression: String,
}

#[derive(Serialize, JsonSchema)]
struct Calculated {
    /// The number in digits: text, because whole numbers may be longer than JSON's are exact.
    result: String,
    /// Whether it is a whole number without any rounding on the way.
    exact: bool,
}

fn calculate(Calculate { expression }: Calculate) -> Result<Calculated, ToolError> {
    let number = evaluate(&expression).map_err(|problem| {
        ToolError::told(format!("{problem}. Correct the expression and call again"))
    })?;
    Ok(match number {
        Number::Whole(whole) => Calculated { result: whole.to_string(), exact: true },
        Number::Rounded(rounded) => {
            // Shortest digits that mean the same number, with an exponent where that is shorter.
            let result = serde_json::Value::from(rounded).to_string();
            Calculated { result, exact: false }
        }
    })
}
