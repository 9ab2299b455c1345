//! The wire shapes of the model APIs, both ways.
