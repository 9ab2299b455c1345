//! Calls as Python writes them: `[look(n=1), write(text="x")]`.

use serde_json::{Map, Number, Value};

use super::cursor::Cursor;

/// Lists and dictionaries inside each other at the most.
const DEEPEST: usize = 32;

/// A call with its arguments.
pub(crate) type PythonCall = (String, Map<String, Value>);

/// Where something else stands, and what should.
pub(crate) type PythonFault = (usize, &'static str);

/// Whether a text begins as a list of calls does, and the name of the first.
pub(crate) fn first_name(text: &str) -> Option<&str> {
    let mut cursor = Cursor::new(text);
    cursor.eat("[");
    cursor.skip_space();
    let name = word(&mut cursor);
    (!name.is_empty() && cursor.starts_with("(")).then_some(name)
}

/// The calls of a text that is nothing else: a list, or one after the other.
pub(crate) fn read(text: &str) -> Result<Vec<PythonCall>, PythonFault> {
    let mut cursor = Cursor::new(text.trim_end());
    cursor.skip_space();
    let is_list = cursor.eat("[");
    let mut calls = Vec::new();
    loop {
        cursor.skip_space();
        if is_list && cursor.eat("]") {
            break;
        }
        calls.push(call(&mut cursor)?);
        cursor.skip_space();
        let is_separated = cursor.eat(",") || (!is_list && cursor.eat(";"));
        if !is_separated && !is_list {
            break;
        }
        if !is_separated && !cursor.starts_with("]") {
            return Err((cursor.at(), "`,` or `]`"));
        }
        if !is_list && cursor.is_done() {
            break;
        }
    }
    cursor.skip_space();
    if cursor.is_done() && !calls.is_empty() { Ok(calls) } else { Err((cursor.at(), "the end")) }
}

fn word<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    cursor.take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-'))
}

fn call(cursor: &mut Cursor<'_>) -> Result<PythonCall, PythonFault> {
    let name = word(cursor);
    // The tools that Llama has built in are called as `brave_search.call(query=..)`.
    let name = name.strip_suffix(".call").unwrap_or(name);
    if name.is_empty() || !cursor.eat("(") {
        return Err((cursor.at(), "NAME(PARAMETER=value)"));
    }
    let mut arguments = Map::new();
    loop {
        cursor.skip_space();
        if cursor.eat(")") {
            return Ok((name.to_owned(), arguments));
        }
        let at = cursor.at();
        let parameter = word(cursor);
        cursor.skip_space();
        if parameter.is_empty() || !cursor.eat("=") {
            return Err((at, "PARAMETER=value"));
        }
        let value = value(cursor, 0)?;
        arguments.insert(parameter.to_owned(), value);
        cursor.skip_space();
        if !cursor.eat(",") && !cursor.starts_with(")") {
            return Err((cursor.at(), "`,` or `)`"));
        }
    }
}

fn value(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, PythonFault> {
    if depth > DEEPEST {
        return Err((cursor.at(), "a flatter value"));
    }
    cursor.skip_space();
    let at = cursor.at();
    match cursor.rest().chars().next() {
        Some(quote @ ('"' | '\'')) => string(cursor, quote).map(Value::String),
        Some('[') => list(cursor, ("[", "]"), depth),
        Some('(') => list(cursor, ("(", ")"), depth),
        Some('{') => dictionary(cursor, depth),
        Some(letter) if letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.') => {
            let text = cursor.take_while(|letter| {
                letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.' | 'e' | 'E' | '_')
            });
            let text = text.trim_start_matches('+').replace('_', "");
            let number = serde_json::from_str::<Number>(&text).ok();
            let number = number.or_else(|| Number::from_f64(text.parse().ok()?));
            number.map(Value::Number).ok_or((at, "a number"))
        }
        _ => match word(cursor) {
            "True" | "true" => Ok(Value::Bool(true)),
            "False" | "false" => Ok(Value::Bool(false)),
            "None" | "null" => Ok(Value::Null),
            _ => Err((at, "a value")),
        },
    }
}

fn list(
    cursor: &mut Cursor<'_>,
    (open, close): (&str, &str),
    depth: usize,
) -> Result<Value, PythonFault> {
    cursor.eat(open);
    let mut items = Vec::new();
    loop {
        cursor.skip_space();
        if cursor.eat(close) {
            return Ok(Value::Array(items));
        }
        items.push(value(cursor, depth + 1)?);
        cursor.skip_space();
        if !cursor.eat(",") && !cursor.starts_with(close) {
            return Err((cursor.at(), "`,` or the end of a list"));
        }
    }
}

fn dictionary(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, PythonFault> {
    cursor.eat("{");
    let mut fields = Map::new();
    loop {
        cursor.skip_space();
        if cursor.eat("}") {
            return Ok(Value::Object(fields));
        }
        let at = cursor.at();
        let Value::String(key) = value(cursor, depth + 1)? else {
            return Err((at, "a key that is a string"));
        };
        cursor.skip_space();
        if !cursor.eat(":") {
            return Err((cursor.at(), "`:`"));
        }
        fields.insert(key, value(cursor, depth + 1)?);
        cursor.skip_space();
        if !cursor.eat(",") && !cursor.starts_with("}") {
            return Err((cursor.at(), "`,` or `}`"));
        }
    }
}

fn string(cursor: &mut Cursor<'_>, quote: char) -> Result<String, PythonFault> {
    let at = cursor.at();
    cursor.skip(1);
    let mut text = String::new();
    loop {
        text.push_str(cursor.take_while(|letter| letter != quote && letter != '\\'));
        if cursor.is_done() {
            return Err((at, "a string that ends"));
        }
        cursor.skip(1);
        // It was the quote, or a backslash with something behind it.
        if !cursor.is_behind('\\') {
            return Ok(text);
        }
        let Some(letter) = cursor.rest().chars().next() else {
            return Err((at, "a string that ends"));
        };
        cursor.skip(letter.len_utf8());
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '\n' => {}
            'u' | 'x' => {
                let digits = if letter == 'u' { 4 } else { 2 };
                let code = cursor
                    .rest()
                    .get(..digits)
                    .and_then(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?));
                let code = code.ok_or((cursor.at(), "a character by its number"))?;
                cursor.skip(digits);
                text.push(code);
            }
            '\\' | '\'' | '"' => text.push(letter),
            other => text.extend(['\\', other]),
        }
    }
}
