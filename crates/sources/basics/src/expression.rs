//! Arithmetic expressions: read and evaluated in one pass, with a depth bound.

/// Parentheses, signs and powers inside each other.
const DEEPEST: usize = 64;

/// A whole number stays whole as long as it can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CalculatorNumber {
    Whole(i128),
    /// Finite, always.
    Rounded(f64),
}
use CalculatorNumber::{Rounded, Whole};

/// The value of an expression, or what is wrong with it in words for a model.
///
/// `^` binds closest and to the right, then signs, then `* / %`, then `+ -`. The remainder has the
/// sign of its first operand.
pub(crate) fn evaluate(text: &str) -> Result<CalculatorNumber, String> {
    let mut reader = ExpressionParser { text, at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(')') => Err(reader.fault("this `)` closes nothing")),
        Some(_) => Err(reader.fault("expected an operator or the end")),
    }
}

struct ExpressionParser<'t> {
    text: &'t str,
    /// In bytes, always between two characters.
    at: usize,
    depth: usize,
}

impl<'t> ExpressionParser<'t> {
    fn sum(&mut self) -> Result<CalculatorNumber, String> {
        let mut left = self.product()?;
        while let Some(operator) = self.take_one_of("+-") {
            left = operate(operator, left, self.product()?)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<CalculatorNumber, String> {
        let mut left = self.signed()?;
        while let Some(operator) = self.take_one_of("*/%") {
            left = operate(operator, left, self.signed()?)?;
        }
        Ok(left)
    }

    /// Every way into itself leads through here, so the depth is counted here alone.
    fn signed(&mut self) -> Result<CalculatorNumber, String> {
        if self.depth == DEEPEST {
            return Err(self.fault(&format!("nested deeper than {DEEPEST}: split the expression")));
        }
        self.depth += 1;
        let value = match self.take_one_of("+-") {
            Some('-') => operate('-', Whole(0), self.signed()?)?,
            Some(_) => self.signed()?,
            None => self.power()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<CalculatorNumber, String> {
        let base = self.atom()?;
        match self.take_one_of("^") {
            Some(operator) => operate(operator, base, self.signed()?),
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<CalculatorNumber, String> {
        match self.peek() {
            Some('(') => self.parenthesis(),
            Some(first) if first.is_ascii_digit() || first == '.' => self.number(),
            Some(first) if first.is_ascii_alphabetic() => self.word(),
            Some(_) => Err(self.fault("expected a number")),
            None => Err("the expression ends where a number was expected".to_owned()),
        }
    }

    fn parenthesis(&mut self) -> Result<CalculatorNumber, String> {
        if self.take_one_of("(").is_none() {
            return Err(self.fault("expected `(`"));
        }
        let value = self.sum()?;
        match self.take_one_of(")") {
            Some(_) => Ok(value),
            None if self.peek().is_none() => Err("a `(` is not closed".to_owned()),
            None => Err(self.fault("expected an operator or `)`")),
        }
    }

    fn number(&mut self) -> Result<CalculatorNumber, String> {
        let fault = self.fault("this is no number");
        let start = self.at;
        self.skip(|c| c.is_ascii_digit());
        let mut whole = true;
        if self.rest().starts_with('.') {
            whole = false;
            self.at += 1;
            self.skip(|c| c.is_ascii_digit());
        }
        // An `e` belongs to the number only if digits follow.
        let exponent = self.rest().strip_prefix(['e', 'E']).map(|rest| {
            rest.strip_prefix(['+', '-']).unwrap_or(rest).starts_with(|c: char| c.is_ascii_digit())
        });
        if exponent == Some(true) {
            whole = false;
            self.at += 2;
            self.skip(|c| c.is_ascii_digit());
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        if whole {
            return digits.parse().map(Whole).map_err(|_| too_large());
        }
        digits.parse().map_err(|_| fault).and_then(finite)
    }

    /// A constant, or a function and its argument.
    fn word(&mut self) -> Result<CalculatorNumber, String> {
        let fault = self.fault("unknown name");
        let start = self.at;
        self.skip(|c| c.is_ascii_alphanumeric());
        let function: fn(f64) -> f64 = match self.text.get(start..self.at).unwrap_or_default() {
            "pi" => return Ok(Rounded(std::f64::consts::PI)),
            "e" => return Ok(Rounded(std::f64::consts::E)),
            "abs" => {
                return match self.parenthesis()? {
                    Whole(value) => value.checked_abs().map(Whole).ok_or_else(too_large),
                    Rounded(value) => Ok(Rounded(value.abs())),
                };
            }
            "ceil" => return self.parenthesis().map(|value| to_whole(value, f64::ceil)),
            "floor" => return self.parenthesis().map(|value| to_whole(value, f64::floor)),
            "round" => return self.parenthesis().map(|value| to_whole(value, f64::round)),
            "exp" => f64::exp,
            "ln" => f64::ln,
            "sqrt" => f64::sqrt,
            _ => return Err(fault),
        };
        finite(function(rounded(self.parenthesis()?)))
    }

    fn take_one_of(&mut self, operators: &str) -> Option<char> {
        let next = self.peek().filter(|next| operators.contains(*next))?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Option<char> {
        self.skip(char::is_whitespace);
        self.rest().chars().next()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.at = self.text.len() - self.rest().trim_start_matches(skipped).len();
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, what: &str) -> String {
        let before = self.text.get(..self.at).unwrap_or_default().chars().count();
        let near: String = self.rest().chars().take(12).collect();
        format!("cannot read the expression at character {} (`{near}`): {what}", before + 1)
    }
}

fn operate(
    operator: char,
    left: CalculatorNumber,
    right: CalculatorNumber,
) -> Result<CalculatorNumber, String> {
    let by_zero = match operator {
        '/' | '%' => rounded(right) == 0.0,
        '^' => rounded(left) == 0.0 && rounded(right) < 0.0,
        _ => false,
    };
    if by_zero {
        return Err("division by zero".to_owned());
    }
    if let (Whole(left), Whole(right)) = (left, right) {
        let whole = match operator {
            '+' => Some(left.checked_add(right)),
            '-' => Some(left.checked_sub(right)),
            '*' => Some(left.checked_mul(right)),
            '%' => Some(left.checked_rem(right)),
            '/' if left.checked_rem(right) == Some(0) => Some(left.checked_div(right)),
            // A negative exponent gives a fraction, one beyond 32 bits leaves 0, 1 and -1 only.
            '^' => u32::try_from(right).ok().map(|exponent| left.checked_pow(exponent)),
            _ => None,
        };
        if let Some(whole) = whole {
            return whole.map(Whole).ok_or_else(too_large);
        }
    }
    let (left, right) = (rounded(left), rounded(right));
    finite(match operator {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => left / right,
        '%' => left % right,
        _ => left.powf(right),
    })
}

#[expect(clippy::cast_precision_loss, reason = "the result is marked as rounded")]
fn rounded(number: CalculatorNumber) -> f64 {
    match number {
        Whole(whole) => whole as f64,
        Rounded(rounded) => rounded,
    }
}

/// A rounded number made whole; one too large for that has no fraction anyway and stays.
fn to_whole(number: CalculatorNumber, round: fn(f64) -> f64) -> CalculatorNumber {
    match number {
        Rounded(value) => Rounded(round(value)),
        Whole(whole) => Whole(whole),
    }
}

fn finite(value: f64) -> Result<CalculatorNumber, String> {
    if value.is_nan() {
        return Err("the expression has no real value".to_owned());
    }
    if value.is_infinite() {
        return Err("a number on the way is infinite or larger than 1.7e308".to_owned());
    }
    Ok(Rounded(value))
}

fn too_large() -> String {
    format!(
        "a whole number on the way is larger than {}: write one number with a decimal point, \
         as in `2.0`, for a rounded result",
        i128::MAX
    )
}
