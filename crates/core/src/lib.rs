//! The nouns of toolcrib and the one gate every tool call passes.
