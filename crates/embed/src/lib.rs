//! Texts as vectors: a model in a folder that the user names, or an endpoint somewhere.
