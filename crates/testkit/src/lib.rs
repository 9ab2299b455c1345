//! For tests only: fake sources, recording tools, seeds.
