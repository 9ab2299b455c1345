//! What each model API takes of JSON Schema, as tables.

use serde_json::Value;

/// A subset of JSON Schema.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a table of what an API takes, not states of a thing"
)]
pub(crate) struct SchemaSubset {
    /// The API holds the model to the schema: every object is closed, every value is typed, and
    /// what cannot be said so makes the tool fall back to the loose form.
    pub(super) strict: bool,
    /// Every field is required, and one that may be left out may be `null` instead.
    pub(super) optional_as_null: bool,
    pub(super) recursion: bool,
    /// Recursion goes through fields that may be left out.
    pub(super) open_circles: bool,
    pub(super) prefix_items: bool,
    /// Deepest nesting of objects and lists, and most fields.
    pub(super) deepest: usize,
    pub(super) most_fields: usize,
    pub(super) most_enum_values: usize,
    /// Of the names of all fields and the texts of all enums together.
    pub(super) most_characters: usize,
    /// Whether a keyword of no structure is taken with this value.
    pub(super) takes: fn(&str, &Value) -> bool,
    pub(super) enum_value: fn(&Value) -> bool,
}

/// Formats that strict schemas of both vendors know.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Structured outputs and strict functions of `OpenAI`: the limits of the vendor's guide.
pub(crate) static OPENAI_STRICT: SchemaSubset = SchemaSubset {
    strict: true,
    optional_as_null: true,
    recursion: true,
    open_circles: false,
    prefix_items: false,
    deepest: 10,
    most_fields: 5_000,
    most_enum_values: 1_000,
    most_characters: 120_000,
    takes: |keyword, value| match keyword {
        "title" | "const" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
        | "multipleOf" | "minLength" | "maxLength" | "minItems" | "maxItems" => true,
        "format" => is_format(value, &[]),
        "pattern" => is_plain_pattern(value),
        _ => false,
    },
    enum_value: |value| !value.is_object() && !value.is_array(),
};

/// Strict tools of Anthropic: no numeric and no length bounds, no recursion.
pub(crate) static ANTHROPIC_STRICT: SchemaSubset = SchemaSubset {
    strict: true,
    optional_as_null: false,
    recursion: false,
    open_circles: false,
    prefix_items: false,
    deepest: 32,
    most_fields: 1_000,
    most_enum_values: 1_000,
    most_characters: 120_000,
    takes: |keyword, value| match keyword {
        "title" | "const" | "default" => true,
        "minItems" => matches!(value.as_u64(), Some(0 | 1)),
        "format" => is_format(value, &["uri"]),
        "pattern" => is_plain_pattern(value),
        _ => false,
    },
    enum_value: |value| !value.is_object() && !value.is_array(),
};

/// `parametersJsonSchema` of Gemini: what the vendor's reference lists for JSON Schema.
///
/// It is taken rather than `parameters`, the `OpenAPI` subset, because that one has no recursion,
/// no tuples, no types in lists, and strings alone in `enum`; what `parameters` has more (bounds
/// of lengths, patterns, defaults) a description says well.
pub(crate) static GEMINI: SchemaSubset = SchemaSubset {
    strict: false,
    optional_as_null: false,
    recursion: true,
    open_circles: true,
    prefix_items: true,
    deepest: 60,
    most_fields: 20_000,
    most_enum_values: 20_000,
    most_characters: 1_000_000,
    takes: |keyword, _| {
        matches!(keyword, "title" | "format" | "minItems" | "maxItems" | "minimum" | "maximum")
    },
    enum_value: |value| value.is_string() || value.is_number(),
};

fn is_format(value: &Value, more: &[&str]) -> bool {
    value.as_str().is_some_and(|format| FORMATS.contains(&format) || more.contains(&format))
}

/// A pattern without look-around, back references and word borders.
fn is_plain_pattern(value: &Value) -> bool {
    const REFUSED: [&str; 7] = ["(?=", "(?!", "(?<", "\\b", "\\B", "\\p", "\\k"];
    let Some(pattern) = value.as_str() else {
        return false;
    };
    let refers_back = (1..=9).any(|group: u8| pattern.contains(&format!("\\{group}")));
    !refers_back && !REFUSED.iter().any(|refused| pattern.contains(refused))
}
